//! Ctrl-C cancels the current run and keeps the chat open.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use toolroom::call::CancellationToken;
use toolroom_host::interrupt::Interrupts;

/// Cancels the current run on a signal.
pub(in crate::cli) struct RunInterrupt {
    current: Arc<Mutex<CancellationToken>>,
    interrupts: Interrupts,
}

impl RunInterrupt {
    pub(in crate::cli) fn install() -> io::Result<Self> {
        let current = Arc::new(Mutex::new(CancellationToken::new()));
        let stopped = Arc::clone(&current);
        let interrupts = Interrupts::watch(move || {
            stopped.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        })?;
        Ok(Self { current, interrupts })
    }

    /// A token for the next run, cancelled by the next signal.
    pub(super) fn next_token(&self) -> CancellationToken {
        let fresh = CancellationToken::new();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // A termination signal between two runs counts for the next one.
        if self.interrupts.is_end_requested() {
            fresh.cancel();
        } else {
            self.interrupts.reset();
        }
        *current = fresh.clone();
        fresh
    }

    /// Whether the process received a termination signal.
    pub(super) fn is_end_requested(&self) -> bool {
        self.interrupts.is_end_requested()
    }

    /// Lets the next signal end the process: only printing is left.
    pub(in crate::cli) fn end_on_next_signal(&self) {
        self.interrupts.end_on_next();
    }
}
