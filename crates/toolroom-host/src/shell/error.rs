//! Why a command was not given to a shell.

use crate::process::ProcessError;

/// An error of the shells. What a command does wrong is no error here, but its [`super::CommandEnd`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// No shell could be started, or nothing is known of its end.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Every shell there may be is at work.
    #[error("all {most} shells are at work: wait for one of them, or run this without one that lasts")]
    Full {
        /// How many there may be.
        most: usize,
    },
    /// The conversation's shell was at work for all the time this command had.
    #[error(
        "another command of this conversation still runs: wait for it, or run this without the lasting shell"
    )]
    Busy,
    /// The conversation was closed meanwhile.
    #[error("the conversation was closed, and its shell with it")]
    Closed,
    /// No shell can read it.
    #[error("the command holds a zero byte, which no shell can read")]
    ZeroByte,
    /// It is too long to be typed.
    #[error("the command is longer than {max} bytes: put it into a file and run that")]
    TooLong {
        /// What is possible.
        max: usize,
    },
    /// The folder is gone, or may not be entered.
    #[error("the shell cannot enter the folder `{folder}`")]
    Folder {
        /// As it was given.
        folder: String,
    },
}
