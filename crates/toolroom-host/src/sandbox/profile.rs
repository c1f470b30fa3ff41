//! What a program may access.

use std::path::PathBuf;

/// What a program may access, besides the readable system folders and a private `/tmp` that is deleted after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Writable folders. Start files in them are read-only, and credentials unreadable, where the level supports it.
    pub writable: Vec<PathBuf>,
    /// Readable folders and files besides the system's.
    pub readable: Vec<PathBuf>,
    /// Paths that do not exist for it: our data, and other exceptions inside the folders above.
    pub hidden: Vec<PathBuf>,
    /// Readable credentials in these folders, by name (`.env`, `.aws/config`); `*` is all.
    pub programs_read: Vec<String>,
    /// A persistent home folder of its own; `None` for a temporary one.
    pub home: Option<PathBuf>,
    /// Its network access.
    pub network: Network,
    /// Size limit of temporary files, half in `/tmp` and half in `/dev/shm`, where the level supports it.
    pub temporary_bytes: u64,
}

/// The network access of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// None.
    Off,
    /// The hosts allowed by the proxy at this socket. Needs [`super::Level::Namespaces`].
    Proxy {
        /// The socket of our proxy.
        socket: PathBuf,
    },
}

impl Profile {
    /// Only the system folders.
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

    /// This folder is writable.
    #[must_use]
    pub fn workspace(folder: impl Into<PathBuf>) -> Self {
        Self { writable: vec![folder.into()], ..Self::bare() }
    }

    /// This folder is read-only.
    #[must_use]
    pub fn read_only(folder: impl Into<PathBuf>) -> Self {
        Self { readable: vec![folder.into()], ..Self::bare() }
    }
}
