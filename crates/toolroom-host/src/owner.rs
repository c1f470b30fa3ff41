//! Ownership of files made for programs, when running as root.
//!
//! Sandboxed programs never run as root. They can use a workspace only if it belongs to the user they run as, and files
//! only if these belong to the owner of the surrounding folder.
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Uid, chownat, fchown, fstat};
use rustix::io::Errno;

use crate::sandbox::User;

/// Gives a workspace we made in a folder of root to the user programs run as.
pub(crate) fn give_to_programs(folder: &Path) -> Result<(), Errno> {
    give_to(User::NOBODY, folder)
}

/// Changes the owner of a folder, if we are root.
#[expect(clippy::disallowed_methods, reason = "this is the door: a folder that we made for programs")]
pub(crate) fn give_to(User { uid, gid }: User, folder: &Path) -> Result<(), Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owner = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
    chownat(CWD, folder, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)
}

/// Gives a new file to the owner of its folder.
pub(crate) fn give_file(file: impl AsFd, folder: impl AsFd) -> Result<(), Errno> {
    match owner_below_root(folder)? {
        Some((uid, gid)) => fchown(file, Some(uid), Some(gid)),
        None => Ok(()),
    }
}

/// Gives a new folder to the owner of its parent.
#[expect(clippy::disallowed_methods, reason = "this is the door: folders in a workspace")]
pub(crate) fn give_folder(name: &str, folder: impl AsFd) -> Result<(), Errno> {
    match owner_below_root(folder.as_fd())? {
        Some((uid, gid)) => chownat(folder, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW),
        None => Ok(()),
    }
}

/// The owner of a folder, if we are root and it is another user.
fn owner_below_root(folder: impl AsFd) -> Result<Option<(Uid, Gid)>, Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let found = fstat(folder)?;
    let owner = (Uid::from_raw(found.st_uid), Gid::from_raw(found.st_gid));
    Ok((!owner.0.is_root()).then_some(owner))
}
