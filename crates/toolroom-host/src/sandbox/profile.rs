//! What a program may touch.

use std::path::PathBuf;

/// What a program may touch, beside what everybody may: reading the system's own folders, and a `/tmp` of its own that
/// is gone when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Folders it may change. Files in them that other programs run are kept from being changed, and those that hold
    /// credentials from being read, where the level can do that.
    pub writable: Vec<PathBuf>,
    /// Folders and files it may read beside the system's.
    pub readable: Vec<PathBuf>,
    /// What is not there for it, wherever it is: our data, and whatever else must not be read inside a folder above.
    pub hidden: Vec<PathBuf>,
    /// Credentials in these folders that programs may read all the same, by their names (`.env`, `.aws/config`); `*` is all.
    pub programs_read: Vec<String>,
    /// Its home: a folder of its own that stays. `None` is one that is gone when it ends.
    pub home: Option<PathBuf>,
    /// Whom it may talk to.
    pub network: Network,
    /// How much fits into what is gone when it ends, half of it into `/tmp` and half into `/dev/shm`, where the level can
    /// hold that.
    pub temporary_bytes: u64,
}

/// Whom a program may talk to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Nobody.
    Off,
    /// Whoever the proxy behind this socket lets it. Needs [`super::Level::Namespaces`].
    Proxy {
        /// Where our proxy listens.
        socket: PathBuf,
    },
}

impl Profile {
    /// Nothing but the system.
    #[must_use]
    pub fn bare() -> Self {
        Self {
            writable: Vec::new(),
            readable: Vec::new(),
            hidden: Vec::new(),
            programs_read: Vec::new(),
            home: None,
            network: Network::Off,
            temporary_bytes: 2 * 1024 * 1024 * 1024,
        }
    }

    /// May change this folder.
    #[must_use]
    pub fn workspace(folder: impl Into<PathBuf>) -> Self {
        Self { writable: vec![folder.into()], ..Self::bare() }
    }

    /// May read this folder and change nothing.
    #[must_use]
    pub fn read_only(folder: impl Into<PathBuf>) -> Self {
        Self { readable: vec![folder.into()], ..Self::bare() }
    }
}
