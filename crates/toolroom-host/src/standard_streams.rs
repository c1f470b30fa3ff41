//! Our standard streams as a transport to another program.
//!
//! Pipes and sockets are asynchronous, so that everything available is read at once and answered together. Files and
//! terminals are read on a separate thread.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{mpsc, oneshot};

/// Read size.
const PIECE: usize = 64 * 1024;

/// Maximum bytes read before they are processed.
const MAX_PENDING: usize = 1024 * 1024;

/// Our standard input.
#[derive(Debug)]
pub struct StandardInput {
    input: InputSource,
    _before: Option<SavedFlags>,
}

#[derive(Debug)]
enum InputSource {
    Pipe(Receiver),
    Socket(UnixStream),
    Thread(mpsc::Receiver<io::Result<Vec<u8>>>),
}

impl StandardInput {
    /// Takes over standard input.
    ///
    /// # Errors
    /// If it is closed.
    pub fn open() -> io::Result<Self> {
        let descriptor = io::stdin().as_fd().try_clone_to_owned()?;
        let kind = kind(&descriptor)?;
        let before = SavedFlags::save(&descriptor, kind)?;
        let input = match kind {
            FileType::Fifo => InputSource::Pipe(Receiver::from_owned_fd(descriptor)?),
            FileType::Socket => InputSource::Socket(socket(descriptor)?),
            _ => InputSource::Thread(thread()?),
        };
        Ok(Self { input, _before: before })
    }

    /// Waits for input and appends everything available to `into`. Returns 0 at the end.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            let read = match &mut self.input {
                InputSource::Pipe(pipe) => {
                    pipe.readable().await?;
                    drain(into, |into| pipe.try_read_buf(into))
                }
                InputSource::Socket(socket) => {
                    socket.readable().await?;
                    drain(into, |into| socket.try_read_buf(into))
                }
                InputSource::Thread(pieces) => match pieces.recv().await.transpose()? {
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

/// Reads until nothing is available, or the maximum is reached.
fn drain(into: &mut Vec<u8>, mut read: impl FnMut(&mut Vec<u8>) -> io::Result<usize>) -> io::Result<usize> {
    let before = into.len();
    loop {
        into.reserve(PIECE);
        let room = into.capacity() - into.len();
        let count = read(into);
        let total = into.len() - before;
        match count {
            // A full buffer may mean more input.
            Ok(count) if count == room && total < MAX_PENDING => {}
            Ok(_) => return Ok(total),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && total > 0 => return Ok(total),
            Err(error) => return Err(error),
        }
    }
}

/// Reads chunks on a thread until the end.
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
pub struct StandardOutput {
    output: OutputSink,
    _before: Option<SavedFlags>,
}

#[derive(Debug)]
enum OutputSink {
    Pipe(Sender),
    Socket(UnixStream),
    Thread(mpsc::Sender<Piece>),
}

/// Bytes to write, and where to report the result.
type Piece = (Vec<u8>, oneshot::Sender<io::Result<()>>);

impl StandardOutput {
    /// Takes over standard output.
    ///
    /// # Errors
    /// If it is closed.
    pub fn open() -> io::Result<Self> {
        let descriptor = io::stdout().as_fd().try_clone_to_owned()?;
        let kind = kind(&descriptor)?;
        let before = SavedFlags::save(&descriptor, kind)?;
        let output = match kind {
            FileType::Fifo => OutputSink::Pipe(Sender::from_owned_fd(descriptor)?),
            FileType::Socket => OutputSink::Socket(socket(descriptor)?),
            _ => OutputSink::Thread(writing_thread()?),
        };
        Ok(Self { output, _before: before })
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// If the reader has closed its end.
    pub async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match &self.output {
                OutputSink::Pipe(pipe) => {
                    pipe.writable().await?;
                    pipe.try_write(bytes)
                }
                OutputSink::Socket(socket) => {
                    socket.writable().await?;
                    socket.try_write(bytes)
                }
                OutputSink::Thread(pieces) => {
                    let (told, written) = oneshot::channel();
                    pieces.send((bytes.to_vec(), told)).await.map_err(|_| gone())?;
                    return written.await.map_err(|_| gone())?;
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

/// The error if the writing thread has ended.
fn gone() -> io::Error {
    ErrorKind::BrokenPipe.into()
}

/// Writes chunks on a thread of its own: a stopped terminal blocks only that thread.
fn writing_thread() -> io::Result<mpsc::Sender<Piece>> {
    let (pieces, mut waiting) = mpsc::channel::<Piece>(1);
    std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        while let Some((bytes, told)) = waiting.blocking_recv() {
            let mut output = io::stdout().lock();
            let written = output.write_all(&bytes).and_then(|()| output.flush());
            // The requester may have been cancelled.
            drop(told.send(written));
        }
    })?;
    Ok(pieces)
}

/// The flags of a stream before the takeover. Other processes may share it, such as the parent shell, so they are
/// restored.
#[derive(Debug)]
struct SavedFlags {
    descriptor: OwnedFd,
    flags: OFlags,
}

impl SavedFlags {
    /// For asynchronous streams.
    fn save(descriptor: &OwnedFd, kind: FileType) -> io::Result<Option<Self>> {
        let flags = fcntl_getfl(descriptor)?;
        let is_changed =
            matches!(kind, FileType::Fifo | FileType::Socket) && !flags.contains(OFlags::NONBLOCK);
        is_changed.then(|| Ok(Self { descriptor: descriptor.try_clone()?, flags })).transpose()
    }
}

impl Drop for SavedFlags {
    fn drop(&mut self) {
        // Errors on drop cannot be reported.
        let _kept = fcntl_setfl(&self.descriptor, self.flags);
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
