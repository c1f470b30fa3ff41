//! Interactive input: a key, a line, a hidden line, or an edited text.
//!
//! Every reading call blocks, so async callers use a blocking thread. Callers print prompts; only the line break after a
//! hidden line and the text of an [`Editor`] are written here.
//!
//! Keys and hidden lines are read in a changed terminal mode, in which Ctrl-C is a key and not a signal. The mode lasts as
//! long as the call, or as a [`QuietMode`] held over several calls, and is restored at its end, on a panic, and when a
//! second signal ends the process. After `kill -9` the shell restores it, or the user types `reset`.

mod device;
mod editor;
#[cfg(test)]
mod editor_tests;
mod key;
mod layout;
mod quiet_mode;
mod sequence;
#[cfg(test)]
mod tests;
mod text;

pub use self::device::{Size, Terminal};
pub use self::editor::{Editor, EditorOutcome};
pub use self::key::Key;
pub use self::quiet_mode::QuietMode;
pub(crate) use self::quiet_mode::restore_all;
