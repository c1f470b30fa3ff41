//! How many files and connections this process may have open.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process have so many open, as far as the machine allows it. Machines start processes with few, for the
/// sake of old programs, and let those that know better ask for more.
///
/// # Errors
/// When the limit cannot be set.
pub fn allow_open_files(wanted: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_none_or(|current| current >= most) {
        return Ok(());
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum })?)
}
