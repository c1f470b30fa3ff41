//! Repositories in the folders of a program: what they have git run for whoever uses them next.
//!
//! A repository may lie anywhere below a folder, and a program may make more. They are looked for before it starts, now
//! and then while it runs, and when it has ended. A hook, a doubtful setting or a way to another place that was in none of
//! them before is an *errand*: the file that holds it is set aside, and what was there before is put back. Settings that
//! run nothing may be changed.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::git_settings::{Setting, doubtful};
use super::keepsake::{Keepsake, Room, Thing};
use super::put_back::SET_ASIDE;
use crate::regular_file::{Links, RegularFile};

/// Folders that are looked at, those nearest first.
const MAX_FOLDERS: usize = 2_000;

/// Entries of one folder that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// How long a look may take.
const MAX_LOOK: Duration = Duration::from_secs(1);

/// A longer file is not read, and doubtful as a whole.
const MAX_FILE_BYTES: usize = 256 * 1024;

/// Hooks that are read in one folder. More are doubtful as a whole.
const MAX_HOOKS: usize = 200;

/// Between two looks while a program runs, at least.
const REST: Duration = Duration::from_secs(1);

/// So much longer than a look takes is the rest after it.
const RESTS: u32 = 50;

/// The name of a repository in the folder it is for.
const REPOSITORY: &str = ".git";

/// Settings of a repository.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];

/// By which a repository is known.
const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// Folders of a repository in which others lie.
const INNER: [&str; 2] = ["modules", "worktrees"];

/// What somebody's git would do, told apart from all others.
type Errand = [u8; 32];

/// The repositories of one program.
#[derive(Debug)]
pub(super) struct Repositories {
    folders: Vec<PathBuf>,
    /// What any of them had git do before.
    known: HashSet<Errand>,
    /// What was in the files that say so.
    kept: BTreeMap<PathBuf, Thing>,
    /// If not all folders could be looked at: when that was. Files that are older are not the program's.
    cut_at: Option<SystemTime>,
    next_look: Instant,
}

/// One look.
#[derive(Default)]
struct Look {
    errands: Vec<(PathBuf, Errand)>,
    /// Places that git is sent to, by these files.
    places: Vec<(PathBuf, PathBuf)>,
    /// Repositories that were looked at.
    repositories: HashSet<PathBuf>,
    /// Files that hold errands or could.
    files: Vec<PathBuf>,
    is_cut: bool,
}

impl Repositories {
    /// Looks at those that are there.
    pub(super) fn of(folders: Vec<PathBuf>) -> Self {
        let began = time();
        let look = Look::at(&folders);
        let errands = look.errands.into_iter().map(|(_, errand)| errand);
        // Also those that are harmless: what is there may be moved away.
        let places = look.places.into_iter().map(|(_, place)| errand(b"place", place.as_os_str()));
        let mut room = Room::new();
        // Without room for it a file is only set aside if it comes to that.
        let remember = |path: PathBuf| room.remember(&path).ok()?.map(|thing| (path, thing));
        let kept = look.files.into_iter().filter_map(remember).collect();
        Self {
            known: errands.chain(places).collect(),
            kept,
            cut_at: look.is_cut.then_some(began),
            next_look: now() + REST,
            folders,
        }
    }

    /// Whether there is a new errand, if it is time for a look.
    pub(super) fn have_errands(&mut self) -> bool {
        let began = now();
        if self.folders.is_empty() || began < self.next_look {
            return false;
        }
        let has_any = !self.new_errands().is_empty();
        let took = now() - began;
        self.next_look = now() + (took * RESTS).max(REST);
        has_any
    }

    /// Takes new errands away, and gives whether there was one.
    pub(super) fn put_back(&self) -> bool {
        let mut is_any = false;
        // Where one was in the way of another there is one more to look at.
        for _ in 0..2 {
            let files = self.new_errands();
            is_any |= !files.is_empty();
            for path in &files {
                // Whoever asked hears of it either way.
                drop(self.keepsake(path).map(|keepsake| keepsake.put_back()));
            }
            if files.is_empty() {
                break;
            }
        }
        is_any
    }

    /// The files that hold new errands, none twice.
    fn new_errands(&self) -> Vec<PathBuf> {
        let is_new = |(path, errand): &(PathBuf, Errand)| {
            !self.known.contains(errand) && self.cut_at.is_none_or(|cut| is_changed_since(path, cut))
        };
        let new = Look::at(&self.folders).errands.into_iter().filter(is_new);
        let mut files: Vec<PathBuf> = new.map(|(path, _)| path).collect();
        files.dedup();
        files
    }

    /// What was there before, which may be nothing.
    fn keepsake(&self, path: &Path) -> Option<Keepsake> {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder))?;
        let inner = path.strip_prefix(folder).ok()?.to_owned();
        Some(Keepsake { folder: folder.clone(), path: inner, was: self.kept.get(path).cloned() })
    }
}

impl Look {
    fn at(folders: &[PathBuf]) -> Self {
        let mut look = Self::default();
        let mut open: VecDeque<PathBuf> = folders.iter().cloned().collect();
        let (began, mut count) = (now(), 0);
        while let Some(folder) = open.pop_front() {
            count += 1;
            if count > MAX_FOLDERS || now() - began > MAX_LOOK {
                look.is_cut = true;
                break;
            }
            open.extend(look.look_into(&folder, folders));
            // More would not be looked at.
            look.is_cut |= open.len() > MAX_FOLDERS;
            open.truncate(MAX_FOLDERS);
        }
        look.judge_places();
        look
    }

    /// Looks at one folder and gives those in it.
    #[expect(clippy::disallowed_methods, reason = "this is the door: what is in a folder of a program")]
    fn look_into(&mut self, folder: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        let mut has = [false; PARTS.len()];
        for (count, entry) in std::fs::read_dir(folder).into_iter().flatten().flatten().enumerate() {
            if count == MAX_ENTRIES {
                self.is_cut = true;
                break;
            }
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            for (has, part) in has.iter_mut().zip(PARTS) {
                *has |= name == part;
            }
            if name == REPOSITORY && !kind.is_dir() {
                self.look_at_pointer(&entry.path(), kind.is_symlink());
            }
            if kind.is_dir() {
                inner.push(entry.path());
            }
        }
        // A whole one, one that shares its objects with another, or that other.
        if matches!(has, [true, true, ..] | [true, _, _, true] | [_, true, true, _]) {
            self.look_at_repository(folder, folders);
            // Everything else in it is data.
            inner
                .retain(|path| path.file_name().is_some_and(|name| INNER.iter().any(|inner| name == *inner)));
        }
        inner
    }

    fn look_at_repository(&mut self, repository: &Path, folders: &[PathBuf]) {
        for name in SETTINGS {
            let path = repository.join(name);
            match content_of(&path) {
                Content::Nothing => {}
                Content::Unreadable => self.add(&path, b"unreadable", path.as_os_str()),
                Content::Text(text) => {
                    self.files.push(path.clone());
                    for setting in doubtful(&text) {
                        match setting {
                            Setting::Runs(setting) => self.add(&path, b"runs", OsStr::new(&setting)),
                            Setting::Place(place) => {
                                self.look_at_worktree(&path, &repository.join(place), folders);
                            }
                        }
                    }
                }
            }
        }
        self.look_at_hooks(&repository.join("hooks"));
        let common = repository.join("commondir");
        match content_of(&common) {
            Content::Nothing => {}
            Content::Unreadable => self.add(&common, b"unreadable", common.as_os_str()),
            Content::Text(text) => {
                let place = repository.join(OsStr::from_bytes(text.trim_ascii()));
                self.places.push((common, place));
            }
        }
        self.repositories.insert(repository.to_owned());
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: the hooks of a repository")]
    fn look_at_hooks(&mut self, hooks: &Path) {
        if let Ok(target) = std::fs::read_link(hooks) {
            self.add(hooks, b"link", target.as_os_str());
            return;
        }
        let entries = std::fs::read_dir(hooks).into_iter().flatten().flatten();
        for (count, entry) in entries.filter(|entry| !is_inert(&entry.file_name())).enumerate() {
            let path = entry.path();
            match content_of(&path) {
                _ if count >= MAX_HOOKS => return self.add(hooks, b"many", hooks.as_os_str()),
                Content::Text(text) => {
                    self.files.push(path.clone());
                    let mut words = entry.file_name().as_bytes().to_vec();
                    words.push(0);
                    words.extend(text);
                    self.add(&path, b"hook", OsStr::from_bytes(&words));
                }
                Content::Nothing | Content::Unreadable => self.add(&path, b"unreadable", path.as_os_str()),
            }
        }
    }

    /// A file or a link in the place of a repository.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where a repository is")]
    fn look_at_pointer(&mut self, path: &Path, is_link: bool) {
        let above = path.parent().unwrap_or(path);
        if is_link {
            let target = std::fs::read_link(path).unwrap_or_default();
            self.places.push((path.to_owned(), above.join(target)));
            return;
        }
        match content_of(path) {
            Content::Nothing => {}
            Content::Unreadable => self.add(path, b"unreadable", path.as_os_str()),
            Content::Text(text) => {
                self.files.push(path.to_owned());
                let place = text.trim_ascii();
                let place = place.strip_prefix(b"gitdir:").unwrap_or(place).trim_ascii();
                self.places.push((path.to_owned(), above.join(OsStr::from_bytes(place))));
            }
        }
    }

    /// Where the files of a repository are, an errand unless they are the program's as well.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where the files of a repository are")]
    fn look_at_worktree(&mut self, path: &Path, place: &Path, folders: &[PathBuf]) {
        let is_inside = |place: PathBuf| folders.iter().any(|folder| place.starts_with(folder));
        if !place.canonicalize().is_ok_and(is_inside) {
            self.add(path, b"worktree", place.as_os_str());
        }
    }

    /// A place is an errand unless it was looked at.
    #[expect(clippy::disallowed_methods, reason = "this is the door: where a repository is")]
    fn judge_places(&mut self) {
        let is_seen =
            |place: &Path| place.canonicalize().is_ok_and(|place| self.repositories.contains(&place));
        let unseen: Vec<(PathBuf, PathBuf)> =
            self.places.iter().filter(|(_, place)| !is_seen(place)).cloned().collect();
        for (path, place) in unseen {
            self.add(&path, b"place", place.as_os_str());
        }
    }

    fn add(&mut self, path: &Path, kind: &[u8], what: &OsStr) {
        self.errands.push((path.to_owned(), errand(kind, what)));
    }
}

fn errand(kind: &[u8], what: &OsStr) -> Errand {
    Sha256::new().chain_update(kind).chain_update([0]).chain_update(what.as_bytes()).finalize().into()
}

/// Whether git runs no hook with such a name.
fn is_inert(name: &OsStr) -> bool {
    name.as_bytes().ends_with(b".sample") || name.as_bytes().starts_with(SET_ASIDE)
}

enum Content {
    Nothing,
    /// Too long, a pipe, a link, or closed to us.
    Unreadable,
    Text(Vec<u8>),
}

fn content_of(path: &Path) -> Content {
    match RegularFile::open(path, Links::Refuse) {
        Ok(None) => Content::Nothing,
        Ok(Some(file)) => file.read(MAX_FILE_BYTES).map_or(Content::Unreadable, Content::Text),
        Err(_) => Content::Unreadable,
    }
}

/// The kernel alone sets this time.
#[expect(clippy::disallowed_methods, reason = "this is the door: when a file was changed")]
fn is_changed_since(path: &Path, since: SystemTime) -> bool {
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    let changed = path.symlink_metadata().map(|found| u64::try_from(found.ctime()).unwrap_or(0));
    changed.is_ok_and(|changed| changed >= since.as_secs())
}

#[expect(clippy::disallowed_methods, reason = "this is the door: time in a process without a runtime")]
fn time() -> SystemTime {
    SystemTime::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the door: time in a process without a runtime")]
fn now() -> Instant {
    Instant::now()
}
