//! What a server says beside its answers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use toolroom_host::process::CapturedOutput;

use crate::mcp::client::pending::Attendant;

/// What is held of what it prints.
const HELD_BYTES: usize = 64 * 1024;

/// Hears that the tools of a server have changed, and what its program prints, over all its starts.
pub(super) struct Ear {
    changed: AtomicBool,
    printed: Mutex<CapturedOutput>,
    /// How much of it was told.
    told: AtomicU64,
}

impl Default for Ear {
    fn default() -> Self {
        Self {
            changed: AtomicBool::default(),
            printed: Mutex::new(CapturedOutput::new(HELD_BYTES)),
            told: AtomicU64::default(),
        }
    }
}

impl Attendant for Ear {
    fn tools_changed(&self) {
        self.ring();
    }

    fn printed(&self, bytes: &[u8]) {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}

impl Ear {
    /// Somebody should look at the tools.
    pub(super) fn ring(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    /// Whether the tools have changed since somebody looked.
    pub(super) fn is_rung(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Somebody looks now.
    pub(super) fn hush(&self) {
        self.changed.store(false, Ordering::Relaxed);
    }

    /// Whether something was printed that was not told.
    pub(super) fn has_printed(&self) -> bool {
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.total_bytes() != self.told.load(Ordering::Relaxed)
    }

    /// The end of what was printed; nothing if nothing was.
    pub(super) fn printed_last(&self, chars: usize) -> Option<String> {
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        self.told.store(printed.total_bytes(), Ordering::Relaxed);
        (printed.total_bytes() > 0).then(|| printed.last_chars(chars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_prints_without_end_is_heard_to_its_last_word() {
        let ear = Ear::default();
        assert!(!ear.has_printed() && ear.printed_last(10).is_none());
        for _ in 0..100 {
            ear.printed(&[b'x'; 10_000]);
            assert!(ear.has_printed());
            drop(ear.printed_last(10));
            assert!(!ear.has_printed());
        }
        ear.printed(b" the end");
        assert!(ear.has_printed());
        assert_eq!(ear.printed_last(8).unwrap(), " the end");
    }
}
