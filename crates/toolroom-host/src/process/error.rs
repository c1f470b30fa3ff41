//! Errors of the supervisor.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// An error of the supervisor. Failures of a program itself are in its [`super::Status`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The program does not exist.
    #[error("there is no program `{program}`")]
    NotFound {
        /// As given in the order.
        program: String,
    },
    /// The program exists, but cannot be started.
    #[error("`{program}` cannot be started")]
    NotStarted {
        /// As given in the order.
        program: String,
        /// The system's message.
        source: Arc<io::Error>,
    },
    /// The working folder cannot be entered.
    #[error("the folder `{}` cannot be entered", folder.display())]
    Folder {
        /// As given in the order.
        folder: PathBuf,
        /// The system's message.
        source: Arc<io::Error>,
    },
    /// An argument contains a zero byte.
    #[error("`{word}` holds a zero byte, which no program can be given")]
    ZeroByte {
        /// Its beginning.
        word: String,
    },
    /// An argument, or all together, are too long.
    #[error("{what} is longer than {max} bytes: put it into a file or into the input")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// The maximum.
        max: usize,
    },
    /// It was cancelled before it was started.
    #[error("cancelled before it was started")]
    Cancelled,
    /// The helper could not be started.
    #[error("the supervisor `{}` cannot be started", helper.display())]
    Helper {
        /// Its path.
        helper: PathBuf,
        /// The system's message.
        source: Arc<io::Error>,
    },
    /// The helper could not prepare the start.
    #[error("the supervisor could not prepare the program's start")]
    Preparation {
        /// The system's message.
        source: Arc<io::Error>,
    },
    /// The confinement could not be applied.
    #[error("the program was not started, as it could not be confined: {reason}")]
    Confinement {
        /// The message of the system or of bubblewrap.
        reason: String,
    },
    /// The helper was lost or ended after a timeout, so the program's end is unknown.
    #[error(
        "the supervisor was lost while the program ran; what was left in its session has been ended, what left that \
         session before may still run"
    )]
    HelperLost,
}
