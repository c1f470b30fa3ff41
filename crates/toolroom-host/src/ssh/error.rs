//! Errors of the ssh configuration.

use std::io;

/// An error of the ssh configuration. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SshError {
    /// A value would have another meaning for ssh.
    #[error("`{field}` {problem}")]
    Refused {
        /// The field.
        field: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// A file of the configuration is invalid.
    #[error("`{file}` cannot be used: it is no plain text file of less than {max} bytes")]
    NotAFile {
        /// Its name.
        file: &'static str,
        /// The maximum size.
        max: usize,
    },
    /// A system error.
    #[error("the ssh configuration cannot be written")]
    Io(#[from] io::Error),
}
