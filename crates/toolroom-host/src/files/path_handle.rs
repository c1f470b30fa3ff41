//! A file that was found and examined, and is not open yet.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, open, openat, readlinkat};
use rustix::io::Errno;

/// Pseudo file systems besides /proc: sysfs, debugfs, tracefs, securityfs, both cgroup versions, and efivarfs. Their files
/// have no stored content, and writing to them is a command.
const KERNEL_FILE_SYSTEMS: [i64; 7] =
    [0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270, 0xde5e_81e4];

/// The kernel appends this to the path of a deleted file.
const LOST: &[u8] = b" (deleted)";

/// An `O_PATH` descriptor with its metadata.
#[derive(Debug)]
pub(super) struct PathHandle {
    found: OwnedFd,
    pub(super) stat: Stat,
    /// Its real path, without links.
    pub(super) place: PathBuf,
}

impl PathHandle {
    pub(super) fn at(found: OwnedFd) -> Result<Self, Errno> {
        let place = place_of(&found)?;
        let stat = fstat(&found)?;
        Ok(Self { found, stat, place })
    }

    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(super) fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or_default()
    }

    /// Its kind, for messages.
    pub(super) fn kind_name(&self) -> &'static str {
        match self.kind() {
            FileType::RegularFile => "a file",
            FileType::Directory => "a folder",
            FileType::Symlink => "a symbolic link",
            FileType::Fifo => "a pipe",
            FileType::Socket => "a socket",
            FileType::CharacterDevice | FileType::BlockDevice => "a device",
            FileType::Unknown => "something unknown",
        }
    }

    /// Whether it is on a pseudo file system.
    pub(super) fn is_made_by_the_kernel(&self) -> Result<bool, Errno> {
        let magic = fstatfs(&self.found)?.f_type;
        Ok(magic == PROC_SUPER_MAGIC || KERNEL_FILE_SYSTEMS.contains(&magic))
    }

    /// Opens exactly this file, even if its name now belongs to another.
    #[expect(clippy::disallowed_methods, reason = "this is the door: what was looked at")]
    pub(super) fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let safe = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(descriptors()?, self.found.as_raw_fd().to_string(), flags | safe, Mode::empty())
    }
}

impl AsFd for PathHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.found.as_fd()
    }
}

/// The folder through which descriptors are reopened. Without it nothing can be judged, and nothing is opened.
#[expect(clippy::disallowed_methods, reason = "this is the door: what was looked at")]
fn descriptors() -> Result<BorrowedFd<'static>, Errno> {
    static DESCRIPTORS: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(folder) = DESCRIPTORS.get() {
        return Ok(folder.as_fd());
    }
    let folder = open("/proc/self/fd", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let folder = folder.map_err(|_| Errno::NOSYS)?;
    // In a container, users could mount another file system there.
    if fstatfs(&folder)?.f_type != PROC_SUPER_MAGIC {
        return Err(Errno::NOSYS);
    }
    Ok(DESCRIPTORS.get_or_init(|| folder).as_fd())
}

#[expect(clippy::disallowed_methods, reason = "this is the door: the real name of what was found")]
fn place_of(found: &OwnedFd) -> Result<PathBuf, Errno> {
    let place = readlinkat(descriptors()?, found.as_raw_fd().to_string(), Vec::new())?.into_bytes();
    // A file without a path to judge, such as a pipe or a file in another mount namespace.
    match place.starts_with(b"/") {
        true => Ok(PathBuf::from(OsString::from_vec(place))),
        false => Err(Errno::NOENT),
    }
}

/// The path before the deletion, if the kernel reports one; a real name may also end like this.
pub(super) fn name_before_loss(place: &Path) -> Option<PathBuf> {
    let before = place.as_os_str().as_bytes().strip_suffix(LOST)?;
    Some(PathBuf::from(OsStr::from_bytes(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
    fn look(path: &Path) -> PathHandle {
        PathHandle::at(open(path, OFlags::PATH, Mode::empty()).unwrap()).unwrap()
    }

    #[test]
    fn pseudo_files_are_told_from_real_files() {
        for made_up in ["/proc/self/status", "/sys/kernel"] {
            assert_eq!(look(Path::new(made_up)).is_made_by_the_kernel(), Ok(true), "{made_up}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(look(folder.path()).is_made_by_the_kernel(), Ok(false));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
    fn a_path_is_the_real_one_even_after_deletion() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join(".env"), folder.path().join("notes.txt"));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let found = look(&link);
        assert_eq!((found.place.as_path(), name_before_loss(&found.place)), (file.as_path(), None));
        let found = open(&link, OFlags::PATH, Mode::empty()).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(name_before_loss(&PathHandle::at(found).unwrap().place), Some(file));
    }
}
