//! Why a program did not run, or nothing is known of its end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// An error of the supervisor. What a program itself does wrong is no error here, but its [`super::Status`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// There is no such program.
    #[error("there is no program `{program}`")]
    NotFound {
        /// As it was ordered.
        program: String,
    },
    /// The program is there, and may not or cannot be started.
    #[error("`{program}` cannot be started")]
    NotStarted {
        /// As it was ordered.
        program: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The folder it should start in cannot be entered.
    #[error("the folder `{}` cannot be entered", folder.display())]
    Folder {
        /// As it was ordered.
        folder: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// No word of a command line can hold it.
    #[error("`{word}` holds a zero byte, which no program can be given")]
    ZeroByte {
        /// Its beginning.
        word: String,
    },
    /// The system takes no more.
    #[error("{what} is longer than {max} bytes: put it into a file or into the input")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// What is possible.
        max: usize,
    },
    /// It was cancelled before it was started.
    #[error("cancelled before it was started")]
    Cancelled,
    /// Our own helper could not be started.
    #[error("the supervisor `{}` cannot be started", helper.display())]
    Helper {
        /// Where it should be.
        helper: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The helper could not prepare the start.
    #[error("the supervisor could not prepare the program's start")]
    Preparation {
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The program could not be confined as it was ordered.
    #[error("the program was not started, as it could not be confined: {reason}")]
    Confinement {
        /// What the system or bubblewrap said.
        reason: String,
    },
    /// The helper went away, or did not answer and was ended, so the program's end is not known.
    #[error(
        "the supervisor was lost while the program ran; what was left in its session has been ended, what left that \
         session before may still run"
    )]
    HelperLost,
}
