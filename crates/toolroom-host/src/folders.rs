//! Where configuration and data live.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::environment::path_variable;
use crate::owner::give_to_programs;

/// Overrides every folder: all of them become this one.
pub const HOME_VARIABLE: &str = "TOOLROOM_HOME";

/// The name of every configuration file.
pub const CONFIGURATION: &str = "toolroom.toml";

/// Where [`Folders`] are in a home unless variables say otherwise.
pub(crate) const IN_A_HOME: [&str; 2] = [".config/toolroom", ".local/share/toolroom"];

/// Others on the machine have no business in our folders,
pub(crate) const PRIVATE_FOLDER: u32 = 0o700;

/// nor in our files, wherever they are.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// What group and others may do.
pub(crate) const OTHERS: u32 = 0o077;

/// The folders of one user, by the XDG base directory specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// What the user writes.
    pub config: PathBuf,
    /// What must not be lost.
    pub data: PathBuf,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FoldersError {
    /// Nothing says where the user's folders are.
    #[error(
        "neither `{HOME_VARIABLE}` nor `HOME` is set, so there is no place for data; set `{HOME_VARIABLE}`"
    )]
    NoHome,
    /// A relative folder would be another one in each directory.
    #[error("`{variable}` is `{}`, which is not an absolute path; write the whole path, from `/` on", path.display())]
    Relative {
        /// The variable.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// There is no room for the file.
    #[error("cannot create `{}`: its disk is full; delete other files there, then try again", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file, or its folder, could not be made.
    #[error("cannot create `{}`; set `{HOME_VARIABLE}` to a folder you may write to", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
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
    /// The folders this process's environment names. Creates nothing.
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

    /// A file in the data folder. Folder and file are made if they are missing, for their owner only, so that what
    /// a library writes into the file is nobody else's to read.
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: our own folders"
    )]
    pub fn private_file(&self, name: &str) -> Result<PathBuf, FoldersError> {
        // Nearly always it is there; a look is cheaper than a failed attempt to create it.
        let path = self.data.join(name);
        if let Ok(found) = path.metadata() {
            let mode = found.permissions().mode();
            if mode & OTHERS != 0 && found.is_file() {
                // A file that was there before may be somebody else's to change; then it stays as it is.
                drop(std::fs::set_permissions(&path, Permissions::from_mode(mode & !OTHERS)));
            }
            return Ok(path);
        }
        let failed = |source| FoldersError::create(&path, source);
        make_private(&self.data).map_err(failed)?;
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&path) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(path),
            Err(error) => Err(failed(error)),
            Ok(_) => Ok(path),
        }
    }

    /// Where a file of the configuration folder belongs. The folder is made if it is missing, the file is not.
    pub fn config_file(&self, name: &str) -> Result<PathBuf, FoldersError> {
        let path = self.config.join(name);
        match make_private(&self.config) {
            Ok(()) => Ok(path),
            Err(source) => Err(FoldersError::create(&path, source)),
        }
    }

    /// The data folder, made if it is missing.
    pub fn data_folder(&self) -> Result<&Path, FoldersError> {
        make_private(&self.data).map_err(|source| FoldersError::create(&self.data, source))?;
        Ok(&self.data)
    }
}

/// Makes a folder for its owner only, and those above it that are missing. One that is there stays as it is.
#[expect(clippy::disallowed_types, reason = "this is the door: our own folders")]
pub fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder)
}

/// Makes our own workspace, for whom programs become in it. One that is there stays as it is.
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

/// Removes a folder of ours with all that is in it; one that is not there is no error. Links in it are not followed.
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
    fn a_place_that_is_no_place_is_refused() {
        assert!(matches!(resolve(&[]), Err(FoldersError::NoHome)));
        let error = resolve(&[("TOOLROOM_HOME", "here")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`TOOLROOM_HOME` is `here`, which is not an absolute path; write the whole path, from `/` on"
        );
    }

    #[test]
    fn a_full_disk_is_no_matter_of_permissions() {
        let error = FoldersError::create(Path::new("/t/x"), io::ErrorKind::StorageFull.into());
        assert!(error.to_string().contains("`/t/x`: its disk is full"), "{error}");
        let error = FoldersError::create(Path::new("/t/x"), io::ErrorKind::PermissionDenied.into());
        assert!(error.to_string().contains("set `TOOLROOM_HOME`"), "{error}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
    fn the_place_of_a_configuration_file_is_made_and_the_file_is_not() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { config: home.path().join("a/b"), data: home.path().join("data") };
        let path = folders.config_file("toolroom.toml").unwrap();
        assert_eq!(path, home.path().join("a/b/toolroom.toml"));
        assert!(!path.exists() && !folders.data.exists());
        assert_eq!(folders.config.metadata().unwrap().permissions().mode() & 0o777, PRIVATE_FOLDER);
        folders.config_file("toolroom.toml").unwrap();
    }
}
