//! Errors of keys and sealed texts.

use std::io;
use std::path::PathBuf;

use super::key_ring::{KEY_VARIABLE, KeyHome, NEW_KEY_VARIABLE};
use super::master_key::{KeyId, MasterKeyError};

/// Why something could not be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Sealed by a newer Toolroom, or not an envelope.
    #[error("sealed in format {version}, which this version of Toolroom does not know")]
    UnknownVersion {
        /// The first byte.
        version: u8,
    },
    /// Sealed with an unavailable key.
    #[error("sealed with the key `{needed}`; {home} holds `{held}`. Put the key `{needed}` there")]
    UnknownKey {
        /// The required key.
        needed: KeyId,
        /// The available key.
        held: KeyId,
        /// Where the key was searched.
        home: KeyHome,
    },
    /// Truncated, changed, or moved from another row.
    #[error("`{purpose}` is damaged, or was sealed for something else")]
    Damaged {
        /// The expected purpose.
        purpose: String,
    },
    /// The cipher has a limit of 256 GiB.
    #[error("{bytes} bytes are too many to seal")]
    TooLong {
        /// Number of bytes.
        bytes: usize,
    },
    /// The operating system provided no randomness.
    #[error("no randomness from the operating system")]
    Randomness {
        /// The system's message.
        source: io::Error,
    },
    /// A variable contains no valid key.
    #[error("`{variable}` holds no key; make one with `openssl rand -hex 32`")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// The problem of its value.
        source: MasterKeyError,
    },
    /// A key file cannot be used.
    #[error("`{}` cannot be used", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: KeyFileProblem,
    },
    /// The key cannot be changed now.
    #[error("the key cannot be changed")]
    Rotation(#[from] RotationProblem),
}

/// The problem of a key file.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileProblem {
    /// Other users may read it.
    #[error("others may read it (mode {mode:03o}); type: chmod 600 '{}'", path.display())]
    Shared {
        /// Its permissions.
        mode: u32,
        /// The file.
        path: PathBuf,
    },
    /// It is a link or not a regular file.
    #[error("it is a symbolic link or not a regular file; put the key itself there")]
    NotRegular,
    /// It is too long.
    #[error("it is longer than any key; put the right one back from a backup")]
    TooLong,
    /// It contains no key.
    #[error("it holds no key; put the right one back from a backup")]
    Content(#[source] MasterKeyError),
    /// The key is missing and only its successor exists. A new key could not open stored data.
    #[error("it is missing, though `{}` is there; put it back from a backup", new.display())]
    Missing {
        /// The successor.
        new: PathBuf,
    },
    /// A system error.
    #[error("the system refused it")]
    Io(#[source] io::Error),
}

/// Why the key cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RotationProblem {
    /// Another process is changing it.
    #[error("another process is changing it right now; wait until it is done")]
    Underway,
    /// No rotation is in progress.
    #[error("no change was begun")]
    NotBegun,
    /// With the key in the environment, the new one must be there too.
    #[error("set `{NEW_KEY_VARIABLE}` to a key that is not that of `{KEY_VARIABLE}`")]
    NoNewKey,
    /// The key comes from the environment, so a file would be ignored.
    #[error("it comes from `{KEY_VARIABLE}`; change it there")]
    InEnvironment,
    /// The ring already has two keys.
    #[error("an earlier change is unfinished; finish that one first")]
    Unfinished,
    /// Another process changed the key after this ring was loaded.
    #[error("another process changed it; load it again")]
    Stale,
}

impl SealError {
    pub(super) fn key_file(path: &std::path::Path, source: KeyFileProblem) -> Self {
        Self::KeyFile { path: path.to_owned(), source }
    }
}
