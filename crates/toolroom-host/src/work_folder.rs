//! Temporary work folders that are removed with their owner.

use std::fs::{DirEntry, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::folders::{Folders, PRIVATE_FOLDER, make_private};
use crate::owner::give_to;
use crate::process::change_mode;
use crate::sandbox::User;

/// Short paths, independent of the environment.
const PASSING: &str = "/tmp";

/// Other users can traverse it, but not list it.
const PASSABLE: u32 = 0o711;

const PREFIX: &str = ".toolroom-";
const SUFFIX: &str = ".work";

/// A private folder inside the data folder, so that files created here can be moved there atomically. Removed with its
/// content on drop. Leftovers of killed processes are removed by the next process that creates a folder.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folders")]
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Locked while the folder is in use.
    _lock: std::fs::File,
}

impl WorkFolder {
    /// A new empty folder in the data folder.
    pub fn inside(folders: &Folders) -> io::Result<Self> {
        make_private(&folders.data)?;
        clear_away(&folders.data)?;
        Self::below(&folders.data)
    }

    /// A new empty folder among temporary files.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where temporary files belong")]
    pub fn temporary() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    /// A new empty folder with a short path.
    pub(crate) fn passing() -> io::Result<Self> {
        sweep()?;
        Self::below(Path::new(PASSING))
    }

    /// A subfolder for this user, who may traverse the parent.
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: our own folders"
    )]
    pub(crate) fn inner(&self, name: &str, user: Option<User>) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        std::fs::DirBuilder::new().mode(PRIVATE_FOLDER).create(&path)?;
        if let Some(user) = user {
            give_to(user, &path)?;
            std::fs::set_permissions(&self.path, Permissions::from_mode(PASSABLE))?;
        }
        Ok(path)
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

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes leftovers of killed processes among temporary files.
pub(crate) fn sweep() -> io::Result<()> {
    clear_away(Path::new(PASSING))
}

/// Removes a folder of any depth with its content, even if subfolders are inaccessible to their owner. Links are not
/// followed. Subfolders are moved up one by one, because neither paths nor descriptors reach any depth.
#[expect(clippy::disallowed_methods, reason = "this is the door: our own folders")]
fn remove_whole(folder: &Path) -> io::Result<()> {
    let open = |path: &Path| match is_open(path) {
        true => Ok(()),
        false => change_mode(folder, path, |mode| mode | PRIVATE_FOLDER).map(drop),
    };
    let entries = |path: &Path| -> io::Result<Vec<(PathBuf, bool)>> {
        open(path)?;
        let entry = |entry: io::Result<DirEntry>| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?.is_dir()))
        };
        std::fs::read_dir(path)?.map(entry).collect()
    };
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let mut names = (0_u64..).map(|count| folder.join(format!("{}-{count}", hex::encode(random))));
    loop {
        let outer = entries(folder)?;
        if outer.is_empty() {
            return std::fs::remove_dir(folder);
        }
        for (path, is_folder) in outer {
            if !is_folder {
                std::fs::remove_file(path)?;
                continue;
            }
            for (inner, is_folder) in entries(&path)? {
                match names.next().filter(|_| is_folder) {
                    Some(name) => {
                        open(&inner)?;
                        std::fs::rename(inner, name)?;
                    }
                    None => std::fs::remove_file(inner)?,
                }
            }
            std::fs::remove_dir(path)?;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: our own folders")]
fn is_open(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|found| found.mode() & PRIVATE_FOLDER == PRIVATE_FOLDER)
}

/// Removes folders that are no longer in use.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "this is the door: our own folders")]
fn clear_away(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // It may already be gone.
        let Ok(found) = entry.metadata() else { continue };
        if !is_ours || !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            continue;
        }
        // A program of the same user may have locked it, or another process of ours may be faster.
        if !is_open(&entry.path()) {
            drop(change_mode(&entry.path(), &entry.path(), |mode| mode | PRIVATE_FOLDER));
        }
        if let Ok(lock) = std::fs::File::open(entry.path())
            && lock.try_lock().is_ok()
        {
            drop(remove_whole(&entry.path()));
        }
    }
    Ok(())
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A later process removes what cannot be removed now.
        drop(remove_whole(&self.path));
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_removed_on_drop_and_leftovers_by_the_next_one() {
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
