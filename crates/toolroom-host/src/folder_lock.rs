//! Locks the data folder: shared by many processes, or exclusive.
//!
//! Processes that open the database share the folder; replacing the database needs it exclusively. The lock is on the
//! folder itself, so no lock file is left behind, and the system releases it when a process dies.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// How long shared locks wait for an exclusive one, which is held for milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The lock, held until dropped.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folder")]
#[derive(Debug)]
pub struct FolderLock {
    _folder: std::fs::File,
}

impl FolderLock {
    /// Takes a shared lock. Waits for an exclusive one; fails with [`io::ErrorKind::TimedOut`].
    #[expect(clippy::disallowed_types, reason = "this is the door: our own folder")]
    pub fn shared(folder: &Path) -> io::Result<Self> {
        let file = std::fs::File::open(folder)?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock_shared() {
                // Where folders cannot be locked, exclusive locks fail too.
                Ok(()) | Err(std::fs::TryLockError::Error(_)) => return Ok(Self { _folder: file }),
                Err(std::fs::TryLockError::WouldBlock) if waited < TIMEOUT => {
                    sleep(POLL_INTERVAL);
                    waited += POLL_INTERVAL;
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Takes the exclusive lock; `None` while other processes hold one.
    #[expect(clippy::disallowed_types, reason = "this is the door: our own folder")]
    pub fn exclusive(folder: &Path) -> io::Result<Option<Self>> {
        let file = std::fs::File::open(folder)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _folder: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_processes_share_a_folder_or_one_has_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) =
            (FolderLock::shared(folder.path()).unwrap(), FolderLock::shared(folder.path()).unwrap());
        assert!(FolderLock::exclusive(folder.path()).unwrap().is_none());
        drop(one);
        assert!(FolderLock::exclusive(folder.path()).unwrap().is_none());
        drop(two);
        let alone = FolderLock::exclusive(folder.path()).unwrap().unwrap();
        assert!(FolderLock::exclusive(folder.path()).unwrap().is_none());
        let path = folder.path().to_owned();
        let waiting = std::thread::spawn(move || FolderLock::shared(&path).map(drop));
        drop(alone);
        waiting.join().unwrap().unwrap();
        assert!(FolderLock::shared(&folder.path().join("missing")).is_err());
    }
}
