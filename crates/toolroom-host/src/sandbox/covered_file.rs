//! Files covered by mounts. The kernel removes a mount when another file is renamed over the one below it, as editors do
//! when they save.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// The identity of a file or folder covered by a mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CoveredFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// An inode number can be reused.
    created: Option<SystemTime>,
}

impl CoveredFile {
    /// Of the file at this path.
    #[expect(clippy::disallowed_methods, reason = "this is the door: which file a mount lies over")]
    pub(super) fn at(path: PathBuf) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        Some(Self { path, device: found.dev(), inode: found.ino(), created: found.created().ok() })
    }

    /// Whether another file is at its path now. A missing file needs no cover.
    pub(super) fn is_replaced(&self) -> bool {
        Self::at(self.path.clone()).is_some_and(|now| now != *self)
    }
}
