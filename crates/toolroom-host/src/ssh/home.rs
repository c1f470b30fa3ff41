//! The files of the ssh configuration.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::entry::HostEntry;
use super::error::SshError;
use super::known_host::KnownHost;
use crate::atomic_file::AtomicFile;
use crate::folders::PRIVATE_FILE;
use crate::owner::give_file;
use crate::regular_file::{Links, RegularFile, RegularFileError};
use crate::sandbox::make_home;

/// The configuration file.
const CONFIG: &str = "config";

/// The public keys of hosts.
pub(super) const KNOWN_HOSTS: &str = "known_hosts";

/// Maximum size of our files.
const MAX_BYTES: usize = 1024 * 1024;

/// The ssh configuration in the home folder of commands, never the user's own. Programs may be able to write there, so
/// links are not followed.
#[derive(Debug)]
pub struct SshHome {
    folder: PathBuf,
    /// Serializes changes.
    changing: Mutex<()>,
}

/// What was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedFiles {
    /// The host's block.
    pub config: bool,
    /// The line with its key.
    pub known_hosts: bool,
}

impl SshHome {
    /// In this home folder. Creates nothing yet.
    #[must_use]
    pub fn new(home: &Path) -> Self {
        Self { folder: home.join(".ssh"), changing: Mutex::default() }
    }

    /// The path of the configuration.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.folder.join(CONFIG)
    }

    /// Configures a host for programs of this workspace. Idempotent. Blocks.
    pub fn configure(
        &self,
        entry: &HostEntry,
        key: Option<&KnownHost>,
        workspace: &Path,
    ) -> Result<ChangedFiles, SshError> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        for folder in self.folder.parent().into_iter().chain([self.folder.as_path()]) {
            make_home(folder, workspace)?;
        }
        let folder = self.open()?;
        // The key first: a reachable host always has a known key.
        let known_hosts = match key {
            Some(key) => change(&folder, KNOWN_HOSTS, |known| key.put_into(known))?,
            None => false,
        };
        let config = change(&folder, CONFIG, |config| entry.put_into(config, &self.folder))?;
        Ok(ChangedFiles { config, known_hosts })
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: our own ssh configuration")]
    fn open(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(CWD, &self.folder, flags, Mode::empty())?)
    }
}

/// Changes one file, if the content differs.
fn change(folder: &OwnedFd, name: &'static str, edit: impl FnOnce(&str) -> String) -> Result<bool, SshError> {
    let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()));
    let not_a_file = || SshError::NotAFile { file: name, max: MAX_BYTES };
    let failed = |error| match error {
        RegularFileError::Io(error) => SshError::Io(error),
        RegularFileError::NotRegular | RegularFileError::TooLong => not_a_file(),
    };
    let bytes = match RegularFile::open(&path, Links::Refuse).map_err(failed)? {
        Some(file) => file.read(MAX_BYTES).map_err(failed)?,
        None => Vec::new(),
    };
    let old = String::from_utf8(bytes).map_err(|_| not_a_file())?;
    let new = edit(&old);
    if new == old {
        return Ok(false);
    }
    if new.len() > MAX_BYTES {
        return Err(not_a_file());
    }
    let mode = Mode::from_raw_mode(PRIVATE_FILE);
    let mut staged = AtomicFile::inside(folder.try_clone()?, name.into(), mode).map_err(io::Error::from)?;
    staged.write_all(new.as_bytes())?;
    give_file(&staged.file, folder).map_err(io::Error::from)?;
    staged.publish_over().map_err(io::Error::from)?;
    Ok(true)
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod tests;
