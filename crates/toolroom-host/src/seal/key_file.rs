//! Key files, readable by their owner only.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use zeroize::Zeroizing;

use super::error::{KeyFileProblem, RotationProblem, SealError};
use super::master_key::{MasterKey, MasterKeyError};
use crate::atomic_file::{AtomicFile, sync_folder_of};
use crate::folders::OTHERS;
use crate::regular_file::{Links, RegularFile, RegularFileError};

/// A key has 64 characters; the rest is room for white space.
const MAX_BYTES: usize = 256;

/// The permissions of a file, without its type.
const MODE: u32 = 0o7777;

/// The key in a file; `None` if the file does not exist.
pub(super) fn read(path: &Path) -> Result<Option<MasterKey>, SealError> {
    read_checked(path).map_err(|problem| SealError::key_file(path, problem))
}

fn read_checked(path: &Path) -> Result<Option<MasterKey>, KeyFileProblem> {
    let Some(file) = RegularFile::open(path, Links::Refuse)? else { return Ok(None) };
    let mode = file.metadata.permissions().mode() & MODE;
    if mode & OTHERS != 0 {
        return Err(KeyFileProblem::Shared { mode, path: path.to_owned() });
    }
    let content = Zeroizing::new(file.read(MAX_BYTES)?);
    let text = str::from_utf8(&content).map_err(|_| KeyFileProblem::Content(MasterKeyError::NotText))?;
    MasterKey::parse(text).map(Some).map_err(KeyFileProblem::Content)
}

impl From<RegularFileError> for KeyFileProblem {
    fn from(error: RegularFileError) -> Self {
        match error {
            RegularFileError::NotRegular => Self::NotRegular,
            RegularFileError::TooLong => Self::TooLong,
            RegularFileError::Io(error) => Self::Io(error),
        }
    }
}

/// Writes a new key file completely and synced, or not at all. An existing key is kept, with the error
/// [`io::ErrorKind::AlreadyExists`].
pub(super) fn write_new(path: &Path, key: &MasterKey) -> io::Result<()> {
    let mut staged = AtomicFile::beside(path)?;
    staged.write_all(key.to_text().as_bytes())?;
    staged.publish_new()
}

/// Removes a key file.
#[expect(clippy::disallowed_methods, reason = "this is the door: our own key file")]
pub(super) fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)?;
    sync_folder_of(path)
}

/// Prevents other processes from changing the key. The system releases it when a process dies.
#[expect(clippy::disallowed_types, reason = "this is the door: our own key file")]
#[derive(Debug)]
pub(super) struct KeyLock {
    _file: std::fs::File,
}

impl KeyLock {
    #[expect(clippy::disallowed_types, reason = "this is the door: our own key file")]
    pub(super) fn take(path: &Path) -> Result<Self, SealError> {
        let refused = |error| SealError::key_file(path, KeyFileProblem::Io(error));
        // Network file systems only lock files open for writing.
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(RotationProblem::Underway.into()),
            Err(std::fs::TryLockError::Error(error)) => Err(refused(error)),
        }
    }
}
