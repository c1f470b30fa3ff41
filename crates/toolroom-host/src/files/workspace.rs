//! The folders open to one project, and the checks before access.

use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::lstat;
use rustix::io::Errno;

use super::beneath::{Following, LastLink, find};
use super::error::FileError;
use super::judge::{Judge, PathRefusal, Role, system_folder};
use super::path_handle::{PathHandle, name_before_loss};
use super::protected::Protected;
use super::requested_path::RequestedPath;
use super::root::{Access, Origin, Root, RootFolder};

/// The files of one project. Relative paths start in the workspace; absolute ones must be in it or in another root.
/// Roots are opened for each access and not kept open, so that folders may be mounted and removed.
#[derive(Debug, Clone)]
pub struct Workspace {
    workspace: RootFolder,
    further: Vec<RootFolder>,
    judge: Judge,
    protected: Protected,
    programs_read: Vec<String>,
    pub(super) following: Following,
}

impl Workspace {
    /// A workspace in a configured folder, which must exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self::in_place(folder, Origin::Given)
    }

    /// A workspace in our data folder, created on first use.
    #[must_use]
    pub fn in_data_folder(folder: PathBuf) -> Self {
        Self::in_place(folder, Origin::Ours)
    }

    fn in_place(path: PathBuf, origin: Origin) -> Self {
        Self {
            workspace: RootFolder { path, access: Access::Writable, origin },
            further: Vec::new(),
            judge: Judge::default(),
            protected: Protected::default(),
            programs_read: Vec::new(),
            following: Following::default(),
        }
    }

    /// Opens another folder. For trusted configuration only.
    #[must_use]
    pub fn with_root(mut self, path: PathBuf, access: Access) -> Self {
        self.further.push(RootFolder { path, access, origin: Origin::Given });
        self
    }

    /// Sets the user's home folder, so that its credentials are known.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.judge = Judge::new(home);
        self
    }

    /// Sets Toolroom's own files.
    #[must_use]
    pub fn with_protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Lets programs read these credentials. For trusted configuration only.
    #[must_use]
    pub fn with_programs_read(mut self, names: Vec<String>) -> Self {
        self.programs_read = names;
        self
    }

    /// Credentials that programs may read.
    #[must_use]
    pub fn programs_read(&self) -> &[String] {
        &self.programs_read
    }

    /// Follows no links, as on kernels without `openat2`.
    #[must_use]
    pub fn without_links(mut self) -> Self {
        self.following = Following::Walk;
        self
    }

    /// The base of relative paths.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.workspace.path
    }

    /// The other open folders.
    pub fn further_folders(&self) -> impl Iterator<Item = (&Path, Access)> {
        self.further.iter().map(|root| (root.path.as_path(), root.access))
    }

    /// Whether a path, as written, names a start file.
    #[must_use]
    pub fn names_start_file(&self, path: &str) -> bool {
        let named = self.workspace.path.join(path);
        self.judge.is_start_file(&named) || is_in_a_repository(&without_dots(&named))
    }

    /// Finds and judges a file.
    pub(super) fn look(&self, asked: &RequestedPath<'_>, role: Role) -> Result<PathHandle, FileError> {
        let (root, names) = self.resolve(asked)?;
        self.admit_name(&root, asked, &names, role)?;
        let looked = self.look_below(&root, &names).map_err(|errno| self.failed(asked, errno))?;
        self.admit(&root, asked, &looked, role)?;
        Ok(looked)
    }

    /// Finds a file below a root without judging it.
    pub(super) fn look_below(&self, root: &Root, names: &[&str]) -> Result<PathHandle, Errno> {
        find(root.as_fd(), names, LastLink::Follow, self.following).and_then(PathHandle::at)
    }

    /// The root that contains a path, and the names below it.
    pub(super) fn resolve<'a>(&self, asked: &RequestedPath<'a>) -> Result<(Root, Vec<&'a str>), FileError> {
        if !asked.is_absolute() {
            return Ok((self.open(&self.workspace)?, asked.names().to_vec()));
        }
        let named = self.roots().filter_map(|root| Some((root, below(asked, &root.path)?)));
        // The innermost root decides about access.
        if let Some((root, names)) = named.min_by_key(|(_, names)| names.len()) {
            return Ok((self.open(root)?, names));
        }
        // It may be requested by its real path. A root that cannot be opened has none.
        let real = self.roots().filter_map(|root| self.open(root).ok());
        let real = real.filter_map(|root| below(asked, root.path()).map(|names| (root, names)));
        if let Some(found) = real.min_by_key(|(_, names)| names.len()) {
            return Ok(found);
        }
        Err(match system_folder(Path::new(asked.text())) {
            Some(folder) => refused(asked, PathRefusal::System { folder }),
            None => self.failed(asked, Errno::XDEV),
        })
    }

    /// Fails if a path is read-only. The innermost root decides, however the path was reached.
    pub(super) fn admit_writing(&self, asked: &RequestedPath<'_>, place: &Path) -> Result<(), FileError> {
        let known = self.roots().filter_map(|root| match self.open(root) {
            Ok(open) => Some((open.path().to_owned(), root.access)),
            // A root that is missing or temporarily unavailable is judged by its configured path.
            Err(_) if root.access == Access::ReadOnly => Some((root.path.clone(), root.access)),
            Err(_) => None,
        });
        let covering = known.filter(|(root, _)| place.starts_with(root));
        // If two roots are the same folder, the stricter one counts.
        match covering.max_by_key(|(root, access)| (root.components().count(), *access == Access::ReadOnly)) {
            Some((_, Access::Writable)) => Ok(()),
            Some((root, Access::ReadOnly)) => {
                Err(FileError::ReadOnly { path: asked.text().to_owned(), root })
            }
            // The root was moved away meanwhile.
            None => Err(FileError::Changing { path: asked.text().to_owned() }),
        }
    }

    /// All roots, the workspace first.
    pub(super) fn roots(&self) -> impl Iterator<Item = &RootFolder> {
        std::iter::once(&self.workspace).chain(&self.further)
    }

    pub(super) fn open(&self, root: &RootFolder) -> Result<Root, FileError> {
        Root::open(root, &self.judge, &self.protected)
    }

    /// Judges a file that was found, by path and identity.
    pub(super) fn admit(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        looked: &PathHandle,
        role: Role,
    ) -> Result<(), FileError> {
        self.admit_place(root, asked, &looked.place, role)?;
        if let Some(before) = name_before_loss(&looked.place) {
            self.admit_place(root, asked, &before, role)?;
        }
        if looked.is_made_by_the_kernel().map_err(|errno| self.failed(asked, errno))? {
            return Err(refused(asked, PathRefusal::Kernel));
        }
        match self.protected.is_file(&looked.stat) {
            true => Err(refused(asked, PathRefusal::Ours)),
            false => Ok(()),
        }
    }

    /// Judges the requested path, which may be a link to another name.
    pub(super) fn admit_name(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        names: &[&str],
        role: Role,
    ) -> Result<(), FileError> {
        if names.contains(&"..") {
            // The target of `..` depends on the file system.
            return Ok(());
        }
        let named = root.path().join(names.join("/"));
        self.judge.credentials(&named, role).map_err(|refusal| refused(asked, refusal))
    }

    /// Judges a path that is about to be written: a start file must be requested by its own name, which the approval shows.
    pub(super) fn admit_start_file(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        names: &[&str],
        place: &Path,
    ) -> Result<(), FileError> {
        if self.judge.is_start_file(&self.workspace.path.join(asked.text())) {
            return Ok(());
        }
        // A link may lead elsewhere than at the time of the approval.
        let is_linked = || without_dots(&root.path().join(names.join("/"))) != place;
        match self.judge.is_start_file(place) || is_in_a_repository(place) && is_linked() {
            true => Err(refused(asked, PathRefusal::StartFile)),
            false => Ok(()),
        }
    }

    /// Judges an existing or future path.
    pub(super) fn admit_place(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        place: &Path,
        role: Role,
    ) -> Result<(), FileError> {
        self.judge.place(place, root.path(), role).map_err(|refusal| refused(asked, refusal))?;
        // Our workspace is below our folders, never the other way round.
        if root.origin == Origin::Ours {
            return Ok(());
        }
        match self.protected.covers(place, root.path()).map_err(|errno| self.failed(asked, errno))? {
            true => Err(refused(asked, PathRefusal::Ours)),
            false => Ok(()),
        }
    }

    /// Converts a system error.
    pub(super) fn failed(&self, asked: &RequestedPath<'_>, errno: Errno) -> FileError {
        match errno {
            Errno::XDEV => {
                FileError::Outside { path: asked.text().to_owned(), workspace: self.workspace.path.clone() }
            }
            other => FileError::system(asked.text(), other),
        }
    }
}

pub(super) fn refused(asked: &RequestedPath<'_>, refusal: PathRefusal) -> FileError {
    FileError::Refused { path: asked.text().to_owned(), refusal }
}

/// The names after `root` in a path that begins with it.
fn below<'a>(asked: &RequestedPath<'a>, root: &Path) -> Option<Vec<&'a str>> {
    let rest = Path::new(asked.text()).strip_prefix(root).ok()?;
    let skip = asked.names().len().checked_sub(rest.components().count())?;
    asked.names().get(skip..).map(<[&str]>::to_vec)
}

/// Whether a path is inside a git folder, which may have any name. Files of a worktree are not.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the door: whether the parts of a repository are there"
)]
fn is_in_a_repository(place: &Path) -> bool {
    let has = |folder: &Path, name: &str| lstat(folder.join(name)).is_ok();
    let is_repository = |folder: &Path| {
        has(folder, "HEAD") && ["objects", "commondir"].into_iter().any(|part| has(folder, part))
    };
    place.ancestors().skip(1).any(is_repository)
}

/// A path without `.` and `..`, by text only: `missing/..` cannot be resolved before that folder exists.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
