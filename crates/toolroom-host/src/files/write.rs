//! Writes files atomically.
//!
//! The target is found and judged as for reading; `atomic_file.rs` replaces it.

use std::io::Write;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, mkdirat};
use rustix::io::Errno;

use super::beneath::{LastLink, find};
use super::error::FileError;
use super::judge::{PathRefusal, Role};
use super::path_handle::PathHandle;
use super::read::not_a_file;
use super::requested_path::RequestedPath;
use super::root::Root;
use super::stamp::stamp;
use super::workspace::{Workspace, refused};
use crate::atomic_file::AtomicFile;
use crate::owner::{give_file, give_folder};

/// The bits of an old file's mode that are kept: no setuid, setgid or sticky bit.
const PERMISSIONS: u32 = 0o777;

/// Modes of new files and folders, before the umask.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);

/// What happens if the folder of a file is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// It is created, with its parents.
    Create,
    /// Nothing is written.
    MustExist,
}

/// The effect on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Created.
    New,
    /// Replaced.
    Replaced,
}

impl Workspace {
    /// Writes a whole file, replacing an existing one. Permissions and owner are kept where possible; a link is refused,
    /// and other hard links keep the old content. Blocks until it is on disk.
    pub fn write(&self, path: &str, content: &[u8], parents: Parents) -> Result<WriteOutcome, FileError> {
        self.write_stamped(path, content, parents).map(|(written, _)| written)
    }

    /// Also returns a stamp of the written file.
    pub fn write_stamped(
        &self,
        path: &str,
        content: &[u8],
        parents: Parents,
    ) -> Result<(WriteOutcome, String), FileError> {
        let asked = RequestedPath::parse(path)?;
        let (root, names) = self.resolve(&asked)?;
        let Some((name, above)) = names.split_last().filter(|_| !asked.is_folder()) else {
            return Err(self.failed(&asked, Errno::ISDIR));
        };
        self.admit_name(&root, &asked, &names, Role::File)?;
        let folder = self.folder_for(&root, &asked, above, name, parents)?;
        let place = folder.place.join(name);
        self.admit_place(&root, &asked, &place, Role::File)?;
        self.admit_start_file(&root, &asked, &names, &place)?;
        self.admit_writing(&asked, &place)?;
        let old = match find(folder.as_fd(), &[name], LastLink::Keep, self.following).and_then(PathHandle::at)
        {
            Ok(old) => Some(old),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(self.failed(&asked, errno)),
        };
        if let Some(old) = &old {
            match old.kind() {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(FileError::Link { path: path.to_owned() }),
                _ => return Err(not_a_file(&asked, old)),
            }
            self.admit(&root, &asked, old, Role::File)?;
            self.check_replaced(&asked, old)?;
        }
        let stamp = replace(&folder, name, content, old.as_ref().map(|old| &old.stat))
            .map_err(|errno| self.failed(&asked, errno))?;
        Ok((if old.is_some() { WriteOutcome::Replaced } else { WriteOutcome::New }, stamp))
    }

    /// The folder of a new file.
    fn folder_for(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        above: &[&str],
        name: &str,
        parents: Parents,
    ) -> Result<PathHandle, FileError> {
        let folder = match self.look_below(root, above) {
            Err(Errno::NOENT) if parents == Parents::MustExist => {
                return Err(FileError::NoFolder { path: asked.text().to_owned() });
            }
            Err(Errno::NOENT) => {
                // Checked before anything is created: a refused path leaves no folders behind.
                let wanted: PathBuf = above.iter().chain([&name]).collect();
                let wanted = root.path().join(wanted);
                self.admit_place(root, asked, &wanted, Role::File)?;
                self.admit_writing(asked, &wanted)?;
                self.make_folders(root, asked, above)?
            }
            other => other.map_err(|errno| self.failed(asked, errno))?,
        };
        match folder.kind() {
            FileType::Directory => {}
            _ => return Err(self.failed(asked, Errno::NOTDIR)),
        }
        match folder.is_made_by_the_kernel() {
            Ok(false) => Ok(folder),
            Ok(true) => Err(refused(asked, PathRefusal::Kernel)),
            Err(errno) => Err(self.failed(asked, errno)),
        }
    }

    /// Creates missing folders one by one. Each is found from the root again, so links that stay inside may be on the
    /// way.
    #[expect(clippy::disallowed_methods, reason = "this is the door: folders in a workspace")]
    fn make_folders(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        names: &[&str],
    ) -> Result<PathHandle, FileError> {
        let failed = |errno| self.failed(asked, errno);
        if names.contains(&"..") {
            // The target of `..` below a missing folder is undefined.
            return Err(FileError::NoFolder { path: asked.text().to_owned() });
        }
        let mut here = self.look_below(root, &[]).map_err(failed)?;
        for (index, name) in names.iter().enumerate() {
            let names = names.get(..=index).unwrap_or_default();
            here = match self.look_below(root, names) {
                Err(Errno::NOENT) => {
                    let wanted = here.place.join(name);
                    self.admit_place(root, asked, &wanted, Role::Folder)?;
                    self.admit_writing(asked, &wanted)?;
                    match mkdirat(here.as_fd(), *name, NEW_FOLDER) {
                        // Another process created it, or it is a dangling link; the next lookup decides.
                        Ok(()) => give_folder(name, here.as_fd()).map_err(failed)?,
                        Err(Errno::EXIST) => {}
                        Err(errno) => return Err(failed(errno)),
                    }
                    self.look_below(root, names).map_err(failed)?
                }
                other => other.map_err(failed)?,
            };
        }
        Ok(here)
    }
}

/// Replaces the file `name` in one step.
fn replace(folder: &PathHandle, name: &str, content: &[u8], old: Option<&Stat>) -> Result<String, Errno> {
    let folder = folder.open(OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mode = old.map_or(NEW_FILE, |old| Mode::from_raw_mode(old.st_mode & PERMISSIONS));
    let around = folder.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let mut staged = AtomicFile::inside(folder, name.into(), mode)?;
    staged.write_all(content).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if let Some(old) = old {
        // Only root can keep another owner; otherwise the file becomes ours.
        match fchown(&staged.file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid))) {
            Ok(()) | Err(Errno::PERM) => {}
            Err(errno) => return Err(errno),
        }
        // The umask and a change of the owner may have removed bits.
        fchmod(&staged.file, mode)?;
    } else {
        give_file(&staged.file, around)?;
    }
    // The file gets a descriptor of its own, because publishing consumes the other and changes the stamp.
    let written =
        staged.file.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    staged.publish_over()?;
    stamp(&written)
}
