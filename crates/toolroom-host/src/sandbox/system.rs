//! System paths that every program needs.

/// Programs, libraries and their configuration, readable. Missing ones are skipped.
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

/// Harmless devices.
pub(super) const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Private and temporary, where the program has a view of its own.
pub(super) const OWN: [&str; 4] = ["/dev/ptmx", "/dev/pts", "/dev/shm", "/tmp"];

/// Process information.
pub(super) const PROCESSES: &str = "/proc";
