//! The parts of a system that every program needs.

/// Programs, libraries and their settings, to be read. Those that a machine lacks are left out.
pub(super) const FOLDERS: [&str; 13] = [
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/sbin",
    "/sys/devices/system",
    "/usr",
    "/var/lib/ca-certificates",
];

/// Devices without memory of anything.
pub(super) const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// What is its own, and gone with it, where it has a view of its own.
pub(super) const OWN: [&str; 4] = ["/dev/ptmx", "/dev/pts", "/dev/shm", "/tmp"];

/// The kernel's word about processes.
pub(super) const PROCESSES: &str = "/proc";
