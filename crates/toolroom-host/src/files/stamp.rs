//! What tells whether a file is still the one it was.

use std::os::fd::AsFd;

use rustix::fs::fstat;
use rustix::io::Errno;

/// The identity, size and times of an open file. The time of the last change cannot be set by a program without rights
/// over the clock, so a file with the same stamp has the same content.
pub(super) fn stamp(file: &impl AsFd) -> Result<String, Errno> {
    let stat = fstat(file)?;
    Ok(format!(
        "{}:{}:{}:{}.{}:{}.{}",
        stat.st_dev,
        stat.st_ino,
        stat.st_size,
        stat.st_mtime,
        stat.st_mtime_nsec,
        stat.st_ctime,
        stat.st_ctime_nsec
    ))
}
