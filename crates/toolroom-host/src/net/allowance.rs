//! Limits the bytes of a connection before the head of a response is complete.
//!
//! The HTTP parser bounds each head, but not the number of interim responses (1xx): a server that sends nothing else
//! would keep the client reading until the deadline.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::frames::Frames;

/// No limit.
const NO_BOUND: u64 = u64::MAX;

/// The remaining bytes. Clones share one allowance.
#[derive(Debug, Clone)]
pub(super) struct Allowance {
    left: Arc<AtomicU64>,
    /// Whether the connection is multiplexed.
    is_shared: bool,
}

impl Allowance {
    /// For HTTP/1: all bytes count until the head is complete.
    pub(super) fn for_one() -> Self {
        Self { left: Arc::new(AtomicU64::new(NO_BOUND)), is_shared: false }
    }

    /// For HTTP/2: heads count, and bodies between them do not.
    pub(super) fn for_several() -> Self {
        Self { is_shared: true, ..Self::for_one() }
    }

    /// A request starts to wait for its head.
    pub(super) fn begin(&self, bytes: u64) {
        self.left.store(bytes, Ordering::Relaxed);
    }

    /// A head is complete. On HTTP/2 other responses may still wait for theirs, with a new allowance; on HTTP/1 the body
    /// follows, which has its own limits.
    pub(super) fn end(&self, bytes: u64) {
        self.begin(if self.is_shared { bytes } else { NO_BOUND });
    }

    /// Counts received bytes.
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

/// Charges received bytes to an allowance.
#[derive(Debug)]
pub(super) struct Meter {
    allowance: Allowance,
    /// Separates heads from bodies on HTTP/2.
    frames: Option<Frames>,
}

impl Meter {
    pub(super) fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Charges received bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.allowance.spend(match &mut self.frames {
            Some(frames) => frames.heads(bytes),
            None => bytes.len() as u64,
        })
    }
}
