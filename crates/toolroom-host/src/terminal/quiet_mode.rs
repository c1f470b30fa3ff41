//! The terminal mode without line editing and echo.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Terminals in a changed mode, for exits without destructors.
static CHANGED: Mutex<Vec<Arc<SavedMode>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct SavedMode {
    terminal: OwnedFd,
    before: Termios,
}

/// The terminal is in quiet mode until this is dropped.
#[derive(Debug)]
#[must_use = "the mode comes back when this is dropped"]
pub struct QuietMode(Arc<SavedMode>);

impl QuietMode {
    pub(super) fn begin(terminal: BorrowedFd<'_>) -> io::Result<Self> {
        // Without keyboard signals the process cannot be stopped or ended while the mode is changed.
        Self::without(terminal, LocalModes::ISIG)
    }

    /// Ctrl-C stays a signal: for callers that do not read keys.
    pub(super) fn begin_stoppable(terminal: BorrowedFd<'_>) -> io::Result<Self> {
        Self::without(terminal, LocalModes::empty())
    }

    fn without(terminal: BorrowedFd<'_>, more: LocalModes) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN | more);
        // Otherwise the two characters of a pasted CRLF would look like two line breaks.
        quiet.input_modes.remove(InputModes::ICRNL);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        let changed = Arc::new(SavedMode { terminal: terminal.try_clone_to_owned()?, before });
        // Registered first: restoring an unchanged mode is harmless.
        CHANGED.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&changed));
        let guard = Self(changed);
        tcsetattr(terminal, OptionalActions::Now, &quiet)?;
        Ok(guard)
    }
}

impl SavedMode {
    fn restore(&self) {
        // A closed terminal needs no restoring.
        tcsetattr(&self.terminal, OptionalActions::Now, &self.before).ok();
    }
}

impl Drop for QuietMode {
    fn drop(&mut self) {
        self.0.restore();
        let mut changed = CHANGED.lock().unwrap_or_else(PoisonError::into_inner);
        changed.retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

/// Restores the mode of every terminal. Only for the end of the process.
pub(crate) fn restore_all() {
    // The first change has the original mode; later ones only the one before them.
    for changed in CHANGED.lock().unwrap_or_else(PoisonError::into_inner).iter().rev() {
        changed.restore();
    }
}
