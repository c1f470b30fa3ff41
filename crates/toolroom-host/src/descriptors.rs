//! The limit of open files and connections of this process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files, as far as the hard limit allows. Systems start processes with a low soft limit for
/// the sake of old programs.
///
/// # Errors
/// If the limit cannot be set.
pub fn allow_open_files(wanted: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_none_or(|current| current >= most) {
        return Ok(());
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum })?)
}
