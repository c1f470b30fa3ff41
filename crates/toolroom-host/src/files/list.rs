//! Lists folders.

use std::ffi::{CStr, CString};
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, OFlags, statat};
use rustix::io::Errno;

use super::error::FileError;
use super::judge::Role;
use super::path_handle::PathHandle;
use super::requested_path::RequestedPath;
use super::root::Root;
use super::workspace::Workspace;
use crate::atomic_file::is_stage_name;

/// Maximum number of names read from a folder.
const MAX_NAMES: usize = 200_000;

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file, or a link to one in the same root.
    File,
    /// A folder, or a link to one in the same root.
    Folder,
    /// Anything else: pipes, sockets, devices, links that lead nowhere or out of the root.
    Other,
}

/// A directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, lossily decoded.
    pub name: String,
    /// Whether the name is complete, so that it can be requested.
    pub is_exact: bool,
    /// Its kind.
    pub kind: EntryKind,
    /// File size; 0 for other kinds.
    pub size: u64,
}

/// The entries of a folder, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The first entries.
    pub entries: Vec<Entry>,
    /// Number of entries.
    pub total: usize,
    /// Whether there are more: very large folders are read only in part, and then the entries shown are not the first
    /// ones.
    pub is_cut: bool,
}

impl Workspace {
    /// The real path of a folder in which programs may work. Blocks.
    pub fn folder(&self, path: &str) -> Result<PathBuf, FileError> {
        let asked = RequestedPath::parse(path)?;
        let (root, names) = self.resolve(&asked)?;
        Ok(self.look_at_folder(&asked, &root, &names)?.place)
    }

    fn look_at_folder(
        &self,
        asked: &RequestedPath<'_>,
        root: &Root,
        names: &[&str],
    ) -> Result<PathHandle, FileError> {
        self.admit_name(root, asked, names, Role::Folder)?;
        let folder = self.look_below(root, names).map_err(|errno| self.failed(asked, errno))?;
        self.admit(root, asked, &folder, Role::Folder)?;
        match folder.kind() {
            FileType::Directory => Ok(folder),
            _ => Err(self.failed(asked, Errno::NOTDIR)),
        }
    }

    /// The first `max` entries of a folder. Blocks.
    #[expect(clippy::disallowed_types, reason = "this is the door: what is in a folder of a workspace")]
    pub fn list(&self, path: &str, max: usize) -> Result<Listing, FileError> {
        let asked = RequestedPath::parse(path)?;
        let (root, names) = self.resolve(&asked)?;
        let failed = |errno| self.failed(&asked, errno);
        let folder = self.look_at_folder(&asked, &root, &names)?;
        let open = folder.open(OFlags::RDONLY | OFlags::DIRECTORY).map_err(failed)?;
        let mut found: Vec<CString> = Vec::new();
        let mut is_cut = false;
        for entry in rustix::fs::Dir::new(open).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") || is_stage_name(name.to_bytes()) {
                continue;
            }
            if found.len() == MAX_NAMES {
                is_cut = true;
                break;
            }
            found.push(name.to_owned());
        }
        let total = found.len();
        found.sort_unstable();
        found.truncate(max);
        let describe = |name: CString| {
            let (kind, size) = match kind_and_size(&folder, &name) {
                // The target of a link is resolved like a requested path.
                (FileType::Symlink, _) => {
                    let names = name.to_str().map(|name| [names.as_slice(), &[name]].concat()).ok();
                    let to = names.and_then(|names| self.look_below(&root, &names).ok());
                    to.map_or((FileType::Unknown, 0), |to| (to.kind(), to.size()))
                }
                other => other,
            };
            Entry::new(&name, kind, size)
        };
        Ok(Listing { entries: found.into_iter().map(describe).collect(), total, is_cut })
    }
}

impl Entry {
    fn new(name: &CStr, kind: FileType, size: u64) -> Self {
        let kind = match kind {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            _ => EntryKind::Other,
        };
        let size = if kind == EntryKind::File { size } else { 0 };
        Self { name: name.to_string_lossy().into_owned(), is_exact: name.to_str().is_ok(), kind, size }
    }
}

/// Of the entry itself. An entry that is gone has an unknown kind.
#[expect(clippy::disallowed_methods, reason = "this is the door: what is in a folder of a workspace")]
fn kind_and_size(folder: &PathHandle, name: &CStr) -> (FileType, u64) {
    match statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => (FileType::from_raw_mode(stat.st_mode), u64::try_from(stat.st_size).unwrap_or_default()),
        Err(_) => (FileType::Unknown, 0),
    }
}
