//! Scans the folders of a program for repositories and unreadable folders.
//!
//! Breadth first, so that a scan cut short has covered the nearest folders. It looks for `.git` in every folder and
//! descends into every folder: a folder that looks like a repository may contain another. `git_executions.rs` reads what
//! git would run for the repositories found.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::ReadDir;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::git_executions::{Digest, GitExecution};
use super::restore::change_mode;

/// The name of a repository folder.
pub(super) const REPOSITORY: &str = ".git";

/// Files that identify a repository.
const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// The permissions an owner needs to read a folder.
const READABLE: u32 = 0o500;

/// The permissions to access files in a folder that cannot be listed.
const ENTERABLE: u32 = 0o111;

/// The limits of a scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScanBounds<'a> {
    /// Maximum number of folders.
    pub(super) folders: usize,
    pub(super) until: Instant,
    /// If given, unreadable folders are opened first, except these.
    pub(super) opening_all_but: Option<&'a BTreeSet<PathBuf>>,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct RepositoryScan {
    pub(super) roots: Vec<PathBuf>,
    /// Repositories, including bare ones.
    pub(super) repositories: BTreeSet<PathBuf>,
    /// `.git` files and links.
    pub(super) pointers: Vec<PathBuf>,
    pub(super) executions: Vec<GitExecution>,
    /// Their targets.
    pub(super) places: Vec<Digest>,
    /// Files that define executions or could, and links to them.
    pub(super) files: BTreeSet<PathBuf>,
    /// Files and folders inside that git runs because of settings other than a repository's own hooks.
    pub(super) references: BTreeSet<PathBuf>,
    /// Unreadable folders, and whether their files are accessible by name.
    pub(super) closed: Vec<(PathBuf, bool)>,
    /// Folders that were opened, with their old mode.
    pub(super) opened: Vec<(PathBuf, u32)>,
    pub(super) cut: Option<ScanCutoff>,
}

/// Where a scan was cut short.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScanCutoff {
    /// Folders of this depth and deeper are incomplete.
    pub(super) depth: usize,
    /// Because of the timeout, not the number of folders.
    pub(super) is_late: bool,
}

impl RepositoryScan {
    /// Scans these folders.
    pub(super) fn at(roots: &[PathBuf], bounds: ScanBounds<'_>) -> Self {
        let mut look = Self { roots: roots.to_vec(), ..Self::default() };
        let is_inner = |root: &PathBuf| roots.iter().any(|other| root != other && root.starts_with(other));
        let outer = roots.iter().filter(|root| !is_inner(root));
        let mut open: VecDeque<(usize, PathBuf)> = outer.map(|root| (0, root.clone())).collect();
        let mut count = open.len();
        while let Some((depth, folder)) = open.pop_front() {
            for inner in look.look_into(&folder, depth, bounds) {
                if count >= bounds.folders {
                    look.cut_at(depth + 1, false);
                    break;
                }
                count += 1;
                open.push_back((depth + 1, inner));
            }
            if look.cut.is_some_and(|cut| cut.is_late) {
                break;
            }
        }
        look
    }

    /// The depth down to which the scan is complete.
    pub(super) fn reach(&self) -> usize {
        self.cut.map_or(usize::MAX, |cut| cut.depth)
    }

    /// Whether a path is in one of the folders.
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn cut_at(&mut self, depth: usize, is_late: bool) {
        let depth = depth.min(self.reach());
        self.cut = Some(ScanCutoff { depth, is_late });
    }

    /// Scans one folder and returns its subfolders.
    fn look_into(&mut self, folder: &Path, depth: usize, bounds: ScanBounds<'_>) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        let mut has = [false; PARTS.len()];
        for entry in self.read(folder, bounds).into_iter().flatten() {
            if now() > bounds.until {
                self.cut_at(depth, true);
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.close(folder, &error);
                    break;
                }
            };
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            for (has, part) in has.iter_mut().zip(PARTS) {
                *has |= is_named(&name, part);
            }
            if is_named(&name, REPOSITORY) && !kind.is_dir() {
                self.pointers.push(entry.path());
            }
            if kind.is_dir() {
                inner.push(entry.path());
            }
        }
        // A complete repository, one with shared objects, or the shared part.
        if matches!(has, [true, true, ..] | [true, _, _, true] | [_, true, true, _]) {
            self.repositories.insert(folder.to_owned());
        }
        inner
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: what is in a folder of a program")]
    fn read(&mut self, folder: &Path, bounds: ScanBounds<'_>) -> Option<ReadDir> {
        let failure = match std::fs::read_dir(folder) {
            Ok(entries) => return Some(entries),
            Err(error) => error,
        };
        if bounds.opening_all_but.is_some_and(|closed| !closed.contains(folder))
            && let Some(root) = self.roots.iter().find(|root| folder.starts_with(root))
            && let Ok(mode) = change_mode(root, folder, |mode| mode | READABLE)
        {
            self.opened.push((folder.to_owned(), mode));
            match std::fs::read_dir(folder) {
                Ok(entries) => return Some(entries),
                Err(error) => self.close(folder, &error),
            }
        } else {
            self.close(folder, &failure);
        }
        None
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: whether a folder can be used unread")]
    fn close(&mut self, folder: &Path, error: &io::Error) {
        let is_gone = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        let found = folder.symlink_metadata();
        // A program of an ordinary user cannot create folders of another user.
        let uid = rustix::process::geteuid();
        let is_foreign = !uid.is_root() && found.as_ref().is_ok_and(|found| found.uid() != uid.as_raw());
        if !is_gone && !is_foreign {
            self.closed.push((folder.to_owned(), found.map_or(true, |found| is_enterable(found.mode()))));
        }
    }
}

/// Whether files in a folder of this mode are accessible by name.
pub(super) fn is_enterable(mode: u32) -> bool {
    mode & ENTERABLE != 0
}

/// File systems may be case-insensitive.
fn is_named(name: &OsStr, wanted: &str) -> bool {
    name.as_bytes().eq_ignore_ascii_case(wanted.as_bytes())
}

#[expect(clippy::disallowed_methods, reason = "this is the door: time in a process without a runtime")]
pub(super) fn now() -> Instant {
    Instant::now()
}
