//! Detects changes of a file.

use std::os::fd::AsFd;

use rustix::fs::fstat;
use rustix::io::Errno;

/// The identity, size and times of an open file. Programs cannot set the change time without rights over the clock, so a
/// file with the same stamp has the same content.
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
