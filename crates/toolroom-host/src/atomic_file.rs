//! Files that appear completely or not at all.
//!
//! Content is written to a temporary file in the same folder, synced, and then renamed. A process that is killed in
//! between leaves a `.toolroom-….part` file, which is never read.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, fsync, linkat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use crate::folders::PRIVATE_FILE;

const PREFIX: &str = ".toolroom-";
const SUFFIX: &str = ".part";

/// A file that does not have its final name yet.
#[expect(clippy::disallowed_types, reason = "this is the door: writing a file whole")]
#[derive(Debug)]
pub(crate) struct AtomicFile {
    pub(crate) file: std::fs::File,
    /// All operations are relative to this descriptor, even if the folder is renamed.
    folder: OwnedFd,
    target: OsString,
    /// The temporary name; `None` once the file has its final name.
    stage: Option<String>,
}

impl AtomicFile {
    /// An empty file with mode 0600, in the folder of `target`.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self::inside(open_folder_of(target)?, name.to_owned(), Mode::from_raw_mode(PRIVATE_FILE))?)
    }

    /// An empty file in a folder. The folder must be open for reading, so that it can be synced.
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file whole")]
    pub(crate) fn inside(folder: OwnedFd, target: OsString, mode: Mode) -> Result<Self, Errno> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| Errno::IO)?;
        let stage = format!("{PREFIX}{}{SUFFIX}", hex::encode(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&folder, stage.as_str(), flags, mode)?;
        Ok(Self { file: file.into(), folder, target, stage: Some(stage) })
    }

    /// Takes the final name if it is free; otherwise fails with [`io::ErrorKind::AlreadyExists`].
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file whole")]
    pub(crate) fn publish_new(mut self) -> io::Result<()> {
        fsync(&self.file)?;
        let Some(stage) = self.stage.as_deref() else { return Ok(()) };
        let (folder, target) = (&self.folder, &self.target);
        match renameat_with(folder, stage, folder, target, RenameFlags::NOREPLACE) {
            Ok(()) => self.stage = None,
            // Some network file systems cannot. A hard link works too; the first name is removed on drop.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(folder, stage, folder, target, AtFlags::empty())?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(sync_folder(&self.folder)?)
    }

    /// Takes the final name, replacing an existing file. A link is replaced, not followed.
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file whole")]
    pub(crate) fn publish_over(mut self) -> Result<(), Errno> {
        fsync(&self.file)?;
        let Some(stage) = self.stage.as_deref() else { return Ok(()) };
        renameat(&self.folder, stage, &self.folder, &self.target)?;
        self.stage = None;
        sync_folder(&self.folder)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file whole")]
    fn drop(&mut self) {
        if let Some(stage) = &self.stage {
            // A leftover temporary file is harmless.
            let _ = unlinkat(&self.folder, stage.as_str(), AtFlags::empty());
        }
    }
}

/// Whether this is a temporary name.
pub(crate) fn is_stage_name(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Syncs the folder of `path`, so that new and removed names survive a power loss.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    Ok(sync_folder(&open_folder_of(path)?)?)
}

fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    match fsync(folder) {
        // Some file systems do not support syncing folders.
        Err(Errno::INVAL) => Ok(()),
        other => other,
    }
}

/// The folder of a path; the current folder for a bare name.
#[expect(clippy::disallowed_methods, reason = "this is the door: the folder of a file that was named")]
fn open_folder_of(path: &Path) -> Result<OwnedFd, Errno> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
