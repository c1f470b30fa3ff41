//! A profile applied to this machine, with resolved paths.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::covered_file::CoveredFile;
use super::error::SandboxError;
use super::level::Level;
use super::profile::{Network, Profile};
use super::user::User;
use super::{protected, system};
use crate::environment::path_variable;
use crate::folders::{CONFIGURATION, IN_A_HOME};
use crate::path_with_links::PathWithLinks;
use crate::sensitive::{SensitiveFiles, Survey, holds_a_home, is_a_home, watched};

/// Maximum number of start files covered by mounts, nearest first. Each mount costs time; further ones are watched.
const MAX_COVERED_START_FILES: usize = 64;

/// The confinement of a program. Made by [`super::Sandbox::confine`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Confinement {
    pub(crate) level: Level,
    /// The path of `bwrap`; used on [`Level::Namespaces`] only.
    pub(super) bubblewrap: PathBuf,
    /// The user it runs as.
    pub(crate) user: Option<User>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    /// Visible, but unreadable.
    pub(super) hidden: Vec<PathBuf>,
    /// Read-only inside writable folders, existing or not.
    pub(crate) locked: Vec<PathBuf>,
    /// Start files beyond the locked ones.
    more_start_files: Vec<PathBuf>,
    /// Files covered by mounts, except repository settings, which are watched.
    covers: Vec<CoveredFile>,
    /// Folders in which no listed file may appear, and whether each is a home folder.
    watched: Vec<(PathBuf, bool)>,
    /// Our folders without a configuration, which may appear while the program runs.
    pub(crate) unconfigured: Vec<PathBuf>,
    /// Folders that cannot be renamed, so that they cannot be replaced.
    pub(super) pinned: Vec<PathBuf>,
    /// Its home folder; `None` for its temporary folder.
    pub(crate) home: Option<PathBuf>,
    pub(super) temporary_bytes: u64,
    /// The socket of the proxy.
    pub(crate) proxy: Option<PathBuf>,
    /// The folder for temporary files, if there is no private `/tmp`; created by the helper.
    pub(crate) temporary: Option<PathBuf>,
}

impl Confinement {
    pub(super) fn new(
        profile: &Profile,
        level: Level,
        bubblewrap: PathBuf,
        user: impl FnOnce(Option<&Path>) -> io::Result<Option<User>>,
    ) -> Result<Self, SandboxError> {
        let mut writable = resolved(&profile.writable)?;
        let readable = resolved(&profile.readable)?;
        let home = resolved(profile.home.as_slice())?.pop();
        writable.extend(home.clone());
        for given in profile.writable.iter().chain(&profile.readable).chain(&profile.home) {
            check_way(given, &writable)?;
        }
        let own_home = path_variable("HOME").map(|home| resolved_one(&home).unwrap_or(home));
        let own_home = own_home.as_deref();
        let shared = || shared(&writable, home.as_ref());
        let usable: BTreeSet<PathBuf> = shared().chain(&readable).cloned().collect();
        if level == Level::Landlock
            && let Some(folder) = usable.iter().find(|folder| holds_a_home(folder, own_home))
        {
            return Err(SandboxError::HoldsHome { folder: folder.clone() });
        }
        let first = writable.first().or(readable.first()).map(PathBuf::as_path);
        let user = user(first).map_err(|source| unusable(first.unwrap_or(Path::new("/")), source))?;
        if let Some(user) = user {
            for folder in &writable {
                if !user.may_write(folder).map_err(|source| unusable(folder, source))? {
                    return Err(SandboxError::NotItsOwn { folder: folder.clone(), uid: user.uid });
                }
            }
            for folder in writable.iter().chain(&readable).filter(|_| level == Level::Landlock) {
                for above in folder.ancestors().skip(1) {
                    if !user.may_enter(above).map_err(|source| unusable(above, source))? {
                        let (folder, above) = (folder.clone(), above.to_owned());
                        return Err(SandboxError::Unreachable { folder, above, uid: user.uid });
                    }
                }
            }
        }
        let own = OwnPlaces::find(profile, level, user, &usable, &writable, own_home)?;
        let is_hiding = level == Level::Namespaces;
        let survey = Survey { home: own_home, opened: &profile.programs_read, is_hiding };
        let SensitiveFiles { credentials, named_folders, start_files, is_cut } = survey.run(&usable);
        if is_cut && !survey.opens_everything() {
            return Err(SandboxError::TooMuch { folder: first.unwrap_or(Path::new("/")).to_owned() });
        }
        let is_inside = |path: &Path| shared().any(|folder| path != folder && path.starts_with(folder));
        // A mount below a hidden folder would make it visible again.
        let hidden: Vec<PathBuf> = own.hidden.iter().cloned().chain(credentials).collect();
        let is_open = |path: &Path| is_inside(path) && !is_hidden(path, &hidden, &usable);
        let mut start_files: Vec<PathBuf> = start_files.into_iter().filter(|path| is_open(path)).collect();
        let more_start_files = start_files.split_off(start_files.len().min(MAX_COVERED_START_FILES));
        let covered = hidden.iter().chain(start_files.iter().filter(|path| protected::can_be_covered(path)));
        let covers =
            covered.filter(|_| level == Level::Namespaces).cloned().filter_map(CoveredFile::at).collect();
        let of_repositories = shared().flat_map(|folder| protected::locked(folder));
        let locked: Vec<PathBuf> = of_repositories.filter(|path| is_open(path)).chain(start_files).collect();
        // Parents of protected files, and repositories. A credential file stays hidden after a rename of its folders, unless it
        // is known by their names.
        let around = locked.iter().chain(&own.hidden).filter(|path| protected::is_there(path));
        let around = around.flat_map(|path| path.ancestors().skip(1));
        let repositories: Vec<PathBuf> = shared().map(|folder| folder.join(protected::REPOSITORY)).collect();
        let around = around.chain(repositories.iter().chain(&named_folders).map(PathBuf::as_path));
        let pinned: BTreeSet<PathBuf> =
            around.filter(|path| is_open(path) && protected::is_folder(path)).map(Path::to_owned).collect();
        let mut watched: Vec<(PathBuf, bool)> =
            shared().map(|folder| (folder.clone(), is_a_home(folder, own_home))).collect();
        watched.extend(own_home.filter(|home| is_inside(home)).map(|home| (home.to_owned(), true)));
        let proxy = match &profile.network {
            Network::Off => None,
            Network::Proxy { .. } if level == Level::Landlock => return Err(SandboxError::NoProxy),
            Network::Proxy { socket } => Some(socket.clone()),
        };
        let confinement = Self {
            level,
            bubblewrap,
            user,
            readable,
            writable,
            hidden,
            locked,
            more_start_files,
            covers,
            watched,
            unconfigured: own.unconfigured,
            pinned: pinned.into_iter().collect(),
            home,
            temporary_bytes: profile.temporary_bytes,
            proxy,
            temporary: None,
        };
        if level == Level::Landlock {
            confinement.check_whole_folders()?;
        }
        Ok(confinement)
    }

    /// The level of confinement.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Landlock allows whole folders only.
    fn check_whole_folders(&self) -> Result<(), SandboxError> {
        for path in &self.readable {
            if let Some(folder) = self.writable.iter().find(|folder| path.starts_with(folder)) {
                return Err(SandboxError::CannotExcept { path: path.clone(), folder: folder.clone() });
            }
        }
        Ok(())
    }

    /// Also locks these paths, and pins their parents.
    pub(crate) fn lock(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let usable: BTreeSet<PathBuf> = self.shared().chain(&self.readable).cloned().collect();
        for path in paths {
            let is_locked = self.locked.iter().any(|locked| path.starts_with(locked));
            if is_locked || is_hidden(&path, &self.hidden, &usable) {
                continue;
            }
            let folder = self.shared().find(|folder| path.starts_with(folder));
            let around =
                path.ancestors().skip(1).take_while(|above| folder.is_some_and(|folder| folder != above));
            let around = around.filter(|above| protected::is_folder(above)).map(Path::to_owned);
            let pinned: BTreeSet<PathBuf> = around.chain(self.pinned.iter().cloned()).collect();
            self.pinned = pinned.into_iter().collect();
            self.locked.push(path);
        }
    }

    /// The writable folders shared with other users or programs.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &PathBuf> {
        shared(&self.writable, self.home.as_ref())
    }

    /// Without the names of single files, which only the process that mounts over them needs.
    pub(crate) fn without_names(&self) -> Self {
        let (hidden, locked, more_start_files, covers, watched, pinned) = Default::default();
        Self { hidden, locked, more_start_files, covers, watched, pinned, ..self.clone() }
    }

    /// Whether another file has replaced one covered by a mount.
    pub(crate) fn is_uncovered(&self) -> bool {
        self.covers.iter().any(CoveredFile::is_replaced)
    }

    /// Whether everything hidden by `newer` is hidden here too.
    pub(crate) fn hides_all_of(&self, newer: &Self) -> bool {
        newer.hidden.iter().all(|path| self.hidden.contains(path)) && !self.is_uncovered()
    }

    /// The writable folders on disks.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.writable.iter().chain(&self.temporary).cloned().collect()
    }

    /// Protected paths that a program could change, each with its base folder and without links on the way. With namespaces
    /// these are only paths without a mount.
    pub(crate) fn unguarded(&self) -> Vec<(PathBuf, PathBuf)> {
        let is_below = |path: &PathBuf, all: &[PathBuf]| all.iter().any(|above| path.starts_with(above));
        let is_left = |path: &&PathBuf| {
            self.level == Level::Landlock
                || !protected::can_be_covered(path)
                || !(is_below(path, &self.locked) || is_below(path, &self.hidden))
        };
        let below = |path: &PathBuf| {
            let folder = self.writable.iter().filter(|folder| path.starts_with(folder)).max()?;
            Some((folder.clone(), path.strip_prefix(folder).ok()?.to_owned()))
        };
        let watched = self.watched.iter().flat_map(|(folder, is_home)| watched(folder, *is_home));
        let named = self.locked.iter().chain(&self.more_start_files).cloned().chain(watched);
        let mut folders: BTreeMap<PathBuf, PathWithLinks> = BTreeMap::new();
        let mut all: BTreeSet<PathBuf> = BTreeSet::new();
        for path in named {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let trail = folders.entry(folder.to_owned()).or_insert_with(|| PathWithLinks::resolve(folder));
            all.extend(trail.links.iter().cloned());
            let PathWithLinks { links, end } = PathWithLinks::resolve_last(&trail.end.join(name));
            all.extend(links);
            all.insert(end);
        }
        all.iter().filter(is_left).filter_map(below).collect()
    }

    /// Variables for writable folders, which replace ours.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let temporary = self.temporary.clone().unwrap_or_else(|| PathBuf::from("/tmp"));
        let home = self.home.clone().unwrap_or_else(|| temporary.clone());
        vec![("HOME", home), ("TMPDIR", temporary)]
    }
}

/// The program's own home is private: no other program runs files from it.
fn shared<'a>(writable: &'a [PathBuf], home: Option<&'a PathBuf>) -> impl Iterator<Item = &'a PathBuf> {
    writable.iter().filter(move |folder| Some(*folder) != home)
}

/// Our own paths that a program could reach, and those of our folders in which it could create a configuration.
#[derive(Default)]
struct OwnPlaces {
    hidden: Vec<PathBuf>,
    unconfigured: Vec<PathBuf>,
}

impl OwnPlaces {
    /// Creates folders that a program could create otherwise.
    fn find(
        profile: &Profile,
        level: Level,
        user: Option<User>,
        usable: &BTreeSet<PathBuf>,
        writable: &[PathBuf],
        home: Option<&Path>,
    ) -> Result<Self, SandboxError> {
        let mut own = Self::default();
        let is_writable = |place: &Path| writable.iter().any(|folder| place.starts_with(folder));
        // Another process may run without the variables that lead elsewhere.
        let at_home = home.filter(|home| is_writable(home)).into_iter();
        let at_home = at_home.flat_map(|home| IN_A_HOME.map(|name| home.join(name)));
        for path in profile.hidden.iter().cloned().chain(at_home) {
            let own_folder = protected::real_place(&path).map_err(|source| unusable(&path, source))?;
            for place in protected::linked_files(&own_folder).into_iter().chain([own_folder.clone()]) {
                let system = system::FOLDERS.iter().map(Path::new);
                let mut around = usable.iter().map(PathBuf::as_path).chain(system);
                let Some(folder) = around.find(|folder| place.starts_with(folder)) else { continue };
                let folder = folder.to_owned();
                match protected::is_there(&place) {
                    _ if level == Level::Landlock => {
                        return Err(SandboxError::CannotExcept { path: place, folder });
                    }
                    true => {}
                    false if !is_writable(&place) => continue,
                    false if place == own_folder => {
                        protected::make_first(&place, user).map_err(|source| unusable(&place, source))?;
                    }
                    false => return Err(SandboxError::OwnIsMissing { path: place, folder }),
                }
                let is_configured = protected::is_there(&own_folder.join(CONFIGURATION));
                if place == own_folder && is_writable(&place) && !is_configured {
                    own.unconfigured.push(place.clone());
                }
                own.hidden.push(place);
            }
        }
        Ok(own)
    }
}

/// Whether a path is hidden or inside something hidden, and not in a usable folder further inside.
fn is_hidden(path: &Path, hidden: &[PathBuf], usable: &BTreeSet<PathBuf>) -> bool {
    let is_shown = |hidden: &Path| {
        let mut inner = usable.iter().filter(|folder| path.starts_with(folder));
        inner.any(|folder| folder != hidden && folder.starts_with(hidden))
    };
    hidden.iter().any(|hidden| path.starts_with(hidden) && !is_shown(hidden))
}

/// Real paths of existing folders. None may contain parts of the system.
fn resolved(folders: &[PathBuf]) -> Result<Vec<PathBuf>, SandboxError> {
    let found = resolved_any(folders)?;
    for (folder, given) in found.iter().zip(folders) {
        let own = [system::PROCESSES, "/dev", "/sys", "/run"];
        let mut parts = system::FOLDERS.into_iter().chain(own).map(Path::new);
        if parts.any(|part| part.starts_with(folder)) || own.iter().any(|part| folder.starts_with(part)) {
            return Err(SandboxError::TooWide { folder: given.clone() });
        }
    }
    Ok(found)
}

/// Refuses a path through a writable folder that leads out of it again.
fn check_way(given: &Path, writable: &[PathBuf]) -> Result<(), SandboxError> {
    let found = resolved_one(given)?;
    for above in given.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        let above = resolved_one(above)?;
        if let Some(folder) =
            writable.iter().find(|folder| above.starts_with(folder) && !found.starts_with(folder))
        {
            return Err(SandboxError::LeadsOut { given: given.to_owned(), folder: folder.clone() });
        }
    }
    Ok(())
}

fn resolved_any(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SandboxError> {
    paths.iter().map(|path| resolved_one(path)).collect()
}

#[expect(clippy::disallowed_methods, reason = "this is the door: where a folder of the sandbox really is")]
fn resolved_one(path: &Path) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|source| unusable(path, source))
}

fn unusable(folder: &Path, source: io::Error) -> SandboxError {
    SandboxError::Folder { folder: folder.to_owned(), source: Arc::new(source) }
}
