//! The person at the terminal: one key, one line, one line that nobody else should see, or a text they edit.
//!
//! Every reading call blocks, so callers in a runtime use a blocking thread. Prompts are the caller's; nothing is
//! written here but the end of a hidden line, and a text while an [`Editor`] is at work on it.
//!
//! Keys and hidden lines are read in a changed mode of the terminal, in which Ctrl-C is a key and not a signal. The
//! mode lasts exactly as long as the call, or a [`QuietMode`] that somebody holds over several, and comes back when that
//! ends, panics, or a second signal ends the process. After a `kill -9` it does not: then the shell sets it right, or the person types `reset`.

mod device;
mod editor;
#[cfg(test)]
mod editor_tests;
mod key;
mod layout;
mod quiet_mode;
mod sequence;
mod stroke;
#[cfg(test)]
mod tests;
mod text;

pub use self::device::{Size, Terminal};
pub use self::editor::{Editor, EditorOutcome};
pub use self::key::Key;
pub use self::quiet_mode::QuietMode;
pub(crate) use self::quiet_mode::restore_all;
