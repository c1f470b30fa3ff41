//! Errors of programs in the background.

use crate::process::ProcessError;

/// An error of [`super::Background`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackgroundError {
    /// It could not be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Too many programs run at the same time.
    #[error("{most} programs run in the background already: end one of them first")]
    Full {
        /// The maximum.
        most: usize,
    },
    /// It does not exist, or belongs to another owner.
    #[error("there is no program {id} in the background")]
    Unknown {
        /// The requested number.
        id: u64,
    },
    /// Only programs that have ended can be removed.
    #[error("program {id} still runs: end it first")]
    Running {
        /// The requested number.
        id: u64,
    },
}
