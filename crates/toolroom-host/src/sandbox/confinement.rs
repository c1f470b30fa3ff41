//! A profile on this machine: every path resolved, every doubt settled.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::SandboxError;
use super::level::Level;
use super::profile::{Network, Profile};
use super::user::User;
use super::{protected, system};

/// What a program is confined to. Made by [`super::Sandbox::confine`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Confinement {
    pub(crate) level: Level,
    /// Where `bwrap` is; used on [`Level::Namespaces`] only.
    pub(super) bubblewrap: PathBuf,
    /// Whom it becomes.
    pub(crate) user: Option<User>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    /// There, and not to be read.
    pub(super) hidden: Vec<PathBuf>,
    /// Not to be changed inside what may be, whether there or not.
    pub(crate) locked: Vec<PathBuf>,
    /// Folders that cannot be renamed, so that nothing takes their place.
    pub(super) pinned: Vec<PathBuf>,
    /// Its home; `None` is its temporary folder.
    pub(crate) home: Option<PathBuf>,
    pub(super) temporary_bytes: u64,
    /// The socket of the proxy it may use.
    pub(crate) proxy: Option<PathBuf>,
    /// Where temporary files go if there is no `/tmp` of its own; the helper makes it.
    pub(crate) temporary: Option<PathBuf>,
}

impl Confinement {
    pub(super) fn of(
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
        let shared = || shared(&writable, home.as_ref());
        let locked: Vec<PathBuf> = shared().flat_map(|folder| protected::locked(folder)).collect();
        let mut hidden = profile.hidden.clone();
        hidden.retain(|path| protected::is_there(path));
        let mut hidden = resolved_any(&hidden)?;
        // Elsewhere nothing is there to be seen.
        let system = system::FOLDERS.iter().map(Path::new);
        let usable: Vec<&Path> =
            writable.iter().chain(&readable).map(PathBuf::as_path).chain(system).collect();
        hidden.retain(|path| usable.iter().any(|folder| path.starts_with(folder)));
        hidden.extend(shared().chain(&readable).flat_map(|folder| protected::hidden(folder)));
        // What has a protected file somewhere inside, and a repository.
        let around = locked.iter().chain(&hidden).filter(|path| protected::is_there(path));
        let around = around.flat_map(|path| path.ancestors().skip(1));
        let repositories: Vec<PathBuf> = shared().map(|folder| folder.join(protected::REPOSITORY)).collect();
        let around = around.chain(repositories.iter().map(PathBuf::as_path));
        let is_inside = |path: &Path| shared().any(|folder| path != folder && path.starts_with(folder));
        let pinned: BTreeSet<PathBuf> =
            around.filter(|path| is_inside(path) && protected::is_folder(path)).map(Path::to_owned).collect();
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

    /// How well the program will be confined.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Landlock allows a folder with all that is in it.
    fn check_whole_folders(&self) -> Result<(), SandboxError> {
        let usable = || self.readable.iter().chain(&self.writable).map(PathBuf::as_path);
        let system = || system::FOLDERS.iter().map(Path::new);
        for path in &self.hidden {
            if let Some(folder) = usable().chain(system()).find(|folder| path.starts_with(folder)) {
                return Err(SandboxError::CannotExcept { path: path.clone(), folder: folder.to_owned() });
            }
        }
        for path in &self.readable {
            if let Some(folder) = self.writable.iter().find(|folder| path.starts_with(folder)) {
                return Err(SandboxError::CannotExcept { path: path.clone(), folder: folder.clone() });
            }
        }
        Ok(())
    }

    /// Locks these as well, and pins the folders around them.
    pub(crate) fn lock(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            if self.locked.iter().any(|locked| path.starts_with(locked)) {
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

    /// The folders it may change in which others work, too.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &PathBuf> {
        shared(&self.writable, self.home.as_ref())
    }

    /// The folders on disks that it may change.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.writable.iter().chain(&self.temporary).cloned().collect()
    }

    /// What a program could change though it is protected, each path below the folder it lies in. In namespaces that is
    /// only what is not there: nothing can be laid over it.
    pub(crate) fn unguarded(&self) -> Vec<(PathBuf, PathBuf)> {
        let is_left = |path: &&PathBuf| self.level == Level::Landlock || !protected::can_be_covered(path);
        let below = |path: &PathBuf| {
            let folder = self.writable.iter().filter(|folder| path.starts_with(folder)).max()?;
            Some((folder.clone(), path.strip_prefix(folder).ok()?.to_owned()))
        };
        self.locked.iter().filter(is_left).filter_map(below).collect()
    }

    /// The variables that say where it may write, which take the place of ours.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let temporary = self.temporary.clone().unwrap_or_else(|| PathBuf::from("/tmp"));
        let home = self.home.clone().unwrap_or_else(|| temporary.clone());
        vec![("HOME", home), ("TMPDIR", temporary)]
    }
}

/// A home of its own is the program's alone: nobody else runs what it leaves there.
fn shared<'a>(writable: &'a [PathBuf], home: Option<&'a PathBuf>) -> impl Iterator<Item = &'a PathBuf> {
    writable.iter().filter(move |folder| Some(*folder) != home)
}

/// Folders that must be there, without links in their paths. None may hold a part of the system.
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

/// Refuses a path that goes through a folder programs may change, and leads out of it again.
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
