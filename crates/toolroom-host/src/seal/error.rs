//! What can go wrong with keys and sealed texts, told apart.

use std::io;
use std::path::PathBuf;

use super::key_ring::{KEY_VARIABLE, KeyHome, NEW_KEY_VARIABLE};
use super::master_key::{KeyId, MasterKeyError};

/// Why something could not be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// It was sealed by a newer Toolroom, or is nothing sealed.
    #[error("sealed in format {version}, which this version of Toolroom does not know")]
    UnknownVersion {
        /// The first byte.
        version: u8,
    },
    /// It was sealed with a key that is not here.
    #[error("sealed with the key `{needed}`; {home} holds `{held}`. Put the key `{needed}` there")]
    UnknownKey {
        /// The key that would open it.
        needed: KeyId,
        /// The key that is there.
        held: KeyId,
        /// Where the key was looked for.
        home: KeyHome,
    },
    /// It was cut, changed, or moved here from somewhere else.
    #[error("`{purpose}` is damaged, or was sealed for something else")]
    Damaged {
        /// What it should have been sealed for.
        purpose: String,
    },
    /// The cipher has a limit of 256 GiB.
    #[error("{bytes} bytes are too many to seal")]
    TooLong {
        /// How many there were.
        bytes: usize,
    },
    /// The operating system gave no randomness.
    #[error("no randomness from the operating system")]
    Randomness {
        /// What the system said.
        source: io::Error,
    },
    /// A variable holds no key.
    #[error("`{variable}` holds no key; make one with `openssl rand -hex 32`")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// What is wrong with its value.
        source: MasterKeyError,
    },
    /// A key file cannot be used.
    #[error("`{}` cannot be used", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: KeyFileProblem,
    },
    /// The key cannot be changed now.
    #[error("the key cannot be changed")]
    Rotation(#[from] RotationProblem),
}

/// What is wrong with a key file.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileProblem {
    /// Others may read it.
    #[error("others may read it (mode {mode:03o}); type: chmod 600 '{}'", path.display())]
    Shared {
        /// Its permissions.
        mode: u32,
        /// The file.
        path: PathBuf,
    },
    /// A key is read from a file of its own, never through a link.
    #[error("it is a symbolic link or not a regular file; put the key itself there")]
    NotRegular,
    /// No key is so long.
    #[error("it is longer than any key; put the right one back from a backup")]
    TooLong,
    /// It holds something else.
    #[error("it holds no key; put the right one back from a backup")]
    Content(#[source] MasterKeyError),
    /// The key itself is gone and only its successor is there. A new one would not open what is stored.
    #[error("it is missing, though `{}` is there; put it back from a backup", new.display())]
    Missing {
        /// The successor.
        new: PathBuf,
    },
    /// The system refused.
    #[error("the system refused it")]
    Io(#[source] io::Error),
}

/// Why the key cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RotationProblem {
    /// Another process is at it.
    #[error("another process is changing it right now; wait until it is done")]
    Underway,
    /// There is nothing to finish.
    #[error("no change was begun")]
    NotBegun,
    /// With the key in the environment, the new one is given there too.
    #[error("set `{NEW_KEY_VARIABLE}` to a key that is not that of `{KEY_VARIABLE}`")]
    NoNewKey,
    /// The key comes from the environment, so a file would not count.
    #[error("it comes from `{KEY_VARIABLE}`; change it there")]
    InEnvironment,
    /// There is room for two keys, and both places are taken.
    #[error("an earlier change is unfinished; finish that one first")]
    Unfinished,
    /// Another process changed the key since this ring was loaded.
    #[error("another process changed it; load it again")]
    Stale,
}

impl SealError {
    pub(super) fn key_file(path: &std::path::Path, source: KeyFileProblem) -> Self {
        Self::KeyFile { path: path.to_owned(), source }
    }
}
