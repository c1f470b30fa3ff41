//! Which places are nobody's business here, whatever root covers them. Pure: it looks at names, not at files.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::credentials::{IN_A_HOME, is_credential_name, leads_to_credentials, leads_to_one_of};

/// Folders of the system: its programs, its settings, its state, and the kernel itself.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys",
    "/usr", "/var/lib", "/var/run",
];

/// Folders in which every folder is somebody's home.
const HOMES: &[&str] = &["/home", "/var/home"];

/// The same on a drive of Windows, which WSL mounts under its letter.
const DRIVES: &str = "/mnt";
const HOMES_OF_A_DRIVE: &str = "users";

/// Root's own home.
const ROOT_HOME: &str = "/root";

/// Why something is not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It belongs to the operating system.
    System {
        /// Its folder.
        folder: &'static str,
    },
    /// The kernel makes up what it says.
    Kernel,
    /// Its name says that it holds credentials.
    Credential,
    /// Its content is a private key.
    PrivateKey,
    /// It is one of our own files.
    Ours,
}

impl fmt::Display for Refusal {
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
            Self::Ours => {
                formatter.write_str("is one of Toolroom's own files, which is never opened for tools")
            }
        }
    }
}

/// What a place is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Its content is wanted.
    File,
    /// The names in it are wanted.
    Folder,
}

/// Knows which places are refused.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    home: Option<PathBuf>,
}

impl Judge {
    /// With this home, besides those that can be seen by their names.
    #[must_use]
    pub fn new(home: Option<PathBuf>) -> Self {
        Self { home }
    }

    /// Whether something at this place may be opened: an absolute path without links, below `root`.
    pub fn place(&self, place: &Path, root: &Path, role: Role) -> Result<(), Refusal> {
        match system_folder(place) {
            // Whoever opened a root inside a system folder was judged then.
            Some(folder) if !root.starts_with(folder) => return Err(Refusal::System { folder }),
            _ => {}
        }
        self.credentials(place, role)
    }

    /// Whether a folder may be opened as a root.
    pub fn root(&self, root: &Path) -> Result<(), Refusal> {
        if root.parent().is_none() {
            return Err(Refusal::System { folder: "/" });
        }
        if let Some(folder) = system_folder(root) {
            return Err(Refusal::System { folder });
        }
        self.credentials(root, Role::Folder)
    }

    /// Whether a place is one of credentials.
    pub fn credentials(&self, place: &Path, role: Role) -> Result<(), Refusal> {
        let names = names_of(place);
        let is_credential_file =
            || role == Role::File && names.last().is_some_and(|name| is_credential_name(name));
        let in_home =
            || self.below_home(place).is_some_and(|rest| leads_to_one_of(IN_A_HOME, &names_of(rest)));
        match leads_to_credentials(&names) || is_credential_file() || in_home() {
            true => Err(Refusal::Credential),
            false => Ok(()),
        }
    }

    /// What follows the home a place lies in.
    fn below_home<'a>(&self, place: &'a Path) -> Option<&'a Path> {
        if let Some(rest) = self.home.as_deref().and_then(|home| place.strip_prefix(home).ok()) {
            return Some(rest);
        }
        if let Ok(rest) = place.strip_prefix(ROOT_HOME) {
            return Some(rest);
        }
        let homes = || HOMES.iter().find_map(|homes| place.strip_prefix(homes).ok());
        let below = homes().or_else(|| below_homes_of_a_drive(place))?;
        let mut names = below.components();
        names.next()?;
        Some(names.as_path())
    }
}

fn below_homes_of_a_drive(place: &Path) -> Option<&Path> {
    let mut names = place.strip_prefix(DRIVES).ok()?.components();
    names.next().filter(|drive| drive.as_os_str().len() == 1)?;
    names.next().filter(|homes| homes.as_os_str().eq_ignore_ascii_case(HOMES_OF_A_DRIVE))?;
    Some(names.as_path())
}

/// The system folder a place lies in, or is.
pub(super) fn system_folder(place: &Path) -> Option<&'static str> {
    SYSTEM.iter().copied().find(|folder| place.starts_with(folder))
}

/// The names of a path in lower case. What is not UTF-8 is no name we know, and keeps its place.
fn names_of(place: &Path) -> Vec<String> {
    let names = place.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
