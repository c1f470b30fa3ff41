//! Why a host is not configured.

use std::io;

/// An error of the ssh configuration. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SshError {
    /// It would mean something else to ssh.
    #[error("`{field}` {problem}")]
    Refused {
        /// Which part.
        field: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A file of the configuration is not what it should be.
    #[error("`{file}` cannot be used: it is no plain text file of less than {max} bytes")]
    NotAFile {
        /// Its name.
        file: &'static str,
        /// How long it may be.
        max: usize,
    },
    /// The system refused.
    #[error("the ssh configuration cannot be written")]
    Io(#[from] io::Error),
}
