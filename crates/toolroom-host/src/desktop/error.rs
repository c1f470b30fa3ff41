//! Why nothing was shown, or the clipboard was not reached.

use crate::process::ProcessError;

/// Why nothing was shown, or the clipboard was not reached.
#[derive(Debug, thiserror::Error)]
pub enum DesktopError {
    /// There is no graphical session.
    #[error(
        "there is no desktop here: neither `DISPLAY` nor `WAYLAND_DISPLAY` is set; start Toolroom inside the desktop \
         session"
    )]
    NoDisplay,
    /// Nobody could pass a notification on.
    #[error(
        "there is nobody to notify: neither `DBUS_SESSION_BUS_ADDRESS` nor `XDG_RUNTIME_DIR` is set; start Toolroom \
         inside the desktop session"
    )]
    NoBus,
    /// A program of the desktop is missing.
    #[error("`{program}` is not on the `PATH`; install `{package}`")]
    NoProgram {
        /// Which one.
        program: &'static str,
        /// What it comes with.
        package: &'static str,
    },
    /// A program of the desktop could not do it.
    #[error("`{program}` ended with status {status}{}; {next}", told(.said))]
    Failed {
        /// Which one.
        program: &'static str,
        /// How it ended.
        status: i32,
        /// What it printed, in short.
        said: String,
        /// What to do about it.
        next: &'static str,
    },
    /// Whoever has the clipboard did not answer.
    #[error(
        "the clipboard did not answer within {seconds} seconds; the program that holds it may hang: copy something in \
         another one, or look whether the session that `DISPLAY` or `WAYLAND_DISPLAY` names is still there"
    )]
    Silent {
        /// How long it had.
        seconds: u64,
    },
    /// The clipboard is empty, or holds something else.
    #[error("the clipboard holds no text")]
    NoText,
    /// The clipboard holds more than is taken.
    #[error("the clipboard holds a text of more than {max} bytes")]
    TooLong {
        /// What is taken.
        max: usize,
    },
    /// More than is put on the clipboard.
    #[error("a text of {bytes} bytes is too long for the clipboard; up to {max} are put there")]
    TooMuch {
        /// How long it is.
        bytes: usize,
        /// What is taken.
        max: usize,
    },
    /// The clipboard cannot be used.
    #[error(
        "the clipboard cannot be reached{}; look whether the session that `DISPLAY` or `WAYLAND_DISPLAY` names is still \
         there, and start Toolroom inside it",
        told(.said)
    )]
    Clipboard {
        /// Why, in short.
        said: String,
    },
    /// A program could not be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

fn told(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
