//! Our side of a running program: captures output, forwards requests, and cleans up if the helper fails.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::descendants;
use super::end::{Cause, Limit, ProgramEnd};
use super::error::ProcessError;
use super::order::Order;
use super::output::{CapturedOutput, OutputStream};
use super::running::OutputBuffers;
use super::stdin_socket;
use super::wire::{self, HelperMessage, KILL, STOP, Task};
use crate::work_folder::sweep;

/// Read size.
const CHUNK: usize = 32 * 1024;

/// How long a helper may take to start a program.
const START: Duration = Duration::from_secs(10);

/// Extra time for a helper beyond its own timeouts before it counts as lost.
const MARGIN: Duration = Duration::from_secs(8);

/// How long pipes are drained after all processes have ended; one may have been passed to an unrelated process.
const DRAIN: Duration = Duration::from_secs(1);

/// Our end of the control socket.
pub(super) type ControlSocket = tokio::net::UnixStream;

/// Receives all output.
pub(super) type Observer = Box<dyn FnMut(OutputStream, &[u8]) + Send>;

/// One program from start to end.
pub(super) struct HelperSession {
    pub(super) output: Arc<OutputBuffers>,
    pub(super) observer: Observer,
    /// A stop was requested.
    pub(super) stop: CancellationToken,
    /// The handle was dropped.
    pub(super) gone: CancellationToken,
    pub(super) max_output: Option<u64>,
    pub(super) time_limit: HelperTimeouts,
    /// Requests for the output so far, which start a new page.
    pub(super) page_turns: mpsc::Receiver<PageRequest>,
    /// Bytes of both streams on the current page.
    pub(super) printed: u64,
}

/// Receives the finished page of both streams.
pub(super) type PageRequest = oneshot::Sender<(CapturedOutput, CapturedOutput)>;

/// Timeouts of a helper.
#[derive(Debug, Clone, Copy)]
pub(super) struct HelperTimeouts {
    pub(super) wall: Option<Duration>,
    pub(super) grace: Duration,
}

/// The order, serialized.
pub(super) struct StartRequest {
    order: Vec<u8>,
    input: Vec<u8>,
    line: Option<OwnedFd>,
}

impl StartRequest {
    pub(super) fn new(order: &Order, line: Option<OwnedFd>) -> io::Result<Self> {
        let task = Task::from_order(order, line.is_some());
        Ok(Self { order: wire::frame(&task)?, input: order.input.clone(), line })
    }

    /// Sends the order and waits for the start of the program.
    async fn exchange(&self, control_socket: &mut ControlSocket) -> io::Result<HelperMessage> {
        control_socket.write_all(&self.order).await?;
        // A helper that refuses stops reading: its message counts, not the write error.
        let written = match &self.line {
            Some(end) => stdin_socket::hand_over(control_socket, end).await,
            None => control_socket.write_all(&self.input).await,
        };
        let word = wire::receive(control_socket).await;
        if word.is_err() { written.and(word) } else { word }
    }
}

impl HelperSession {
    /// Supervises one helper. The first message is passed on; returns at its end.
    pub(super) async fn keep(
        mut self,
        mut child: Child,
        mut control_socket: ControlSocket,
        greeting: StartRequest,
        started: oneshot::Sender<io::Result<HelperMessage>>,
    ) -> Result<ProgramEnd, ProcessError> {
        // The PID is valid until the helper is reaped, which happens only here.
        let helper = child.id();
        let word = tokio::select! {
            word = greeting.exchange(&mut control_socket) => word,
            () = self.gone.cancelled() => Err(io::ErrorKind::Interrupted.into()),
            () = tokio::time::sleep(START) => Err(io::ErrorKind::TimedOut.into()),
        };
        drop(greeting);
        let ended = if let Ok(HelperMessage::Started(program)) = word {
            // The caller may be gone; that is noticed next.
            drop(started.send(word));
            let ended = self.listen(&mut child, control_socket).await;
            if ended.is_none() {
                clear_away(helper, Some(program)).await;
            }
            ended
        } else {
            drop(control_socket);
            let has_waited = matches!(&word, Err(error) if error.kind() == io::ErrorKind::TimedOut);
            // It exits by itself once the socket is closed, unless it is blocked.
            if has_waited || tokio::time::timeout(MARGIN, child.wait()).await.is_err() {
                clear_away(helper, None).await;
            }
            drop(started.send(word));
            None
        };
        let left = tokio::time::timeout(MARGIN, child.wait()).await;
        if left.is_err() {
            drop(child.kill().await);
        }
        if !matches!(left, Ok(Ok(status)) if status.success()) {
            // The helper may have left temporary files. The next start removes what cannot be removed now.
            drop(tokio::task::spawn_blocking(sweep).await);
        }
        ended.ok_or(ProcessError::HelperLost)
    }

    /// Listens until the helper has reported. `None` if it is lost.
    async fn listen(&mut self, child: &mut Child, control_socket: ControlSocket) -> Option<ProgramEnd> {
        let mut stdout = Pipe::new(OutputStream::Stdout, child.stdout.take());
        let mut stderr = Pipe::new(OutputStream::Stderr, child.stderr.take());
        let (mut words, control_socket) = control_socket.into_split();
        let mut control_socket = Some(control_socket);
        let mut word = pin!(wire::receive::<HelperMessage>(&mut words));
        let mut until =
            self.time_limit.wall.map(|wall| Instant::now() + wall + self.time_limit.grace + MARGIN);
        let (mut is_stopping, mut is_flooded) = (false, false);
        let word = loop {
            tokio::select! {
                biased;
                word = &mut word => break word.ok()?,
                // The helper notices the half-closed socket, ends everything, and can still answer. Output is read until then, so
                // that processes that clean up do not block on a full pipe.
                () = self.gone.cancelled(), if control_socket.is_some() => {
                    control_socket = None;
                    until = Some(Instant::now() + self.time_limit.grace + MARGIN);
                }
                () = self.stop.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    until = Some(Instant::now() + self.time_limit.grace + MARGIN);
                    say(&mut control_socket, STOP).await?;
                }
                () = sleep_until(until) => return None,
                Some(turn) = self.page_turns.recv() => {
                    self.take_what_is_there(&mut stdout).await;
                    self.take_what_is_there(&mut stderr).await;
                    self.printed = 0;
                    // The requester may be gone.
                    drop(turn.send(self.output.turn_page()));
                }
                count = stdout.read() => self.take(&mut stdout, count),
                count = stderr.read() => self.take(&mut stderr, count),
            }
            if self.max_output.is_some_and(|max| self.printed > max) && !is_flooded {
                is_flooded = true;
                until = Some(Instant::now() + MARGIN);
                say(&mut control_socket, KILL).await?;
            }
        };
        let HelperMessage::Ended { status, cause, usage, survivors } = word else { return None };
        for mut pipe in [stdout, stderr] {
            while !pipe.is_at_end()
                && let Ok(count) = tokio::time::timeout(DRAIN, pipe.read()).await
            {
                self.take(&mut pipe, count);
            }
        }
        let is_flood = is_flooded && !is_stopping && cause == Cause::Stopped;
        Some(ProgramEnd {
            status,
            cause: if is_flood { Cause::Limit(Limit::Output) } else { cause },
            stdout: self.output.kept(OutputStream::Stdout),
            stderr: self.output.kept(OutputStream::Stderr),
            usage,
            survivors,
        })
    }

    /// Reads what the pipe holds now, without waiting for more output.
    async fn take_what_is_there(&mut self, pipe: &mut Pipe) {
        let mut left = pipe.waiting_bytes();
        while left > 0 && !pipe.is_at_end() {
            let count = pipe.read().await;
            left = left.saturating_sub(count.as_ref().map_or(0, |count| *count as u64));
            self.take(pipe, count);
        }
    }

    fn take(&mut self, pipe: &mut Pipe, count: io::Result<usize>) {
        let stream = pipe.stream;
        let bytes = pipe.took(count);
        if !bytes.is_empty() {
            (self.observer)(stream, bytes);
            self.output.push(stream, bytes);
            self.printed += bytes.len() as u64;
        }
    }
}

/// Sends one command to the helper. `None` if it no longer listens.
async fn say(control_socket: &mut Option<OwnedWriteHalf>, word: u8) -> Option<()> {
    match control_socket {
        Some(control_socket) => control_socket.write_all(&[word]).await.ok(),
        None => Some(()),
    }
}

/// Ends the processes a helper left, and the helper.
async fn clear_away(helper: Option<u32>, program: Option<u32>) {
    let work = move || {
        helper.into_iter().for_each(descendants::kill_from_outside);
        program.into_iter().for_each(descendants::kill_session);
    };
    // It walks through /proc, which may be slow on an overloaded machine.
    drop(tokio::task::spawn_blocking(work).await);
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// The source of a stream.
trait PipeSource: AsyncRead + AsFd + Send + Unpin {}

impl<T: AsyncRead + AsFd + Send + Unpin> PipeSource for T {}

/// One of the two streams.
struct Pipe {
    stream: OutputStream,
    source: Option<Box<dyn PipeSource>>,
    buffer: Vec<u8>,
}

impl Pipe {
    fn new(stream: OutputStream, source: Option<impl PipeSource + 'static>) -> Self {
        let source = source.map(|source| -> Box<dyn PipeSource> { Box::new(source) });
        Self { stream, source, buffer: vec![0; CHUNK] }
    }

    /// Never returns once the stream has ended.
    async fn read(&mut self) -> io::Result<usize> {
        match &mut self.source {
            Some(source) => source.read(&mut self.buffer).await,
            None => std::future::pending().await,
        }
    }

    fn took(&mut self, count: io::Result<usize>) -> &[u8] {
        let count = count.unwrap_or(0);
        if count == 0 {
            self.source = None;
        }
        self.buffer.get(..count).unwrap_or_default()
    }

    /// Bytes that were printed and not read.
    fn waiting_bytes(&self) -> u64 {
        let source = self.source.as_deref();
        source.and_then(|source| rustix::io::ioctl_fionread(source.as_fd()).ok()).unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.source.is_none()
    }
}
