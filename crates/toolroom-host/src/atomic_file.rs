//! Files that appear whole or not at all.
//!
//! What is written goes into a file beside its place, is synced, and only then gets its name. A process that is
//! killed in between leaves a `.toolroom-….part` behind, which nobody reads, and never half a file.

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

/// A file on its way to its place.
#[expect(clippy::disallowed_types, reason = "this is the door: writing a file whole")]
#[derive(Debug)]
pub(crate) struct AtomicFile {
    pub(crate) file: std::fs::File,
    /// Everything happens below this descriptor, whatever becomes of the folder's name.
    folder: OwnedFd,
    target: OsString,
    /// What it is called now; nothing once it has its name.
    stage: Option<String>,
}

impl AtomicFile {
    /// An empty file for its owner only, in the folder of `target`.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self::inside(open_folder_of(target)?, name.to_owned(), Mode::from_raw_mode(PRIVATE_FILE))?)
    }

    /// An empty file in a folder, which must be open for reading: only then it can be synced.
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file whole")]
    pub(crate) fn inside(folder: OwnedFd, target: OsString, mode: Mode) -> Result<Self, Errno> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| Errno::IO)?;
        let stage = format!("{PREFIX}{}{SUFFIX}", hex::encode(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&folder, stage.as_str(), flags, mode)?;
        Ok(Self { file: file.into(), folder, target, stage: Some(stage) })
    }

    /// Takes its place, if that is free; otherwise the error is [`io::ErrorKind::AlreadyExists`].
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file whole")]
    pub(crate) fn publish_new(mut self) -> io::Result<()> {
        fsync(&self.file)?;
        let Some(stage) = self.stage.as_deref() else { return Ok(()) };
        let (folder, target) = (&self.folder, &self.target);
        match renameat_with(folder, stage, folder, target, RenameFlags::NOREPLACE) {
            Ok(()) => self.stage = None,
            // Some network file systems cannot. A second name is as good; the first one goes with the drop.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(folder, stage, folder, target, AtFlags::empty())?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(sync_folder(&self.folder)?)
    }

    /// Takes its place, whatever was there. A link is replaced, not followed.
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
            // Nothing is owed to a file without a name: a leftover harms nobody.
            let _ = unlinkat(&self.folder, stage.as_str(), AtFlags::empty());
        }
    }
}

/// Whether this is what a file is called before it gets its name.
pub(crate) fn is_stage_name(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Makes names that were given or taken away in the folder of `path` survive the loss of power.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    Ok(sync_folder(&open_folder_of(path)?)?)
}

fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    match fsync(folder) {
        // Some file systems have nothing to sync in a folder, and say so.
        Err(Errno::INVAL) => Ok(()),
        other => other,
    }
}

/// The folder a path lies in; a bare name lies in the current one.
#[expect(clippy::disallowed_methods, reason = "this is the door: the folder of a file that was named")]
fn open_folder_of(path: &Path) -> Result<OwnedFd, Errno> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
