//! The mode of a terminal in which keys come one by one and are not shown.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Terminals in a changed mode, for an end of the process that runs no destructors.
static CHANGED: Mutex<Vec<Arc<SavedMode>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct SavedMode {
    terminal: OwnedFd,
    before: Termios,
}

/// A terminal is quiet as long as this lives.
#[derive(Debug)]
#[must_use = "the mode comes back when this is dropped"]
pub struct QuietMode(Arc<SavedMode>);

impl QuietMode {
    pub(super) fn begin(terminal: BorrowedFd<'_>) -> io::Result<Self> {
        // Without signals from the keyboard nothing can stop or end the process while the mode is changed.
        Self::without(terminal, LocalModes::ISIG)
    }

    /// The same, and Ctrl-C stays a signal: for whoever works and does not look at keys.
    pub(super) fn begin_stoppable(terminal: BorrowedFd<'_>) -> io::Result<Self> {
        Self::without(terminal, LocalModes::empty())
    }

    fn without(terminal: BorrowedFd<'_>, more: LocalModes) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN | more);
        // Otherwise nobody could tell the two characters of a pasted line end from two line ends.
        quiet.input_modes.remove(InputModes::ICRNL);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        let changed = Arc::new(SavedMode { terminal: terminal.try_clone_to_owned()?, before });
        // Noted first: a mode that is restored without having been changed does no harm.
        CHANGED.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&changed));
        let guard = Self(changed);
        tcsetattr(terminal, OptionalActions::Now, &quiet)?;
        Ok(guard)
    }
}

impl SavedMode {
    fn restore(&self) {
        // Where the terminal is gone there is nothing to restore.
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

/// Gives every terminal its own mode back. Only for the end of the process.
pub(crate) fn restore_all() {
    // The first change of a terminal knows its own mode; later ones only what was there before them.
    for changed in CHANGED.lock().unwrap_or_else(PoisonError::into_inner).iter().rev() {
        changed.restore();
    }
}
