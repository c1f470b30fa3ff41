//! Errors of the desktop and the clipboard.

use crate::process::ProcessError;

/// An error of the desktop or the clipboard.
#[derive(Debug, thiserror::Error)]
pub enum DesktopError {
    /// There is no graphical session.
    #[error(
        "there is no desktop here: neither `DISPLAY` nor `WAYLAND_DISPLAY` is set; start Toolroom inside the desktop \
         session"
    )]
    NoDisplay,
    /// There is no notification service.
    #[error(
        "there is no notification service: neither `DBUS_SESSION_BUS_ADDRESS` nor `XDG_RUNTIME_DIR` is set; start Toolroom \
         inside the desktop session"
    )]
    NoBus,
    /// A desktop program is missing.
    #[error("`{program}` is not on the `PATH`; install `{package}`")]
    NoProgram {
        /// The program.
        program: &'static str,
        /// The package that contains it.
        package: &'static str,
    },
    /// A desktop program failed.
    #[error("`{program}` ended with status {status}{}; {next}", quoted_output(.said))]
    Failed {
        /// The program.
        program: &'static str,
        /// Its exit status.
        status: i32,
        /// Its output, shortened.
        said: String,
        /// What to do.
        next: &'static str,
    },
    /// The owner of the clipboard did not answer.
    #[error(
        "the clipboard did not answer within {seconds} seconds; the program that holds it may hang: copy something in \
         another one, or look whether the session that `DISPLAY` or `WAYLAND_DISPLAY` names is still there"
    )]
    Silent {
        /// The timeout.
        seconds: u64,
    },
    /// The clipboard is empty, or holds no text.
    #[error("the clipboard holds no text")]
    NoText,
    /// The clipboard content is too long.
    #[error("the clipboard holds a text of more than {max} bytes")]
    TooLong {
        /// The maximum.
        max: usize,
    },
    /// The text is too long for the clipboard.
    #[error("a text of {bytes} bytes is too long for the clipboard; up to {max} are put there")]
    TooMuch {
        /// Its length.
        bytes: usize,
        /// The maximum.
        max: usize,
    },
    /// The clipboard is not available.
    #[error(
        "the clipboard cannot be reached{}; look whether the session that `DISPLAY` or `WAYLAND_DISPLAY` names is still \
         there, and start Toolroom inside it",
        quoted_output(.said)
    )]
    Clipboard {
        /// The cause, shortened.
        said: String,
    },
    /// A program could not be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

fn quoted_output(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!(": {output}") }
}
