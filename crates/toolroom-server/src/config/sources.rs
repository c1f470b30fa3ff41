//! Where the layers of the configuration are read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::sandbox::is_unconfirmed;
use toolroom_host::text_file::{self, SkippedFile, TextFileError, UpwardSearch};
use toolroom_store::{Store, StoreError};

use super::problem::{Problem, Problems};
use super::{ConfigError, Layer, MAX_FILE_BYTES, Origin};

/// The name of every configuration file.
pub const FILE_NAME: &str = toolroom_host::folders::CONFIGURATION;

/// The files that count here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// The user's file, whether it exists or not.
    pub user: PathBuf,
    /// The project's file: the nearest one above the current folder.
    pub project: Option<PathBuf>,
    /// What is nearer, has its name and does not count.
    pub passed_over: Vec<SkippedFile>,
}

/// What is in them now. Read once: what was checked or shown is what counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The user's file, if there is one.
    pub user: Option<Layer>,
    /// The user's file, if it appeared while a program ran that could have made it. It only narrows until `toolroom trust`.
    pub unconfirmed: Option<ProjectFile>,
    /// The project's file, if there is one.
    pub project: Option<ProjectFile>,
    /// What does not count in its place.
    pub passed_over: Vec<SkippedFile>,
}

/// A project's file as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

/// Whether a project's file may loosen what the user's file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Somebody has looked at exactly this content and said yes to it.
    Given,
    /// It may only narrow.
    Missing,
}

impl ProjectFile {
    /// The hash by which its content is trusted.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex::encode(Sha256::digest(self.text.as_bytes()))
    }

    /// The name it is trusted under. A path that is no text has none: written down, it could be that of another file.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.path.to_str()
    }

    /// Whether it is trusted with the content it has.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn trust(&self, store: &Store) -> Result<Trust, StoreError> {
        let Some(name) = self.name() else { return Ok(Trust::Missing) };
        let known = store.trusted_hash(name).await?;
        Ok(if known.is_some_and(|hash| hash == self.sha256()) { Trust::Given } else { Trust::Missing })
    }
}

impl Sources {
    /// Looks where the files are; reads none of them.
    #[must_use]
    pub fn find(folders: &Folders) -> Self {
        let here = text_file::current_folder().ok();
        Self::find_from(here.as_deref(), folders)
    }

    fn find_from(here: Option<&Path>, folders: &Folders) -> Self {
        let user = folders.config.join(FILE_NAME);
        let UpwardSearch { file: project, mut passed_over } =
            here.map(|here| text_file::nearest_upwards(here, FILE_NAME)).unwrap_or_default();
        // Whoever works in the configuration folder has no project there, by whatever name it is reached.
        let project = project.filter(|project| *project != user && !text_file::is_same(project, &user));
        let is_users =
            |path: &Path| path.parent().is_some_and(|folder| text_file::is_same(folder, &folders.config));
        passed_over.retain(|passed| !is_users(&passed.path));
        Self { project, user, passed_over }
    }

    /// These files, wherever they were found.
    pub(crate) fn of(user: PathBuf, project: Option<PathBuf>) -> Self {
        Self { user, project, passed_over: Vec::new() }
    }

    /// Reads the files.
    ///
    /// # Errors
    /// With every file that is there and cannot be read.
    pub fn read(&self) -> Result<Files, ConfigError> {
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
        Ok(Files { user, unconfirmed, project, passed_over: self.passed_over.clone() })
    }

    fn user_text(&self) -> Result<Option<Layer>, Problem> {
        let path = &self.user;
        let text = match text_file::read_bounded(path, MAX_FILE_BYTES) {
            // Where no file can be there is none; whoever needs the folder for more will say so.
            Err(TextFileError::Io { source, .. }) if source.kind() == ErrorKind::NotADirectory => None,
            read => read.map_err(|error| unread(Origin::User(path.clone()), &error))?,
        };
        Ok(text.map(|text| Layer::User { path: path.clone(), text }))
    }

    /// Reads the project's file alone; `None` when there is none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn project_file(&self) -> Result<Option<ProjectFile>, Problem> {
        let Some(path) = &self.project else { return Ok(None) };
        let origin = || Origin::Project { path: path.clone(), trusted: false };
        let text = text_file::read_bounded_unlinked(path, MAX_FILE_BYTES);
        let text = text.map_err(|error| unread(origin(), &error))?;
        Ok(text.map(|text| ProjectFile { path: path.clone(), text }))
    }
}

impl Files {
    /// Whether the project's file is trusted; a file that is not there is not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn trust(&self, store: &Store) -> Result<Trust, StoreError> {
        match &self.project {
            Some(file) => file.trust(store).await,
            None => Ok(Trust::Missing),
        }
    }

    /// Every layer there is: the files, and what the person at the keyboard sets by variables and flags.
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

/// What the person at the keyboard sets: variables, then flags.
#[must_use]
pub fn personal_layers(flags: &[String]) -> [Layer; 2] {
    [Layer::Environment(environment::toolroom_variables()), Layer::Flags(flags.to_vec())]
}

/// One file alone, as if it were the user's.
///
/// # Errors
/// When it cannot be read.
pub fn file_layer(path: &Path) -> Result<Option<Layer>, ConfigError> {
    Sources::of(path.to_owned(), None).read().map(|files| files.user)
}

fn unread(origin: Origin, error: &TextFileError) -> Problem {
    let message = match error {
        TextFileError::NotRegular { .. } if !origin.is_trusted() => {
            "is no regular file; a link or a pipe may not stand for a project's file: put the file itself there"
                .to_owned()
        }
        TextFileError::NotRegular { .. } => "is no regular file".to_owned(),
        TextFileError::TooLong { max_bytes, .. } => format!("is longer than {max_bytes} bytes"),
        TextFileError::NotUtf8 { position, .. } => {
            format!("is not UTF-8 from byte {position} on; save it as UTF-8")
        }
        TextFileError::Exists { .. } => "is already there".to_owned(),
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

    /// A folder with `config/`, where the user's file belongs, and `work/shop/`, where somebody works.
    fn house() -> (TempDir, Folders, PathBuf) {
        let root = TempDir::new().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        let (config, shop) = (at("config"), at("work/shop"));
        for folder in [&config, &shop] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let folders = Folders { data: at("data"), config };
        (root, folders, shop)
    }

    fn nothing() -> Files {
        Files { user: None, unconfirmed: None, project: None, passed_over: Vec::new() }
    }

    fn problems(sources: &Sources) -> String {
        sources.read().unwrap_err().to_string()
    }

    #[test]
    fn the_nearest_file_above_is_the_projects_and_the_users_own_is_not() {
        let (_root, folders, shop) = house();
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
    fn what_is_passed_over_is_told_unless_it_is_the_users_own() {
        let (_root, folders, shop) = house();
        symlink("missing", shop.join(FILE_NAME)).unwrap();
        symlink("missing", folders.config.join(FILE_NAME)).unwrap();
        assert_eq!(Sources::find_from(Some(&folders.config), &folders).passed_over, []);
        let sources = Sources::find_from(Some(&shop), &folders);
        assert_eq!(sources.passed_over.len(), 1);
        let loaded = super::super::load(&nothing().layers(Trust::Missing, &[])).unwrap();
        assert_eq!(loaded.warnings, []);
        let files = Files { passed_over: sources.passed_over, ..nothing() };
        let loaded = super::super::load(&files.layers(Trust::Missing, &[])).unwrap();
        let [told] = &loaded.warnings[..] else { panic!("{loaded:?}") };
        assert!(
            told.to_string().contains("shop/toolroom.toml: is passed over: it is a link that leads nowhere")
        );
    }

    #[test]
    fn every_file_that_cannot_be_read_is_told_at_once() {
        let (_root, folders, shop) = house();
        let sources = Sources::of(folders.config.join(FILE_NAME), Some(shop.join(FILE_NAME)));
        assert_eq!(sources.read(), Ok(nothing()));
        std::fs::write(&sources.user, b"gr\xf6\xdfe").unwrap();
        std::fs::write(shop.join("secret"), "root:x:0").unwrap();
        symlink(shop.join("secret"), shop.join(FILE_NAME)).unwrap();
        let told = problems(&sources);
        let [user, project] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
        assert!(
            user.ends_with("config/toolroom.toml: is not UTF-8 from byte 3 on; save it as UTF-8"),
            "{user}"
        );
        assert!(
            project.contains("shop/toolroom.toml: is no regular file") && !told.contains("root"),
            "{told}"
        );

        std::fs::write(&sources.user, vec![b' '; MAX_FILE_BYTES + 1]).unwrap();
        assert!(problems(&sources).contains("is longer than 1048576 bytes"));
        let folder = Sources::of(shop.clone(), None);
        assert!(problems(&folder).ends_with("shop: is no regular file"));
        symlink("loop", shop.join("loop")).unwrap();
        let nowhere = Sources::of(shop.join("loop"), None);
        assert!(problems(&nowhere).contains("shop/loop: cannot be read: "));
        let below_a_file = Sources::of(shop.join("secret/below"), None);
        assert_eq!(below_a_file.read(), Ok(nothing()));
    }

    #[test]
    fn a_path_that_is_no_text_has_no_name_to_be_trusted_under() {
        let odd = std::ffi::OsStr::from_bytes(b"/shop/\xff/toolroom.toml");
        let file = |path: &Path| ProjectFile { path: path.to_owned(), text: "a".to_owned() };
        assert_eq!(file(Path::new(odd)).name(), None);
        assert_eq!(file(Path::new("/shop/toolroom.toml")).name(), Some("/shop/toolroom.toml"));
        assert!(file(Path::new(odd)).sha256().starts_with("ca978112ca1bbdcafac231b39a23dc4d"));
    }

    #[test]
    fn layers_carry_the_trust_that_was_given() {
        let file = ProjectFile { path: "p.toml".into(), text: "x".to_owned() };
        let files = Files { project: Some(file), ..nothing() };
        let trusted = |trust| match files.layers(trust, &["a=1".to_owned()]).as_slice() {
            [Layer::Project { trusted, .. }, Layer::Environment(_), Layer::Flags(flags)] => {
                (*trusted, flags.len())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!((trusted(Trust::Given), trusted(Trust::Missing)), ((true, 1), (false, 1)));
    }
}
