//! The configuration and data folders.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::environment::path_variable;
use crate::owner::give_to_programs;

/// Overrides both folders.
pub const HOME_VARIABLE: &str = "TOOLROOM_HOME";

/// The name of every configuration file.
pub const CONFIGURATION: &str = "toolroom.toml";

/// The default [`Folders`] in a home folder.
pub(crate) const IN_A_HOME: [&str; 2] = [".config/toolroom", ".local/share/toolroom"];

/// Mode of our folders: no access for other users.
pub(crate) const PRIVATE_FOLDER: u32 = 0o700;

/// Mode of our files, in any folder.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// The permission bits of group and others.
pub(crate) const OTHERS: u32 = 0o077;

/// The folders of one user, by the XDG base directory specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Configuration, written by the user.
    pub config: PathBuf,
    /// Data.
    pub data: PathBuf,
}

/// Why the folders cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FoldersError {
    /// No variable names a folder.
    #[error(
        "neither `{HOME_VARIABLE}` nor `HOME` is set, so there is no place for data; set `{HOME_VARIABLE}`"
    )]
    NoHome,
    /// A relative path depends on the working folder.
    #[error("`{variable}` is `{}`, which is not an absolute path; write the whole path, from `/` on", path.display())]
    Relative {
        /// The variable.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("cannot create `{}`: its disk is full; delete other files there, then try again", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// A file or its folder could not be created.
    #[error("cannot create `{}`; set `{HOME_VARIABLE}` to a folder you may write to", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

impl FoldersError {
    fn create(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Create { path, source },
        }
    }
}

impl Folders {
    /// The folders according to the environment. Creates nothing.
    pub fn from_environment() -> Result<Self, FoldersError> {
        Self::resolve(path_variable)
    }

    fn resolve(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, FoldersError> {
        if let Some(home) = variable(HOME_VARIABLE) {
            let home = absolute(HOME_VARIABLE, home)?;
            return Ok(Self { config: home.clone(), data: home });
        }
        let folder = |name: &'static str, fallback: &str| match variable(name) {
            // The specification says to ignore relative values of its own variables.
            Some(value) if value.is_absolute() => Ok(value.join("toolroom")),
            _ => {
                let home = variable("HOME").ok_or(FoldersError::NoHome)?;
                Ok(absolute("HOME", home)?.join(fallback).join("toolroom"))
            }
        };
        Ok(Self {
            config: folder("XDG_CONFIG_HOME", ".config")?,
            data: folder("XDG_DATA_HOME", ".local/share")?,
        })
    }

    /// A file in the data folder. Creates it and the folder if missing, with private modes, so that content written by a
    /// library is private too.
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: our own folders"
    )]
    pub fn private_file(&self, name: &str) -> Result<PathBuf, FoldersError> {
        // Usually it exists; a lookup is cheaper than a failed attempt to create it.
        let path = self.data.join(name);
        if let Ok(found) = path.metadata() {
            let mode = found.permissions().mode();
            if mode & OTHERS != 0 && found.is_file() {
                // An existing file may belong to another user; then its mode stays.
                drop(std::fs::set_permissions(&path, Permissions::from_mode(mode & !OTHERS)));
            }
            return Ok(path);
        }
        let failed = |source| FoldersError::create(&path, source);
        make_private(&self.data).map_err(failed)?;
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&path) {
            // Another process created it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(path),
            Err(error) => Err(failed(error)),
            Ok(_) => Ok(path),
        }
    }

    /// The path of a file in the configuration folder. Creates the folder, not the file.
    pub fn config_file(&self, name: &str) -> Result<PathBuf, FoldersError> {
        let path = self.config.join(name);
        match make_private(&self.config) {
            Ok(()) => Ok(path),
            Err(source) => Err(FoldersError::create(&path, source)),
        }
    }

    /// The data folder, created if missing.
    pub fn data_folder(&self) -> Result<&Path, FoldersError> {
        make_private(&self.data).map_err(|source| FoldersError::create(&self.data, source))?;
        Ok(&self.data)
    }
}

/// Creates a private folder and missing parents. An existing one is unchanged.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folders")]
pub fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder)
}

/// Creates our own workspace for the user that sandboxed programs run as. An existing one is unchanged.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folders")]
pub fn make_workspace(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        make_private(above)?;
    }
    match std::fs::DirBuilder::new().mode(PRIVATE_FOLDER).create(folder) {
        Ok(()) => Ok(give_to_programs(folder)?),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes a folder of ours with its content; a missing one is not an error. Links in it are not followed.
#[expect(clippy::disallowed_methods, reason = "this is the door: our own folders")]
pub fn remove_private(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn absolute(variable: &'static str, path: PathBuf) -> Result<PathBuf, FoldersError> {
    if path.is_absolute() { Ok(path) } else { Err(FoldersError::Relative { variable, path }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Result<Folders, FoldersError> {
        Folders::resolve(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
        })
    }

    #[test]
    fn folders_follow_xdg_and_one_override() {
        let check = |variables: &[(&str, &str)], config: &str, data: &str| {
            let folders = resolve(variables).unwrap();
            assert_eq!((folders.config.to_str(), folders.data.to_str()), (Some(config), Some(data)));
        };
        check(&[("HOME", "/home/ann")], "/home/ann/.config/toolroom", "/home/ann/.local/share/toolroom");
        check(
            &[("HOME", "/home/ann"), ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "relative")],
            "/c/toolroom",
            "/home/ann/.local/share/toolroom",
        );
        check(&[("TOOLROOM_HOME", "/t"), ("HOME", "/home/ann"), ("XDG_DATA_HOME", "/d")], "/t", "/t");
    }

    #[test]
    fn a_relative_folder_is_refused() {
        assert!(matches!(resolve(&[]), Err(FoldersError::NoHome)));
        let error = resolve(&[("TOOLROOM_HOME", "here")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`TOOLROOM_HOME` is `here`, which is not an absolute path; write the whole path, from `/` on"
        );
    }

    #[test]
    fn a_full_disk_is_not_reported_as_a_permission_problem() {
        let error = FoldersError::create(Path::new("/t/x"), io::ErrorKind::StorageFull.into());
        assert!(error.to_string().contains("`/t/x`: its disk is full"), "{error}");
        let error = FoldersError::create(Path::new("/t/x"), io::ErrorKind::PermissionDenied.into());
        assert!(error.to_string().contains("set `TOOLROOM_HOME`"), "{error}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
    fn the_configuration_folder_is_created_but_not_the_file() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { config: home.path().join("a/b"), data: home.path().join("data") };
        let path = folders.config_file("toolroom.toml").unwrap();
        assert_eq!(path, home.path().join("a/b/toolroom.toml"));
        assert!(!path.exists() && !folders.data.exists());
        assert_eq!(folders.config.metadata().unwrap().permissions().mode() & 0o777, PRIVATE_FOLDER);
        folders.config_file("toolroom.toml").unwrap();
    }
}
