//! Why something cannot be done with a program in the background.

use crate::process::ProcessError;

/// An error of [`super::Background`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackgroundError {
    /// It could not be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// No more may run at the same time.
    #[error("{most} programs run in the background already: end one of them first")]
    Full {
        /// How many may.
        most: usize,
    },
    /// There is none, or it is somebody else's.
    #[error("there is no program {id} in the background")]
    Unknown {
        /// What was asked for.
        id: u64,
    },
    /// Only what has ended can be removed.
    #[error("program {id} still runs: end it first")]
    Running {
        /// What was asked for.
        id: u64,
    },
}
