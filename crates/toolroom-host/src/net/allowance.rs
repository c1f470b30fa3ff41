//! What a connection may say before the head of a response is whole.
//!
//! Each head is bounded by whoever parses it. Interim responses (1xx) are not counted by anybody: a server that sends
//! nothing else would keep us reading, one head after the other, until the deadline.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stands for no bound.
const NO_BOUND: u64 = u64::MAX;

/// How many bytes may still come. A clone is the same allowance.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(super) fn without_bound() -> Self {
        Self(Arc::new(AtomicU64::new(NO_BOUND)))
    }

    /// From now on, until it is lifted.
    pub(super) fn bound(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// What comes now is a body, and has limits of its own.
    pub(super) fn lift(&self) {
        self.bound(NO_BOUND);
    }

    /// Takes what has come.
    pub(super) fn spend(&self, bytes: usize) -> io::Result<()> {
        let rest = |left: u64| if left == NO_BOUND { Some(left) } else { left.checked_sub(bytes as u64) };
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }
}
