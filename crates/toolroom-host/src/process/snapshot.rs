//! Snapshots of protected files that a program could change: taken before it starts, compared while it runs, and restored
//! after its end (`restore.rs`).
//!
//! With namespaces this covers only files that do not exist yet, because mounts protect the others. With Landlock alone it
//! covers all of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::regular_file::{Links, RegularFile, RegularFileError};

/// Maximum number of files; beyond it a program is not started.
const MAX_ENTRIES: usize = 2_000;

/// Maximum number of bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// All snapshots for one program.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    pub(super) kept: Vec<Snapshot>,
}

/// A path and its content.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The folder the program may change.
    pub(super) folder: PathBuf,
    /// The path in it.
    pub(super) path: PathBuf,
    pub(super) was: Option<SnapshotEntry>,
}

/// A file, link or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SnapshotEntry {
    pub(super) look: Fingerprint,
    pub(super) content: SnapshotContent,
}

/// Detects changes without reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    device: u64,
    inode: u64,
    changed: (i64, i64),
    size: u64,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SnapshotContent {
    File(Vec<u8>),
    Link(PathBuf),
    Folder(BTreeMap<OsString, SnapshotEntry>),
    /// A pipe, socket or device.
    Other,
}

/// The remaining capacity.
#[derive(Debug)]
pub(super) struct SnapshotBudget {
    entries: usize,
    bytes: u64,
}

impl Snapshots {
    /// Takes snapshots of these paths, each given with its base folder.
    pub(super) fn take(paths: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> io::Result<Self> {
        let mut room = SnapshotBudget::new();
        let mut kept = Vec::new();
        for (folder, path) in paths {
            let was = room.remember(&folder.join(&path))?;
            kept.push(Snapshot { folder, path, was });
        }
        Ok(Self { kept })
    }

    /// Whether anything changed.
    pub(super) fn are_changed(&self) -> bool {
        self.kept.iter().any(Snapshot::is_changed)
    }
}

impl Snapshot {
    pub(super) fn is_changed(&self) -> bool {
        (self.was.is_some() && !self.is_in_place())
            || is_changed(self.was.as_ref(), &self.folder.join(&self.path))
    }

    /// Whether the folders on the way are still folders, and not links to identical ones.
    #[expect(clippy::disallowed_methods, reason = "this is the door: whether a protected file was changed")]
    fn is_in_place(&self) -> bool {
        let above = self.path.ancestors().skip(1).map(|part| self.folder.join(part));
        above.into_iter().all(|folder| folder.symlink_metadata().is_ok_and(|found| found.is_dir()))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: whether a protected file was changed")]
fn is_changed(was: Option<&SnapshotEntry>, path: &Path) -> bool {
    let (was, is) = match (was, path.symlink_metadata()) {
        (None, Err(error)) => return error.kind() != io::ErrorKind::NotFound && !is_no_folder(&error),
        (Some(was), Ok(is)) => (was, is),
        (None, Ok(_)) | (Some(_), Err(_)) => return true,
    };
    let look = Fingerprint::new(&is);
    if was.look.mode != look.mode || was.look.owner != look.owner {
        return true;
    }
    // A different fingerprint can mean the same content: the helper of another program may have restored it.
    match &was.content {
        SnapshotContent::File(_) | SnapshotContent::Link(_) | SnapshotContent::Other if was.look == look => {
            false
        }
        SnapshotContent::File(bytes) => {
            look.size != bytes.len() as u64 || !content_of(path, look.size).is_ok_and(|found| found == *bytes)
        }
        SnapshotContent::Link(target) => !std::fs::read_link(path).is_ok_and(|found| found == *target),
        SnapshotContent::Folder(children) => {
            let Ok(entries) = std::fs::read_dir(path) else { return true };
            entries.count() != children.len()
                || children.iter().any(|(name, child)| is_changed(Some(child), &path.join(name)))
        }
        SnapshotContent::Other => true,
    }
}

/// The content of a file of this length. Never blocks, even if it has become a pipe.
fn content_of(path: &Path, length: u64) -> io::Result<Vec<u8>> {
    let most = usize::try_from(length).unwrap_or(usize::MAX);
    match RegularFile::open(path, Links::Refuse).and_then(|file| file.map(|file| file.read(most)).transpose())
    {
        Ok(content) => content.ok_or_else(|| io::ErrorKind::NotFound.into()),
        Err(RegularFileError::Io(error)) => Err(error),
        Err(RegularFileError::NotRegular | RegularFileError::TooLong) => {
            Err(io::ErrorKind::InvalidData.into())
        }
    }
}

fn is_no_folder(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory
}

impl Fingerprint {
    fn new(found: &std::fs::Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            changed: (found.ctime(), found.ctime_nsec()),
            size: found.size(),
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
        }
    }
}

impl SnapshotBudget {
    pub(super) fn new() -> Self {
        Self { entries: MAX_ENTRIES, bytes: MAX_BYTES }
    }

    /// The content at this path; `None` if nothing exists.
    #[expect(clippy::disallowed_methods, reason = "this is the door: protected files are remembered")]
    pub(super) fn remember(&mut self, path: &Path) -> io::Result<Option<SnapshotEntry>> {
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound || is_no_folder(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let too_many = || io::Error::from(io::ErrorKind::FileTooLarge);
        self.entries = self.entries.checked_sub(1).ok_or_else(too_many)?;
        let content = if found.is_dir() {
            let mut children = BTreeMap::new();
            for entry in std::fs::read_dir(path)? {
                let name = entry?.file_name();
                if let Some(child) = self.remember(&path.join(&name))? {
                    children.insert(name, child);
                }
            }
            SnapshotContent::Folder(children)
        } else if found.is_file() {
            self.bytes = self.bytes.checked_sub(found.len()).ok_or_else(too_many)?;
            SnapshotContent::File(content_of(path, found.len())?)
        } else if found.is_symlink() {
            SnapshotContent::Link(std::fs::read_link(path)?)
        } else {
            SnapshotContent::Other
        };
        Ok(Some(SnapshotEntry { look: Fingerprint::new(&found), content }))
    }
}
