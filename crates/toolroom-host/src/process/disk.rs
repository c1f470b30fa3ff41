//! Limits the disk space a program adds.
//!
//! Each check reads the free space of the program's file systems, which is cheap. Files are counted only when more space
//! is gone than allowed: those changed since the program began, including deleted ones that are still open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::statvfs;

use super::descendants::Descendant;
use super::repository_scan::now;

/// Minimum size of a file.
const MIN_FILE_BYTES: u64 = 4_096;

/// Unit of block counts, on any file system.
const BLOCK: u64 = 512;

/// Timeout of counting. A program whose files cannot be counted has exceeded the limit.
const MAX_COUNT: Duration = Duration::from_secs(1);

/// Minimum part of the limit that must be used before files are counted again.
const MIN_COUNT_STEPS: u64 = 16;

/// The file systems of one program.
#[derive(Debug)]
pub(super) struct Disk {
    folders: Vec<PathBuf>,
    /// One folder per device.
    devices: BTreeMap<u64, PathBuf>,
    bound: u64,
    /// Seconds since 1970.
    began: i64,
    /// Maximum free space since the last count.
    highest: FreeSpace,
    /// How much of it may disappear before the next count.
    allowance: u64,
}

/// Free space of all file systems together.
#[derive(Debug, Clone, Copy, Default)]
struct FreeSpace {
    bytes: u64,
    files: u64,
}

impl Disk {
    /// For a program that may change these folders.
    #[expect(clippy::disallowed_methods, reason = "this is the door: the file systems of a program")]
    pub(super) fn new(folders: Vec<PathBuf>, bound: u64) -> Self {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let device = |folder: &PathBuf| Some((folder.metadata().ok()?.dev(), folder.clone()));
        let mut disk = Self {
            devices: folders.iter().filter_map(device).collect(),
            folders,
            bound,
            began: i64::try_from(began).unwrap_or(i64::MAX),
            highest: FreeSpace::default(),
            allowance: bound,
        };
        disk.highest = disk.room();
        disk
    }

    /// Whether the program has exceeded its limit.
    pub(super) fn is_full(&mut self, living: &[Descendant]) -> bool {
        let room = self.room();
        self.highest.bytes = self.highest.bytes.max(room.bytes);
        self.highest.files = self.highest.files.max(room.files);
        let files = (self.highest.files - room.files).saturating_mul(MIN_FILE_BYTES);
        if (self.highest.bytes - room.bytes).max(files) <= self.allowance {
            return false;
        }
        match self.added(living) {
            Some(added) if added <= self.bound => {
                self.highest = room;
                self.allowance = (self.bound - added).max(self.bound / MIN_COUNT_STEPS);
                false
            }
            Some(_) => true,
            // After its end no process is left that could write.
            None => !living.is_empty(),
        }
    }

    fn room(&self) -> FreeSpace {
        let mut room = FreeSpace::default();
        for found in self.devices.values().filter_map(|folder| statvfs(folder).ok()) {
            room.bytes = room.bytes.saturating_add(found.f_bfree.saturating_mul(found.f_frsize));
            room.files = room.files.saturating_add(found.f_ffree);
        }
        room
    }

    /// The size of files changed since the program began; `None` if they cannot be counted.
    #[expect(clippy::disallowed_methods, reason = "this is the door: what a program has written")]
    fn added(&self, living: &[Descendant]) -> Option<u64> {
        let until = now() + MAX_COUNT;
        let is_older = |found: &Metadata| found.ctime() < self.began;
        let mut seen = BTreeSet::new();
        let mut total: u64 = 0;
        let mut add = |found: &Metadata| {
            if !is_older(found) && seen.insert((found.dev(), found.ino())) {
                total = total.saturating_add(found.blocks().saturating_mul(BLOCK).max(MIN_FILE_BYTES));
            }
        };
        let mut open = self.folders.clone();
        while let Some(folder) = open.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                // The folder was locked before, or is gone; otherwise the program locked it, or made its path too long.
                match folder.symlink_metadata() {
                    Ok(found) if is_older(&found) => continue,
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Ok(_) | Err(_) => return None,
                }
            };
            for path in entries.flatten().map(|entry| entry.path()) {
                let Ok(found) = path.symlink_metadata() else { continue };
                add(&found);
                if found.is_dir() {
                    open.push(path);
                }
                if now() > until {
                    return None;
                }
            }
        }
        for found in living.iter().flat_map(|member| open_files(member.pid)) {
            if found.is_file() && found.nlink() == 0 && self.devices.contains_key(&found.dev()) {
                add(&found);
            }
        }
        Some(total)
    }
}

/// The open files of a process.
#[expect(clippy::disallowed_methods, reason = "this is the door: files without a name")]
fn open_files(pid: u32) -> Vec<Metadata> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.path().metadata().ok()).collect()
}
