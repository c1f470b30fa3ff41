//! A folder for work in progress, which goes with whoever made it.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::folders::{Folders, PRIVATE_FOLDER, make_private};

const PREFIX: &str = ".toolroom-";
const SUFFIX: &str = ".work";

/// A folder for its owner only, inside the data folder, so that a file made here can take its place there in one
/// step. It is removed with everything in it when this is dropped. What a killed process left is removed by the next
/// one that makes such a folder.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folders")]
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Says that somebody still works here.
    _lock: std::fs::File,
}

impl WorkFolder {
    /// A new one, empty.
    pub fn inside(folders: &Folders) -> io::Result<Self> {
        make_private(&folders.data)?;
        clear_away(&folders.data)?;
        Self::below(&folders.data)
    }

    /// A new one, empty, where temporary files belong.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where temporary files belong")]
    pub fn temporary() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: our own folders"
    )]
    fn below(parent: &Path) -> io::Result<Self> {
        loop {
            let mut random = [0; 8];
            getrandom::fill(&mut random)?;
            let path = parent.join(format!("{PREFIX}{}{SUFFIX}", hex::encode(random)));
            std::fs::DirBuilder::new().mode(PRIVATE_FOLDER).create(&path)?;
            // Between these lines another process may take it for a leftover.
            match std::fs::File::open(&path).and_then(|lock| lock.lock_shared().map(|()| lock)) {
                Ok(lock) if path.symlink_metadata().is_ok() => return Ok(Self { path, _lock: lock }),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes what nobody works in any more.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "this is the door: our own folders")]
fn clear_away(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_ours || !entry.file_type()?.is_dir() {
            continue;
        }
        // Somebody else may be faster, or it belongs to another user: either way it is not ours to complain.
        if let Ok(lock) = std::fs::File::open(entry.path())
            && lock.try_lock().is_ok()
        {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
    Ok(())
}

impl Drop for WorkFolder {
    #[expect(clippy::disallowed_methods, reason = "this is the door: our own folders")]
    fn drop(&mut self) {
        // What cannot be removed now is a leftover for the next one.
        drop(std::fs::remove_dir_all(&self.path));
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn work_goes_with_whoever_did_it_and_leftovers_with_the_next() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { config: home.path().to_owned(), data: home.path().join("data") };
        let names = || std::fs::read_dir(&folders.data).unwrap().count();
        let (one, two) = (WorkFolder::inside(&folders).unwrap(), WorkFolder::inside(&folders).unwrap());
        assert_ne!(one.path(), two.path());
        assert_eq!(one.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(one.path().join("file"), "content").unwrap();
        drop(one);
        assert_eq!(names(), 1);
        std::fs::create_dir(folders.data.join(".toolroom-0123456789abcdef.work")).unwrap();
        std::fs::write(folders.data.join(".toolroom-0123456789abcdef.work/file"), "content").unwrap();
        std::fs::write(folders.data.join("toolroom.db"), "content").unwrap();
        let three = WorkFolder::inside(&folders).unwrap();
        assert_eq!(names(), 3, "the leftover is gone, the work of the living and other files are not");
        drop((two, three));
        assert_eq!(names(), 1);
    }
}
