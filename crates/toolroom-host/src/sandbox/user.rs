//! The user programs run as, if we are root.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{Gid, Uid};
use rustix::thread::CapabilitySets;
use serde::{Deserialize, Serialize};

use crate::folders::make_private;
use crate::owner::give_to;

/// The user `nobody`, who owns nothing.
const NOBODY: u32 = 65_534;

/// A user id and a group id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// Its only group.
    pub gid: u32,
}

impl User {
    /// The user `nobody`.
    pub const NOBODY: Self = Self { uid: NOBODY, gid: NOBODY };

    /// The user for programs in this folder if we are root: the owner of the folder, so that the program can access its files
    /// and the owner can change the program's. `nobody` if the owner is root.
    #[expect(clippy::disallowed_methods, reason = "this is the door: who owns a folder")]
    pub(super) fn of_folder(folder: &Path) -> io::Result<Self> {
        let found = folder.metadata()?;
        let is_root = found.uid() == 0;
        let gid = if found.gid() == 0 { NOBODY } else { found.gid() };
        Ok(if is_root { Self::NOBODY } else { Self { uid: found.uid(), gid } })
    }

    /// The current user.
    pub(super) fn ourselves() -> Self {
        Self { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// Whether it may create files in this folder, by its permission bits.
    pub(super) fn may_write(self, folder: &Path) -> io::Result<bool> {
        Ok(self.rights(folder)? & 0b011 == 0b011)
    }

    /// Whether it may enter this folder.
    pub(super) fn may_enter(self, folder: &Path) -> io::Result<bool> {
        Ok(self.rights(folder)? & 0b001 == 0b001)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: who may do what in a folder")]
    fn rights(self, folder: &Path) -> io::Result<u32> {
        let found = folder.metadata()?;
        let shift = match (found.uid() == self.uid, found.gid() == self.gid) {
            (true, _) => 6,
            (false, true) => 3,
            (false, false) => 0,
        };
        Ok(found.mode() >> shift)
    }

    /// Becomes this user irrevocably, dropping all rights.
    pub(crate) fn assume(self) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        rustix::thread::set_thread_groups(&[gid])?;
        rustix::thread::set_thread_res_gid(Some(gid), Some(gid), Some(gid))?;
        rustix::thread::set_thread_res_uid(Some(uid), Some(uid), Some(uid))?;
        let none = rustix::thread::CapabilitySet::empty();
        rustix::thread::clear_ambient_capability_set()?;
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        Ok(rustix::thread::set_capabilities(None, sets)?)
    }
}

/// Whether we are root.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Creates the home folder, or a folder in it, if missing. If we are root, it gets the owner that programs of this
/// workspace run as. Blocks.
pub fn make_home(home: &Path, workspace: &Path) -> io::Result<()> {
    make_private(home)?;
    Ok(give_to(User::of_folder(workspace)?, home)?)
}
