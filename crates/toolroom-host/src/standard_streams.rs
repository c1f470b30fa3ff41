//! What another program says to us and hears from us over our standard streams.
//!
//! Pipes and sockets are waited for without a thread, so that whatever has come is read at once and answered together.
//! Anything else, such as a file or a terminal, is read on a thread of its own.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{FileType, fstat};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc;

/// What is read at a time.
const PIECE: usize = 64 * 1024;

/// What is read before somebody looks at it.
const MOST: usize = 1024 * 1024;

/// Our standard input.
#[derive(Debug)]
pub struct StandardInput(Input);

#[derive(Debug)]
enum Input {
    Pipe(Receiver),
    Socket(UnixStream),
    Thread(mpsc::Receiver<io::Result<Vec<u8>>>),
}

impl StandardInput {
    /// Takes it over.
    ///
    /// # Errors
    /// When there is none.
    pub fn open() -> io::Result<Self> {
        let descriptor = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self(match kind(&descriptor)? {
            FileType::Fifo => Input::Pipe(Receiver::from_owned_fd(descriptor)?),
            FileType::Socket => Input::Socket(socket(descriptor)?),
            _ => Input::Thread(thread()?),
        }))
    }

    /// Waits until there is something, and puts all there is behind `into`. Nothing at the end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            let read = match &mut self.0 {
                Input::Pipe(pipe) => {
                    pipe.readable().await?;
                    drain(into, |room| pipe.try_read(room))
                }
                Input::Socket(socket) => {
                    socket.readable().await?;
                    drain(into, |room| socket.try_read(room))
                }
                Input::Thread(pieces) => match pieces.recv().await.transpose()? {
                    Some(piece) => {
                        into.extend_from_slice(&piece);
                        Ok(piece.len())
                    }
                    None => Ok(0),
                },
            };
            match read {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Reads until nothing is left, or more than enough was read.
fn drain(into: &mut Vec<u8>, read: impl Fn(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
    let before = into.len();
    loop {
        let filled = into.len();
        into.resize(filled + PIECE, 0);
        let count = match into.get_mut(filled..) {
            Some(room) => read(room),
            None => Ok(0),
        };
        into.truncate(filled + count.as_ref().copied().unwrap_or(0));
        let total = into.len() - before;
        match count {
            Ok(PIECE) if total < MOST => {}
            Ok(_) => return Ok(total),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && total > 0 => return Ok(total),
            Err(error) => return Err(error),
        }
    }
}

/// Reads pieces until the end.
fn thread() -> io::Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let (pieces, waiting) = mpsc::channel(1);
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = io::stdin().lock().read(&mut piece).map(|count| {
                piece.truncate(count);
                piece
            });
            let is_over = !read.as_ref().is_ok_and(|piece| !piece.is_empty());
            if pieces.blocking_send(read).is_err() || is_over {
                return;
            }
        }
    })?;
    Ok(waiting)
}

/// Our standard output.
#[derive(Debug)]
pub struct StandardOutput(Output);

#[derive(Debug)]
enum Output {
    Pipe(Sender),
    Socket(UnixStream),
    Other,
}

impl StandardOutput {
    /// Takes it over.
    ///
    /// # Errors
    /// When there is none.
    pub fn open() -> io::Result<Self> {
        let descriptor = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self(match kind(&descriptor)? {
            FileType::Fifo => Output::Pipe(Sender::from_owned_fd(descriptor)?),
            FileType::Socket => Output::Socket(socket(descriptor)?),
            _ => Output::Other,
        }))
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// When nobody reads it any more.
    pub async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match &self.0 {
                Output::Pipe(pipe) => {
                    pipe.writable().await?;
                    pipe.try_write(bytes)
                }
                Output::Socket(socket) => {
                    socket.writable().await?;
                    socket.try_write(bytes)
                }
                Output::Other => {
                    let mut output = io::stdout().lock();
                    output.write_all(bytes)?;
                    return output.flush();
                }
            };
            match written {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn kind(descriptor: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(descriptor)?.st_mode))
}

#[expect(clippy::disallowed_types, reason = "this is the door: our own standard streams")]
fn socket(descriptor: OwnedFd) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(descriptor);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
