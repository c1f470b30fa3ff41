//! Files that appear whole or not at all.
//!
//! What is written goes into a file beside its place, is synced, and only then gets its name. A process that is
//! killed in between leaves a `.toolroom-….part` behind, which nobody reads, and never half a file.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::folders::PRIVATE_FILE;

/// A file on its way to its place.
#[expect(clippy::disallowed_types, reason = "this is the door: writing a file of our own")]
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) file: std::fs::File,
    target: PathBuf,
    /// Where it is now; nothing once it has its name.
    stage: Option<PathBuf>,
}

impl Staged {
    /// An empty file for its owner only, in the folder of `target`.
    #[expect(clippy::disallowed_types, reason = "this is the door: writing a file of our own")]
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        let stage = folder_of(target).join(format!(".toolroom-{}.part", hex::encode(random)));
        let file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&stage)?;
        Ok(Self { file, target: target.to_owned(), stage: Some(stage) })
    }

    /// Takes its place, if that is free; otherwise the error is [`io::ErrorKind::AlreadyExists`].
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file of our own")]
    pub(crate) fn publish_new(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let Some(stage) = &self.stage else { return Ok(()) };
        match renameat_with(CWD, stage, CWD, &self.target, RenameFlags::NOREPLACE) {
            Ok(()) => self.stage = None,
            // Some network file systems cannot. A second name is as good; the first one goes with the drop.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => std::fs::hard_link(stage, &self.target)?,
            Err(error) => return Err(error.into()),
        }
        sync_folder_of(&self.target)
    }

    /// Takes its place, whatever was there.
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file of our own")]
    pub(crate) fn publish_over(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let Some(stage) = &self.stage else { return Ok(()) };
        std::fs::rename(stage, &self.target)?;
        self.stage = None;
        sync_folder_of(&self.target)
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Staged {
    #[expect(clippy::disallowed_methods, reason = "this is the door: writing a file of our own")]
    fn drop(&mut self) {
        if let Some(stage) = &self.stage {
            // Nothing is owed to a file without a name: a leftover harms nobody.
            drop(std::fs::remove_file(stage));
        }
    }
}

/// Makes names that were given or taken away in the folder of `path` survive the loss of power.
#[expect(clippy::disallowed_types, reason = "this is the door: writing a file of our own")]
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match std::fs::File::open(folder_of(path))?.sync_all() {
        // Some file systems have nothing to sync in a folder, and say so.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => Ok(()),
        other => other,
    }
}

/// The folder a path lies in; a bare name lies in the current one.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
