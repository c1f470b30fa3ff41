//! Toolroom's own files, which no tool opens under any name.

use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, Stat, open};
use rustix::io::Errno;

use super::path_handle::PathHandle;
use crate::machine::FileId;

/// Toolroom's own files.
#[derive(Debug, Clone, Default)]
pub struct Protected {
    /// Everything below these folders, except a workspace in them.
    pub folders: Vec<PathBuf>,
    /// These files, also under other names.
    pub files: Vec<PathBuf>,
}

impl Protected {
    /// Whether a path below `root` is ours. A root inside one of our folders was configured, and is not.
    pub(super) fn covers(&self, place: &Path, root: &Path) -> Result<bool, Errno> {
        for folder in &self.folders {
            // The configured folder may be a link; the path is a real one.
            let folder = real_name(folder)?;
            if place.starts_with(&folder) && !root.starts_with(&folder) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this is one of our folders itself.
    pub(super) fn is_folder(&self, stat: &Stat) -> bool {
        is_one_of(&self.folders, stat)
    }

    /// Whether this is one of our files, by inode: a hard link does not help.
    pub(super) fn is_file(&self, stat: &Stat) -> bool {
        is_one_of(&self.files, stat)
    }
}

/// A file that cannot be examined cannot be opened by this user either.
fn is_one_of(paths: &[PathBuf], stat: &Stat) -> bool {
    let id = FileId::from_stat(stat);
    paths.iter().any(|path| FileId::from_path(path).is_ok_and(|found| found == Some(id)))
}

/// The real path of a folder, which may be missing: a configuration that another program creates before we do would
/// still be ours.
#[expect(clippy::disallowed_methods, reason = "this is the door: where our own folders really are")]
fn real_name(folder: &Path) -> Result<PathBuf, Errno> {
    let mut missing = Vec::new();
    let mut here = folder;
    loop {
        match open(here, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(found) => {
                let place = PathHandle::at(found)?.place;
                return Ok(missing.iter().rev().fold(place, |place, name| place.join(name)));
            }
            Err(errno @ (Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP)) => {
                let (above, name) = here.parent().zip(here.file_name()).ok_or(errno)?;
                missing.push(name);
                here = above;
            }
            Err(errno) => return Err(errno),
        }
    }
}
