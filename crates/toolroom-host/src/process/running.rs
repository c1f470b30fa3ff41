//! A running program.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::end::ProgramEnd;
use super::error::ProcessError;
use super::helper_session::PageRequest;
use super::output::{CapturedOutput, OutputStream};

/// A started program. Dropping it makes the helper terminate the program and all its descendants, and kill them after the
/// grace period, at least one second. The drop does not wait.
#[derive(Debug)]
pub struct Running {
    pub(super) pid: u32,
    pub(super) output: Arc<OutputBuffers>,
    pub(super) stop: CancellationToken,
    pub(super) page_turns: mpsc::Sender<PageRequest>,
    pub(super) end: watch::Receiver<Option<Result<ProgramEnd, ProcessError>>>,
    pub(super) _guard: DropGuard,
}

/// The output so far.
#[derive(Debug)]
pub(super) struct OutputBuffers {
    /// Locked only to copy bytes.
    streams: Mutex<(CapturedOutput, CapturedOutput)>,
}

impl Running {
    /// Its PID.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its output so far.
    #[must_use]
    pub fn output(&self, stream: OutputStream) -> CapturedOutput {
        self.output.kept(stream)
    }

    /// Bytes printed so far on the current page.
    pub(crate) fn printed_bytes(&self, stream: OutputStream) -> u64 {
        self.output.total_bytes(stream)
    }

    /// Takes the output so far of both streams and begins a new page, for which [`super::Limits::output_bytes`] counts anew.
    /// `None` after its end, whose report has the rest of the output.
    pub(crate) async fn turn_page(&self) -> Option<(CapturedOutput, CapturedOutput)> {
        let (turn, page) = oneshot::channel();
        self.page_turns.send(turn).await.ok()?;
        page.await.ok()
    }

    /// Terminates it and all its descendants; kills those left after the grace period. Returns at once: [`Running::wait`]
    /// waits for the end.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<Result<ProgramEnd, ProcessError>> {
        self.end.borrow().clone()
    }

    /// Waits for its end. Can be cancelled and called concurrently.
    pub async fn wait(&self) -> Result<ProgramEnd, ProcessError> {
        let mut end = self.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        // Its task is gone, which happens only with the runtime.
        ended.ok().and_then(|ended| ended.clone()).unwrap_or(Err(ProcessError::HelperLost))
    }
}

impl OutputBuffers {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { streams: Mutex::new((CapturedOutput::new(max_bytes), CapturedOutput::new(max_bytes))) }
    }

    /// Takes the output so far; further output is separate.
    pub(super) fn turn_page(&self) -> (CapturedOutput, CapturedOutput) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = (streams.0.emptied(), streams.1.emptied());
        std::mem::replace(&mut streams, fresh)
    }

    pub(super) fn push(&self, stream: OutputStream, bytes: &[u8]) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            OutputStream::Stdout => streams.0.push(bytes),
            OutputStream::Stderr => streams.1.push(bytes),
        }
    }

    fn total_bytes(&self, stream: OutputStream) -> u64 {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            OutputStream::Stdout => streams.0.total_bytes(),
            OutputStream::Stderr => streams.1.total_bytes(),
        }
    }

    pub(super) fn kept(&self, stream: OutputStream) -> CapturedOutput {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            OutputStream::Stdout => streams.0.clone(),
            OutputStream::Stderr => streams.1.clone(),
        }
    }
}
