//! The folders that are open to one project, and who is let in.

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

/// The files of one project. Relative paths begin in the workspace; absolute ones must lie in it or in another root.
/// Nothing is opened before something is asked for, and nothing is kept open, so that folders may come and go.
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
    /// A workspace in a folder that somebody chose, which must be there.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self::in_place(folder, Origin::Given)
    }

    /// A workspace of our own choice, inside our data folder: made when it is first needed.
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

    /// Opens another folder. Only trusted configuration may say so.
    #[must_use]
    pub fn with_root(mut self, path: PathBuf, access: Access) -> Self {
        self.further.push(RootFolder { path, access, origin: Origin::Given });
        self
    }

    /// Says where the home of this user is, so that its credentials are known.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.judge = Judge::new(home);
        self
    }

    /// Says which files are Toolroom's own.
    #[must_use]
    pub fn with_protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Opens credentials to programs, by their names. Only trusted configuration may say so.
    #[must_use]
    pub fn with_programs_read(mut self, names: Vec<String>) -> Self {
        self.programs_read = names;
        self
    }

    /// Credentials that programs may read here.
    #[must_use]
    pub fn programs_read(&self) -> &[String] {
        &self.programs_read
    }

    /// Follows no link at all, as where the kernel has no `openat2`.
    #[must_use]
    pub fn without_links(mut self) -> Self {
        self.following = Following::Walk;
        self
    }

    /// Where relative paths begin.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.workspace.path
    }

    /// The folders that are open besides it.
    pub fn further_folders(&self) -> impl Iterator<Item = (&Path, Access)> {
        self.further.iter().map(|root| (root.path.as_path(), root.access))
    }

    /// Whether a path, as it is written, names a file that runs code for its owner later.
    #[must_use]
    pub fn names_start_file(&self, path: &str) -> bool {
        let named = self.workspace.path.join(path);
        self.judge.is_start_file(&named) || is_in_a_repository(&without_dots(&named))
    }

    /// Finds something and judges it.
    pub(super) fn look(&self, asked: &RequestedPath<'_>, role: Role) -> Result<PathHandle, FileError> {
        let (root, names) = self.resolve(asked)?;
        self.admit_name(&root, asked, &names, role)?;
        let looked = self.look_below(&root, &names).map_err(|errno| self.failed(asked, errno))?;
        self.admit(&root, asked, &looked, role)?;
        Ok(looked)
    }

    /// Finds something below a root, not judged yet.
    pub(super) fn look_below(&self, root: &Root, names: &[&str]) -> Result<PathHandle, Errno> {
        find(root.as_fd(), names, LastLink::Follow, self.following).and_then(PathHandle::at)
    }

    /// The root a path lies in, and the names from there on.
    pub(super) fn resolve<'a>(&self, asked: &RequestedPath<'a>) -> Result<(Root, Vec<&'a str>), FileError> {
        if !asked.is_absolute() {
            return Ok((self.open(&self.workspace)?, asked.names().to_vec()));
        }
        let named = self.roots().filter_map(|root| Some((root, below(asked, &root.path)?)));
        // The innermost one decides what may be done.
        if let Some((root, names)) = named.min_by_key(|(_, names)| names.len()) {
            return Ok((self.open(root)?, names));
        }
        // It may be called by its real name. A root that cannot be opened has none.
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

    /// Fails if a place may only be read. The innermost root decides, by whatever path the place was reached.
    pub(super) fn admit_writing(&self, asked: &RequestedPath<'_>, place: &Path) -> Result<(), FileError> {
        let known = self.roots().filter_map(|root| match self.open(root) {
            Ok(open) => Some((open.path().to_owned(), root.access)),
            // It may be missing, or in trouble for a moment: what was said about its name holds.
            Err(_) if root.access == Access::ReadOnly => Some((root.path.clone(), root.access)),
            Err(_) => None,
        });
        let covering = known.filter(|(root, _)| place.starts_with(root));
        // Of two that are the same folder, the stricter one counts.
        match covering.max_by_key(|(root, access)| (root.components().count(), *access == Access::ReadOnly)) {
            Some((_, Access::Writable)) => Ok(()),
            Some((root, Access::ReadOnly)) => {
                Err(FileError::ReadOnly { path: asked.text().to_owned(), root })
            }
            // Its root was moved away meanwhile.
            None => Err(FileError::Changing { path: asked.text().to_owned() }),
        }
    }

    /// All of them, the workspace first.
    pub(super) fn roots(&self) -> impl Iterator<Item = &RootFolder> {
        std::iter::once(&self.workspace).chain(&self.further)
    }

    pub(super) fn open(&self, root: &RootFolder) -> Result<Root, FileError> {
        Root::open(root, &self.judge, &self.protected)
    }

    /// Judges what was found: where it is, and what it is.
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

    /// Judges what was asked for, which may be a link to a place of another name.
    pub(super) fn admit_name(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        names: &[&str],
        role: Role,
    ) -> Result<(), FileError> {
        if names.contains(&"..") {
            // Where that leads is known only to whoever follows it.
            return Ok(());
        }
        let named = root.path().join(names.join("/"));
        self.judge.credentials(&named, role).map_err(|refusal| refused(asked, refusal))
    }

    /// Judges a place that is about to be written: what a person would have been asked about has to be called by its name.
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
        // A link may lead elsewhere than when the person was asked.
        let is_linked = || without_dots(&root.path().join(names.join("/"))) != place;
        match self.judge.is_start_file(place) || is_in_a_repository(place) && is_linked() {
            true => Err(refused(asked, PathRefusal::StartFile)),
            false => Ok(()),
        }
    }

    /// Judges a place where something is, or is about to be.
    pub(super) fn admit_place(
        &self,
        root: &Root,
        asked: &RequestedPath<'_>,
        place: &Path,
        role: Role,
    ) -> Result<(), FileError> {
        self.judge.place(place, root.path(), role).map_err(|refusal| refused(asked, refusal))?;
        // A workspace of ours lies below our folders, never the other way round.
        if root.origin == Origin::Ours {
            return Ok(());
        }
        match self.protected.covers(place, root.path()).map_err(|errno| self.failed(asked, errno))? {
            true => Err(refused(asked, PathRefusal::Ours)),
            false => Ok(()),
        }
    }

    /// What the system said about a path.
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

/// The names that follow `root` in a path that begins with it.
fn below<'a>(asked: &RequestedPath<'a>, root: &Path) -> Option<Vec<&'a str>> {
    let rest = Path::new(asked.text()).strip_prefix(root).ok()?;
    let skip = asked.names().len().checked_sub(rest.components().count())?;
    asked.names().get(skip..).map(<[&str]>::to_vec)
}

/// Whether a place lies in the folder of a repository, which may have any name. What lies in a worktree does not.
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

/// A path as it is written, without `.` and `..`: `missing/..` leads nowhere as long as that folder is not made.
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
