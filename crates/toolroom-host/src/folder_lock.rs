//! Who is at work in the data folder: many processes at once, or one alone.
//!
//! Whoever opens the database shares the folder; whoever puts another database in its place needs it alone. The lock
//! lies on the folder itself, so there is no file to be left behind, and the system lets go of it when a process dies.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// How long those who share wait for the one who is alone, who needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A place in the folder, for as long as this lives.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folder")]
#[derive(Debug)]
pub struct FolderLock {
    _folder: std::fs::File,
}

impl FolderLock {
    /// A place among others. Waits while somebody is alone there; then the error is [`io::ErrorKind::TimedOut`].
    #[expect(clippy::disallowed_types, reason = "this is the door: our own folder")]
    pub fn shared(folder: &Path) -> io::Result<Self> {
        let file = std::fs::File::open(folder)?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock_shared() {
                // Where folders cannot be locked nobody can be alone either.
                Ok(()) | Err(std::fs::TryLockError::Error(_)) => return Ok(Self { _folder: file }),
                Err(std::fs::TryLockError::WouldBlock) if waited < PATIENCE => {
                    sleep(LOOK_EVERY);
                    waited += LOOK_EVERY;
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// The whole folder; `None` while others are there.
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
    fn many_share_a_folder_or_one_has_it_alone() {
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
