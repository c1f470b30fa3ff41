//! What a connection may say before the head of a response is whole.
//!
//! Each head is bounded by whoever parses it. Interim responses (1xx) are not counted by anybody: a server that sends
//! nothing else would keep us reading, one head after the other, until the deadline.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::frames::Frames;

/// Stands for no bound.
const NO_BOUND: u64 = u64::MAX;

/// How many bytes may still come. A clone is the same allowance.
#[derive(Debug, Clone)]
pub(super) struct Allowance {
    left: Arc<AtomicU64>,
    /// Whether several responses come at once.
    is_shared: bool,
}

impl Allowance {
    /// Of a connection that waits for one response at a time: all counts until its head is whole.
    pub(super) fn for_one() -> Self {
        Self { left: Arc::new(AtomicU64::new(NO_BOUND)), is_shared: false }
    }

    /// Of a connection with several responses at once: heads count, and bodies among them do not.
    pub(super) fn for_several() -> Self {
        Self { is_shared: true, ..Self::for_one() }
    }

    /// A request begins to wait for its head.
    pub(super) fn begin(&self, bytes: u64) {
        self.left.store(bytes, Ordering::Relaxed);
    }

    /// A head is whole. Other responses of the connection may still wait for theirs, and begin anew; otherwise what
    /// comes now is a body, and has limits of its own.
    pub(super) fn end(&self, bytes: u64) {
        self.begin(if self.is_shared { bytes } else { NO_BOUND });
    }

    /// What counts what has come.
    pub(super) fn meter(&self) -> Meter {
        Meter { allowance: self.clone(), frames: self.is_shared.then(Frames::default) }
    }

    fn spend(&self, bytes: u64) -> io::Result<()> {
        let rest = |left: u64| if left == NO_BOUND { Some(left) } else { left.checked_sub(bytes) };
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }
}

/// Takes from an allowance what a connection says.
#[derive(Debug)]
pub(super) struct Meter {
    allowance: Allowance,
    /// Where heads are told from bodies.
    frames: Option<Frames>,
}

impl Meter {
    pub(super) fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Takes what has come.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.allowance.spend(match &mut self.frames {
            Some(frames) => frames.heads(bytes),
            None => bytes.len() as u64,
        })
    }
}
