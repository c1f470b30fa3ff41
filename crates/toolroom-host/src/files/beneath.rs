//! Follows a path below a folder without leaving it.
//!
//! The result is an `O_PATH` descriptor, which opens nothing: no device is touched, no pipe blocks. The kernel follows
//! links that stay below the folder (`openat2`); where it cannot (before Linux 5.6, or blocked by a filter), names are
//! walked one by one and every link is refused.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

/// The kernel fails when folders are renamed during `..`; then it is asked again.
const MAX_ATTEMPTS: usize = 16;

/// How a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Following {
    /// By the kernel, or name by name where it cannot.
    #[default]
    Kernel,
    /// Name by name.
    Walk,
}

/// How a link in the last position is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Follow,
    /// It is the result.
    Keep,
}

/// Finds `names` below `folder`. [`Errno::XDEV`] means that they lead out of it.
#[expect(clippy::disallowed_methods, reason = "this is the door: files below a folder")]
pub(super) fn find(
    folder: BorrowedFd<'_>,
    names: &[&str],
    last: LastLink,
    following: Following,
) -> Result<OwnedFd, Errno> {
    if following == Following::Walk {
        return walk(folder, names, last);
    }
    let path = if names.is_empty() { ".".to_owned() } else { names.join("/") };
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, last == LastLink::Keep);
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..MAX_ATTEMPTS {
        match openat2(folder, path.as_str(), flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // A filter may return either. Walking is stricter, so it is the safe fallback.
            Err(Errno::NOSYS | Errno::PERM) => return walk(folder, names, last),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

#[expect(clippy::disallowed_methods, reason = "this is the door: files below a folder")]
fn walk(folder: BorrowedFd<'_>, names: &[&str], last: LastLink) -> Result<OwnedFd, Errno> {
    let step = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // `..` goes back along the walked folders: a folder moved meanwhile has another parent.
    let mut way: Vec<OwnedFd> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if *name == ".." {
            way.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        let here = way.last().map_or(folder, AsFd::as_fd);
        let found = openat(here, *name, step, Mode::empty())?;
        let is_last = index + 1 == names.len();
        if kind(&found)? == FileType::Symlink && !(is_last && last == LastLink::Keep) {
            return Err(Errno::LOOP);
        }
        way.push(found);
    }
    match way.pop() {
        Some(found) => Ok(found),
        None => openat(folder, ".", step, Mode::empty()),
    }
}

fn kind(found: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(fstat(found)?.st_mode))
}
