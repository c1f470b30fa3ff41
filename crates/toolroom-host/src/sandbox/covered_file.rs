//! Mounts over files in a program's folders. The kernel takes a mount away when another file is renamed over the one below
//! it, as editors do when they save.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A file or folder that a mount lies over, told apart from another one in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CoveredFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// The number can be that of a removed file.
    created: Option<SystemTime>,
}

impl CoveredFile {
    /// Of what is at this path.
    #[expect(clippy::disallowed_methods, reason = "this is the door: which file a mount lies over")]
    pub(super) fn of(path: PathBuf) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        Some(Self { path, device: found.dev(), inode: found.ino(), created: found.created().ok() })
    }

    /// Whether something else is at its path now. If nothing is, there is nothing to be covered.
    pub(super) fn is_replaced(&self) -> bool {
        Self::of(self.path.clone()).is_some_and(|now| now != *self)
    }
}
