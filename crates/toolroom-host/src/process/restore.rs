//! Restores protected files. Every step is relative to an open folder, so that links left by a program lead nowhere.
//! Obstacles are renamed, not removed, because another program may have created them.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::snapshot::{Snapshot, SnapshotContent, SnapshotEntry, Snapshots};

/// Prefix of files that were in the way.
pub(super) const SET_ASIDE: &[u8] = b"set-aside-";

/// All permissions of an owner.
const OWNERS: u32 = 0o700;

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Snapshots {
    /// Restores changed files. Returns whether any had changed. Errors do not stop the others.
    pub(super) fn put_back(&self) -> bool {
        let mut is_any = false;
        for old_content in self.kept.iter().filter(|old_content| old_content.is_changed()) {
            is_any = true;
            // The caller is notified in any case.
            drop(old_content.put_back());
        }
        is_any
    }
}

impl Snapshot {
    pub(super) fn put_back(&self) -> io::Result<()> {
        let mut folder = open(CWD, self.folder.as_os_str())?;
        let Some(name) = self.path.file_name() else { return Ok(()) };
        for part in self.path.parent().into_iter().flat_map(Path::iter) {
            folder = match open(folder.as_fd(), part) {
                Ok(inner) => inner,
                // Nothing existed here, so nothing can exist below.
                Err(Errno::NOENT) if self.was.is_none() => return Ok(()),
                Err(Errno::NOENT) => make_folder(folder.as_fd(), part)?,
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    set_aside(folder.as_fd(), part)?;
                    make_folder(folder.as_fd(), part)?
                }
                Err(error) => return Err(error.into()),
            };
        }
        set_aside(folder.as_fd(), name)?;
        self.was.as_ref().map_or(Ok(()), |was| was.make(folder.as_fd(), name))
    }
}

impl SnapshotEntry {
    /// Creates it again.
    #[expect(clippy::disallowed_methods, reason = "this is the door: a protected file is made again")]
    #[expect(clippy::disallowed_types, reason = "this is the door: a protected file is made again")]
    fn make(&self, folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        match &self.content {
            SnapshotContent::File(bytes) => {
                let flags =
                    OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut file =
                    std::fs::File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?);
                file.write_all(bytes)?;
                self.dress(file.as_fd())
            }
            SnapshotContent::Folder(children) => {
                let inner = make_folder(folder, name)?;
                for (name, child) in children {
                    child.make(inner.as_fd(), name)?;
                }
                self.dress(inner.as_fd())
            }
            SnapshotContent::Link(target) => Ok(rustix::fs::symlinkat(target, folder, name)?),
            SnapshotContent::Other => Ok(()),
        }
    }

    /// Restores owner, if permitted, and mode.
    fn dress(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        let (uid, gid) = self.look.owner;
        match rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))) {
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(self.look.mode))?)
    }
}

/// Opens a folder for changes, even if a program removed the owner's permissions.
#[expect(clippy::disallowed_methods, reason = "this is the door: a folder with a protected file")]
fn open(above: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let found = rustix::fs::openat(above, name, FOLDER.union(OFlags::PATH), Mode::empty())?;
    let mode = rustix::fs::fstat(&found)?.st_mode;
    if mode & OWNERS != OWNERS {
        // Through the descriptor, because a path can be redirected. A missing right is reported below.
        let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
        let _ = rustix::fs::chmod(itself, Mode::from_raw_mode(mode | OWNERS));
    }
    rustix::fs::openat(&found, ".", FOLDER, Mode::empty())
}

/// Changes the mode of a folder at or below `root`, and returns the old one.
#[expect(clippy::disallowed_methods, reason = "this is the door: a folder that cannot be looked into")]
pub(crate) fn change_mode(root: &Path, folder: &Path, change: impl Fn(u32) -> u32) -> io::Result<u32> {
    let mut found = rustix::fs::openat(CWD, root, FOLDER.union(OFlags::PATH), Mode::empty())?;
    for part in folder.strip_prefix(root).map_err(io::Error::other)? {
        found = rustix::fs::openat(&found, part, FOLDER.union(OFlags::PATH), Mode::empty())?;
    }
    let mode = rustix::fs::fstat(&found)?.st_mode & 0o7777;
    // Through the descriptor, because a path can be redirected.
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    rustix::fs::chmod(itself, Mode::from_raw_mode(change(mode)))?;
    Ok(mode)
}

#[expect(clippy::disallowed_methods, reason = "this is the door: a protected folder is made again")]
fn make_folder(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700))?;
    Ok(rustix::fs::openat(folder, name, FOLDER, Mode::empty())?)
}

/// Renames an obstacle, so that nothing runs or obeys it any more.
#[expect(clippy::disallowed_methods, reason = "this is the door: what is in the place of a protected file")]
fn set_aside(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => {}
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    let mut random = [0; 6];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut aside = OsStr::from_bytes(SET_ASIDE).to_owned();
    aside.push(OsStr::from_bytes(name.as_bytes().strip_prefix(b".").unwrap_or(name.as_bytes())));
    aside.push(format!("-{}", hex::encode(random)));
    Ok(rustix::fs::renameat(folder, name, folder, &aside)?)
}
