//! Finds and reads configuration files, and merges their layers.

pub(super) mod layers;
pub(super) mod load;
pub(super) mod origin;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::sandbox::is_unconfirmed;
use toolroom_host::text_file::{self, SkippedFile, TextFileError, UpwardSearch};
use toolroom_store::{Store, StoreError};

use crate::config::check::problem::{Problem, Problems};
use crate::config::{ConfigError, Layer, MAX_FILE_BYTES, Origin};

/// The name of every configuration file.
pub const FILE_NAME: &str = toolroom_host::folders::CONFIGURATION;

/// The configuration files in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// The user file, which may not exist.
    pub user: PathBuf,
    /// The project file: the nearest one in or above the current folder.
    pub project: Option<PathBuf>,
    /// Nearer files of that name that were skipped.
    pub passed_over: Vec<SkippedFile>,
}

/// The content of the files. Read once, so that what was checked or shown is what takes effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFiles {
    /// The user file, if there is one.
    pub user: Option<Layer>,
    /// The user file, if it appeared while a sandboxed program that could have written it was running. It may only restrict
    /// until `toolroom trust`.
    pub unconfirmed: Option<ProjectFile>,
    /// The project file, if there is one.
    pub project: Option<ProjectFile>,
    /// Skipped files.
    pub passed_over: Vec<SkippedFile>,
}

/// A project file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

/// Whether a project file may be more lenient than the user file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user trusts exactly this content.
    Given,
    /// It may only restrict.
    Missing,
}

impl ProjectFile {
    /// The hash of the trusted content.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex::encode(Sha256::digest(self.text.as_bytes()))
    }

    /// The path under which it is trusted. `None` if it is not UTF-8, because it could be confused with another path.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.path.to_str()
    }

    /// Whether it is trusted with its current content.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn trust(&self, store: &Store) -> Result<Trust, StoreError> {
        let Some(name) = self.name() else { return Ok(Trust::Missing) };
        let known = store.trusted_hash(name).await?;
        Ok(if known.is_some_and(|hash| hash == self.sha256()) { Trust::Given } else { Trust::Missing })
    }
}

impl Sources {
    /// Finds the files without reading them.
    #[must_use]
    pub fn find(folders: &Folders) -> Self {
        let here = text_file::current_folder().ok();
        Self::find_from(here.as_deref(), folders)
    }

    fn find_from(here: Option<&Path>, folders: &Folders) -> Self {
        let user = folders.config.join(FILE_NAME);
        let UpwardSearch { file: project, mut passed_over } =
            here.map(|here| text_file::nearest_upwards(here, FILE_NAME)).unwrap_or_default();
        // The user file is not a project file, even if reached through another path.
        let project = project.filter(|project| *project != user && !text_file::is_same(project, &user));
        let is_users =
            |path: &Path| path.parent().is_some_and(|folder| text_file::is_same(folder, &folders.config));
        passed_over.retain(|passed| !is_users(&passed.path));
        Self { project, user, passed_over }
    }

    /// Uses the given files.
    pub(crate) fn new(user: PathBuf, project: Option<PathBuf>) -> Self {
        Self { user, project, passed_over: Vec::new() }
    }

    /// Reads the files.
    ///
    /// # Errors
    /// Lists every file that exists and cannot be read.
    pub fn read(&self) -> Result<ConfigFiles, ConfigError> {
        let mut problems = Problems::default();
        let user = self.user_text().unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let project = self.project_file().unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        problems.into_result()?;
        let (user, unconfirmed) = match user {
            Some(Layer::User { path, text }) if is_unconfirmed(&path) => {
                (None, Some(ProjectFile { path, text }))
            }
            user => (user, None),
        };
        Ok(ConfigFiles { user, unconfirmed, project, passed_over: self.passed_over.clone() })
    }

    fn user_text(&self) -> Result<Option<Layer>, Problem> {
        let path = &self.user;
        let text = match text_file::read_bounded(path, MAX_FILE_BYTES) {
            // The configuration folder is a file: treated as no user file. Commands that need the folder report it.
            Err(TextFileError::Io { source, .. }) if source.kind() == ErrorKind::NotADirectory => None,
            read => read.map_err(|error| unreadable(Origin::User(path.clone()), &error))?,
        };
        Ok(text.map(|text| Layer::User { path: path.clone(), text }))
    }

    /// Reads the project file; `None` if there is none.
    ///
    /// # Errors
    /// If it exists and cannot be read.
    pub fn project_file(&self) -> Result<Option<ProjectFile>, Problem> {
        let Some(path) = &self.project else { return Ok(None) };
        let origin = || Origin::Project { path: path.clone(), trusted: false };
        let text = text_file::read_bounded_unlinked(path, MAX_FILE_BYTES);
        let text = text.map_err(|error| unreadable(origin(), &error))?;
        Ok(text.map(|text| ProjectFile { path: path.clone(), text }))
    }
}

impl ConfigFiles {
    /// Whether there is a project file and it is trusted.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn trust(&self, store: &Store) -> Result<Trust, StoreError> {
        match &self.project {
            Some(file) => file.trust(store).await,
            None => Ok(Trust::Missing),
        }
    }

    /// All layers: files, environment variables and flags.
    #[must_use]
    pub fn layers(&self, trust: Trust, flags: &[String]) -> Vec<Layer> {
        let project = self.project.clone().map(|file| Layer::Project {
            path: file.path,
            trusted: trust == Trust::Given,
            text: file.text,
        });
        let passed_over = self.passed_over.iter().cloned().map(Layer::PassedOver);
        let unconfirmed = self.unconfirmed.clone();
        let unconfirmed =
            unconfirmed.map(|file| Layer::Project { path: file.path, trusted: false, text: file.text });
        let found = self.user.clone().into_iter().chain(unconfirmed).chain(project).chain(passed_over);
        found.chain(personal_layers(flags)).collect()
    }
}

/// The layers set by the user for this process: environment variables, then flags.
#[must_use]
pub fn personal_layers(flags: &[String]) -> [Layer; 2] {
    [Layer::Environment(environment::toolroom_variables()), Layer::Flags(flags.to_vec())]
}

/// Reads one file as a user file.
///
/// # Errors
/// If it cannot be read.
pub fn file_layer(path: &Path) -> Result<Option<Layer>, ConfigError> {
    Sources::new(path.to_owned(), None).read().map(|files| files.user)
}

fn unreadable(origin: Origin, error: &TextFileError) -> Problem {
    let message = match error {
        TextFileError::NotRegular { .. } if !origin.is_trusted() => {
            "is not a regular file; links and pipes are not allowed as project files: use the file itself"
                .to_owned()
        }
        TextFileError::NotRegular { .. } => "is not a regular file".to_owned(),
        TextFileError::TooLong { max_bytes, .. } => format!("is longer than {max_bytes} bytes"),
        TextFileError::NotUtf8 { position, .. } => {
            format!("is not UTF-8 from byte {position} on; save it as UTF-8")
        }
        TextFileError::Exists { .. } => "already exists".to_owned(),
        TextFileError::Io { source, .. } => format!("cannot be read: {source}"),
    };
    Problem { origin, line: None, key: String::new(), message }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of every kind")]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;
    use crate::config::load;

    /// A temporary folder with `config/` for the user file and `work/shop/` as the current folder.
    fn test_folders() -> (TempDir, Folders, PathBuf) {
        let root = TempDir::new().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        let (config, shop) = (at("config"), at("work/shop"));
        for folder in [&config, &shop] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let folders = Folders { data: at("data"), config };
        (root, folders, shop)
    }

    fn nothing() -> ConfigFiles {
        ConfigFiles { user: None, unconfirmed: None, project: None, passed_over: Vec::new() }
    }

    fn problems(sources: &Sources) -> String {
        sources.read().unwrap_err().to_string()
    }

    #[test]
    fn the_project_file_is_the_nearest_one_above_and_never_the_user_file() {
        let (_root, folders, shop) = test_folders();
        let find = |here: &Path| Sources::find_from(Some(here), &folders).project;
        assert_eq!(find(&shop), None);
        assert_eq!(Sources::find_from(None, &folders).project, None);
        let above = shop.parent().unwrap().join(FILE_NAME);
        std::fs::write(&above, "").unwrap();
        assert_eq!(find(&shop), Some(above.clone()));
        std::fs::write(shop.join(FILE_NAME), "").unwrap();
        assert_eq!(find(&shop), Some(shop.join(FILE_NAME)));

        std::fs::write(folders.config.join(FILE_NAME), "").unwrap();
        assert_eq!(find(&folders.config), None);
        let by_another_name = Folders { config: shop.join("link"), data: folders.data.clone() };
        symlink(above.parent().unwrap(), &by_another_name.config).unwrap();
        assert_eq!(Sources::find_from(above.parent(), &by_another_name).project, None);
    }

    #[test]
    fn skipped_files_are_reported_except_the_user_file() {
        let (_root, folders, shop) = test_folders();
        symlink("missing", shop.join(FILE_NAME)).unwrap();
        symlink("missing", folders.config.join(FILE_NAME)).unwrap();
        assert_eq!(Sources::find_from(Some(&folders.config), &folders).passed_over, []);
        let sources = Sources::find_from(Some(&shop), &folders);
        assert_eq!(sources.passed_over.len(), 1);
        let loaded = load(&nothing().layers(Trust::Missing, &[])).unwrap();
        assert_eq!(loaded.warnings, []);
        let files = ConfigFiles { passed_over: sources.passed_over, ..nothing() };
        let loaded = load(&files.layers(Trust::Missing, &[])).unwrap();
        let [reported] = &loaded.warnings[..] else { panic!("{loaded:?}") };
        assert!(reported.to_string().contains("shop/toolroom.toml: is ignored: it is a broken link"));
    }

    #[test]
    fn all_unreadable_files_are_reported_at_once() {
        let (_root, folders, shop) = test_folders();
        let sources = Sources::new(folders.config.join(FILE_NAME), Some(shop.join(FILE_NAME)));
        assert_eq!(sources.read(), Ok(nothing()));
        std::fs::write(&sources.user, b"gr\xf6\xdfe").unwrap();
        std::fs::write(shop.join("secret"), "root:x:0").unwrap();
        symlink(shop.join("secret"), shop.join(FILE_NAME)).unwrap();
        let reported = problems(&sources);
        let [user, project] = reported.lines().collect::<Vec<_>>()[..] else { panic!("{reported}") };
        assert!(
            user.ends_with("config/toolroom.toml: is not UTF-8 from byte 3 on; save it as UTF-8"),
            "{user}"
        );
        assert!(
            project.contains("shop/toolroom.toml: is not a regular file") && !reported.contains("root"),
            "{reported}"
        );

        std::fs::write(&sources.user, vec![b' '; MAX_FILE_BYTES + 1]).unwrap();
        assert!(problems(&sources).contains("is longer than 1048576 bytes"));
        let folder = Sources::new(shop.clone(), None);
        assert!(problems(&folder).ends_with("shop: is not a regular file"));
        symlink("loop", shop.join("loop")).unwrap();
        let nowhere = Sources::new(shop.join("loop"), None);
        assert!(problems(&nowhere).contains("shop/loop: cannot be read: "));
        let below_a_file = Sources::new(shop.join("secret/below"), None);
        assert_eq!(below_a_file.read(), Ok(nothing()));
    }

    #[test]
    fn a_path_that_is_not_utf8_cannot_be_trusted() {
        let odd = std::ffi::OsStr::from_bytes(b"/shop/\xff/toolroom.toml");
        let file = |path: &Path| ProjectFile { path: path.to_owned(), text: "a".to_owned() };
        assert_eq!(file(Path::new(odd)).name(), None);
        assert_eq!(file(Path::new("/shop/toolroom.toml")).name(), Some("/shop/toolroom.toml"));
        assert!(file(Path::new(odd)).sha256().starts_with("ca978112ca1bbdcafac231b39a23dc4d"));
    }

    #[test]
    fn layers_carry_the_trust_that_was_given() {
        let file = ProjectFile { path: "p.toml".into(), text: "x".to_owned() };
        let files = ConfigFiles { project: Some(file), ..nothing() };
        let trusted = |trust| match files.layers(trust, &["a=1".to_owned()]).as_slice() {
            [Layer::Project { trusted, .. }, Layer::Environment(_), Layer::Flags(flags)] => {
                (*trusted, flags.len())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!((trusted(Trust::Given), trusted(Trust::Missing)), ((true, 1), (false, 1)));
    }
}
