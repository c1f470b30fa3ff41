//! The hand on what is going on: Ctrl-C stops the run, and the conversation stays.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use toolroom::call::CancellationToken;
use toolroom_host::interrupt::Interrupts;

/// Hears signals and stops what is going on then.
pub(in crate::cli) struct Hand {
    current: Arc<Mutex<CancellationToken>>,
    interrupts: Interrupts,
}

impl Hand {
    pub(in crate::cli) fn take() -> io::Result<Self> {
        let current = Arc::new(Mutex::new(CancellationToken::new()));
        let stopped = Arc::clone(&current);
        let interrupts = Interrupts::watch(move || {
            stopped.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        })?;
        Ok(Self { current, interrupts })
    }

    /// Begins something that the next signal stops.
    pub(super) fn begin(&self) -> CancellationToken {
        let fresh = CancellationToken::new();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // A signal to end between two runs is not forgotten.
        if self.interrupts.is_end_requested() {
            fresh.cancel();
        } else {
            self.interrupts.reset();
        }
        *current = fresh.clone();
        fresh
    }

    /// Whether somebody else than the person at the keyboard wants the process to end.
    pub(super) fn is_told_to_end(&self) -> bool {
        self.interrupts.is_end_requested()
    }

    /// What is left is to print: one more signal ends the process.
    pub(in crate::cli) fn put_down(&self) {
        self.interrupts.end_on_next();
    }
}
