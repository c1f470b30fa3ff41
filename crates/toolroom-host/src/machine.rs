//! Facts about the operating system. They are assessed elsewhere.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use landlock::{LandlockStatus, RestrictSelf};
use rustix::fs::{Access, Stat};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

use crate::control_group::ControlGroup;
use crate::environment::path_variable;

/// 0 if user namespaces are switched off.
const MAX_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";

/// On some distributions only: 0 if user namespaces are reserved for root.
const CLONE: &str = "/proc/sys/kernel/unprivileged_userns_clone";

/// With AppArmor: 1 if an unprofiled program gets a user namespace without rights.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Exists if seccomp filters can be installed.
const SECCOMP_ACTIONS: &str = "/proc/sys/kernel/seccomp/actions_avail";

/// Where core dumps go; a collecting program follows a pipe sign.
const CORE_PATTERN: &str = "/proc/sys/kernel/core_pattern";

/// The machine, and this process on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The release of Linux, such as `6.12.3-arch1-1`.
    pub kernel: String,
    /// The Landlock version; 0 if not available.
    pub landlock_abi: u32,
    /// Whether seccomp filters can be installed.
    pub seccomp: bool,
    /// Whether an unprivileged process may create user namespaces.
    pub user_namespaces: UserNamespaces,
    /// The path of `bwrap`.
    pub bubblewrap: Option<PathBuf>,
    /// Whether the kernel could limit programs as a group.
    pub control_group: ControlGroup,
    /// The year by the wall clock. Whether it is synchronized is not known, because asking needs `unsafe`.
    pub year: i16,
    /// Whether a crash of this process leaves no core dump.
    pub core_dumps_off: bool,
}

/// Whether an unprivileged process may create user namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserNamespaces {
    /// No known obstacle.
    Possible,
    /// Not supported by the kernel.
    Absent,
    /// Forbidden by a setting.
    Forbidden {
        /// The file of the setting.
        by: &'static str,
    },
}

/// Space on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Available to this user.
    pub free_bytes: u64,
    /// Total.
    pub total_bytes: u64,
}

/// The size of a folder, including subfolders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeSize {
    /// Total length of its files.
    pub bytes: u64,
    /// Number of files, links and folders.
    pub entries: u64,
    /// Whether everything was counted.
    pub extent: Extent,
}

/// How much of a folder was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    Whole,
    /// Not everything, or something could not be read.
    Part,
}

impl Machine {
    /// Collects all facts. Changes nothing and starts nothing.
    #[must_use]
    pub fn look() -> Self {
        Self {
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            landlock_abi: landlock_abi(),
            seccomp: proc_text(SECCOMP_ACTIONS).is_some(),
            user_namespaces: user_namespaces(proc_text("/proc/self/uid_map").is_some(), proc_text),
            bubblewrap: on_path("bwrap"),
            control_group: ControlGroup::current(),
            year: year(),
            core_dumps_off: core_dumps_off(),
        }
    }
}

/// The space on the file system of a folder, or of its nearest existing parent.
#[expect(clippy::disallowed_methods, reason = "this is the door: the file system of a folder")]
pub fn space(folder: &Path) -> io::Result<DiskSpace> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let found = rustix::fs::statvfs(there)?;
    Ok(DiskSpace {
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
    })
}

/// The identity of a file. A file that replaces another has a different one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Of the file at `path`; `None` if it does not exist.
    #[expect(clippy::disallowed_methods, reason = "this is the door: which file a path leads to")]
    pub fn from_path(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(found) => Ok(Some(Self { device: found.dev(), inode: found.ino() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Of an open file.
    pub(crate) fn from_stat(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// Pseudo file systems: /proc and /sys.
const KEEPS_NO_FILES: [rustix::fs::FsWord; 2] = [rustix::fs::PROC_SUPER_MAGIC, 0x6265_6572];

/// Fails unless this user may write to a file or folder, or create it if missing.
#[expect(clippy::disallowed_methods, reason = "this is the door: whether a place may be written to")]
pub fn may_write(path: &Path) -> io::Result<()> {
    let there = path.ancestors().find(|place| place.exists()).unwrap_or(path);
    let is_folder = there.metadata()?.is_dir();
    if there != path && !is_folder {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    // Root may write everywhere, but cannot create files on a pseudo file system.
    if KEEPS_NO_FILES.contains(&rustix::fs::statfs(there)?.f_type) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let wanted = if is_folder { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
    Ok(rustix::fs::access(there, wanted)?)
}

/// The size of a folder, counting at most `max_entries` and following no links.
#[expect(clippy::disallowed_methods, reason = "this is the door: the size of a folder")]
pub fn tree_size(folder: &Path, max_entries: u64) -> io::Result<TreeSize> {
    let mut size = TreeSize { bytes: 0, entries: 0, extent: Extent::Whole };
    let mut entries = std::fs::read_dir(folder)?;
    let mut unread = Vec::new();
    loop {
        let Some(entry) = entries.next() else {
            let Some(folder) = unread.pop() else { return Ok(size) };
            match std::fs::read_dir::<PathBuf>(folder) {
                Ok(found) => entries = found,
                Err(_) => size.extent = Extent::Part,
            }
            continue;
        };
        if size.entries == max_entries {
            return Ok(TreeSize { extent: Extent::Part, ..size });
        }
        size.entries += 1;
        match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
            Ok((found, entry)) if found.is_dir() => unread.push(entry.path()),
            Ok((found, _)) if found.is_file() => size.bytes = size.bytes.saturating_add(found.len()),
            Ok(_) => {}
            Err(_) => size.extent = Extent::Part,
        }
    }
}

/// Protects the memory of this process, which holds keys and secrets, from core dumps and other processes of the same
/// user. Root still has access.
///
/// Disables core files, here and in every process started from here, and marks the process as not dumpable: other
/// processes of the same user, such as a tool's shell, can no longer attach to it or read its memory and environment in
/// `/proc`. The same holds for debuggers and profilers. Programs started from here are dumpable again, because `exec`
/// resets the mark.
pub fn disable_core_dumps() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

fn core_dumps_off() -> bool {
    let is_dumpable = rustix::process::dumpable_behavior() != Ok(DumpableBehavior::NotDumpable);
    // The limit applies to files only: a program that collects dumps still gets them.
    let is_collected = proc_text(CORE_PATTERN).is_none_or(|pattern| pattern.starts_with('|'));
    !is_dumpable || (getrlimit(Resource::Core).current == Some(0) && !is_collected)
}

/// An empty ruleset restricts nothing, and reports the version.
fn landlock_abi() -> u32 {
    let status = RestrictSelf::default().no_new_privs(false).apply().map(|status| status.landlock);
    let abi = match status {
        Ok(LandlockStatus::Available { effective_abi, kernel_abi }) => {
            kernel_abi.unwrap_or(effective_abi as i32)
        }
        Ok(LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) | Err(_) => 0,
    };
    u32::try_from(abi).unwrap_or(0)
}

fn user_namespaces(in_kernel: bool, setting: impl Fn(&'static str) -> Option<String>) -> UserNamespaces {
    let says = |file, value: &str| setting(file).is_some_and(|text| text.trim() == value);
    let forbidding = [(MAX_NAMESPACES, "0"), (CLONE, "0"), (APPARMOR, "1")];
    match forbidding.into_iter().find(|(file, value)| says(file, value)) {
        _ if !in_kernel => UserNamespaces::Absent,
        Some((by, _)) => UserNamespaces::Forbidden { by },
        None => UserNamespaces::Possible,
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about the machine")]
fn proc_text(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// The program a shell would start.
#[expect(clippy::disallowed_methods, reason = "this is the door: whether a program is installed")]
fn on_path(program: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let path = path_variable("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|file| {
            file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the door: the wall clock, to be judged and not to be used"
)]
fn year() -> i16 {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).year()
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
