//! Which paths are off limits in every root. Pure: judges names only.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::sensitive::{
    ChangedBy, PathKind, below_home, holds_credentials, holds_start_files, in_lower_case, is_credential,
    is_start_file,
};

/// System folders: programs, settings, state, and kernel interfaces.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys",
    "/usr", "/var/lib", "/var/run",
];

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathRefusal {
    /// It belongs to the operating system.
    System {
        /// Its folder.
        folder: &'static str,
    },
    /// It is on a pseudo file system of the kernel.
    Kernel,
    /// Its name is one of credentials.
    Credential,
    /// Its content is a private key.
    PrivateKey,
    /// It is a start file that was requested under another name.
    StartFile,
    /// It is one of our own files.
    Ours,
}

impl fmt::Display for PathRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { folder } => {
                write!(formatter, "lies in the system folder `{folder}`, which is never opened for tools")
            }
            Self::Kernel => formatter.write_str("belongs to the kernel, and is never opened for tools"),
            Self::Credential => formatter.write_str(
                "is a place of credentials, which is never opened for tools; keep what a tool needs under \
                 `toolroom secrets`",
            ),
            Self::PrivateKey => formatter.write_str("holds a private key, and is never opened for tools"),
            Self::StartFile => formatter.write_str(
                "leads to a file that runs code for its owner later, such as a setting of git, a shell or an editor; name \
                 that file itself, without links, so that a person is asked about it",
            ),
            Self::Ours => {
                formatter.write_str("is one of Toolroom's own files, which is never opened for tools")
            }
        }
    }
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Its content is read or written.
    File,
    /// It is listed.
    Folder,
}

/// Judges paths.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    home: Option<PathBuf>,
}

impl Judge {
    /// A judge that also knows this home folder.
    #[must_use]
    pub fn new(home: Option<PathBuf>) -> Self {
        Self { home }
    }

    /// Checks an absolute path without links, below `root`.
    pub fn place(&self, place: &Path, root: &Path, role: Role) -> Result<(), PathRefusal> {
        match system_folder(place) {
            // A root inside a system folder was checked when it was opened.
            Some(folder) if !root.starts_with(folder) => return Err(PathRefusal::System { folder }),
            _ => {}
        }
        self.credentials(place, role)
    }

    /// Checks whether a folder may be a root.
    pub fn root(&self, root: &Path) -> Result<(), PathRefusal> {
        if root.parent().is_none() {
            return Err(PathRefusal::System { folder: "/" });
        }
        if let Some(folder) = system_folder(root) {
            return Err(PathRefusal::System { folder });
        }
        self.credentials(root, Role::Folder)
    }

    /// Checks whether a path is one of credentials.
    pub fn credentials(&self, place: &Path, role: Role) -> Result<(), PathRefusal> {
        let (names, below) = self.names(place);
        let kind = match role {
            Role::File => PathKind::File,
            Role::Folder => PathKind::Folder,
        };
        match is_credential(&names, below.as_deref(), kind) {
            true => Err(PathRefusal::Credential),
            false => Ok(()),
        }
    }

    /// Whether a file at this path is a start file, which runs code for its owner later.
    #[must_use]
    pub fn is_start_file(&self, place: &Path) -> bool {
        let (names, below) = self.names(place);
        is_start_file(&names, below.as_deref(), ChangedBy::ByTool)
    }

    /// Whether this folder holds credentials, by its name.
    #[must_use]
    pub fn holds_credentials(&self, folder: &Path) -> bool {
        let (names, below) = self.names(folder);
        holds_credentials(&names, below.as_deref())
    }

    /// Whether this folder holds start files, by its name.
    #[must_use]
    pub fn holds_start_files(&self, folder: &Path) -> bool {
        let (names, below) = self.names(folder);
        holds_start_files(&names, below.as_deref())
    }

    fn names(&self, place: &Path) -> (Vec<String>, Option<Vec<String>>) {
        (in_lower_case(place), below_home(place, self.home.as_deref()).map(in_lower_case))
    }
}

/// The system folder that contains a path, or is it.
pub(super) fn system_folder(place: &Path) -> Option<&'static str> {
    SYSTEM.iter().copied().find(|folder| place.starts_with(folder))
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
