//! Errors of shells.

use crate::process::ProcessError;

/// An error of the shells. The result of a command is its [`super::CommandEnd`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// A shell could not be started, or its end is unknown.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// All shells are busy.
    #[error("all {most} shells are busy: wait for one of them, or run this in a new shell")]
    Full {
        /// The maximum.
        most: usize,
    },
    /// The conversation's shell was busy for the whole timeout of this command.
    #[error("another command of this conversation is still running: wait for it, or run this in a new shell")]
    Busy,
    /// The conversation was closed.
    #[error("the conversation was closed, and its shell with it")]
    Closed,
    /// The command contains a zero byte.
    #[error("the command holds a zero byte, which no shell can read")]
    ZeroByte,
    /// The command is too long.
    #[error("the command is longer than {max} bytes: put it into a file and run that")]
    TooLong {
        /// The maximum.
        max: usize,
    },
    /// The folder is missing or not accessible.
    #[error("the shell cannot enter the folder `{folder}`")]
    Folder {
        /// As requested.
        folder: String,
    },
}
