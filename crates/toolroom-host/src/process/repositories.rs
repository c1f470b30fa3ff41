//! Repositories in the folders of a program: what they have git run for the next person who uses them.
//!
//! A repository may lie anywhere below a folder, and a program may make more. The folders are looked at before the program
//! starts, now and then while it runs, and when it has ended. Something that git would run (an *errand*) and that was in no
//! repository before is taken away: the file that holds it is set aside, and what was there before is put back. Settings
//! that run nothing may be changed. A folder that was closed to the look is opened; a look that is cut short by folders
//! the program made ends it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::end::{Cause, Limit};
use super::git_executions::{Digest, GitExecution};
use super::repository_scan::{RepositoryScan, ScanBounds, is_enterable, now};
use super::restore::change_mode;
use super::snapshot::{Snapshot, SnapshotBudget, SnapshotEntry};
use super::wire::GitOwner;

/// Folders that are looked at before a program starts, those nearest first.
const FOLDERS_BEFORE: usize = 10_000;

/// Folders that a program may make without ending: more than packages for JavaScript usually have.
const FOLDERS_MADE: usize = 40_000;

/// How long a look may take, and all looks at the end together.
const MAX_LOOK: Duration = Duration::from_secs(1);
const MAX_LAST_LOOKS: Duration = Duration::from_secs(2);

/// Where one errand was in the way of another, there is one more to look at.
const LAST_LOOKS: usize = 4;

/// Between two looks while a program runs, at least.
const REST: Duration = Duration::from_secs(1);

/// So much longer than a look takes is the rest after it.
const RESTS: u32 = 50;

/// The repositories of one program.
#[derive(Debug)]
pub(super) struct Repositories {
    folders: Vec<PathBuf>,
    owner: GitOwner,
    /// The errands of before, and whether a working tree had them.
    known: HashMap<Digest, bool>,
    /// What was in the files that hold them.
    kept: BTreeMap<PathBuf, SnapshotEntry>,
    /// Folders that could not be read.
    closed: BTreeSet<PathBuf>,
    /// How deep the first look went.
    reach: usize,
    /// If that was not to the ground: when it began. Files that are older are not the program's.
    cut_at: Option<SystemTime>,
    next_look: Instant,
}

impl Repositories {
    /// Looks at those that are there. Gives also the files that their settings have git run, which nobody changes for
    /// the time being.
    pub(super) fn of(folders: Vec<PathBuf>, owner: &GitOwner) -> (Self, BTreeSet<PathBuf>) {
        let began = time();
        let until = now() + MAX_LOOK;
        let mut look = RepositoryScan::at(
            &folders,
            ScanBounds { folders: FOLDERS_BEFORE, until, opening_all_but: None },
        );
        look.read_errands(owner);
        let mut known: HashMap<Digest, bool> = look.places.iter().map(|place| (*place, true)).collect();
        for errand in &look.errands {
            *known.entry(errand.digest).or_default() |= errand.is_used;
        }
        let mut room = SnapshotBudget::new();
        // Without room for it a file is only set aside if it comes to that.
        let remember = |path: PathBuf| room.remember(&path).ok()?.map(|thing| (path, thing));
        let reach = look.reach();
        let repositories = Self {
            known,
            kept: look.files.into_iter().filter_map(remember).collect(),
            closed: look.closed.into_iter().map(|(folder, _)| folder).collect(),
            reach,
            cut_at: look.cut.map(|_| began),
            next_look: now() + REST,
            folders,
            owner: owner.clone(),
        };
        (repositories, look.references)
    }

    /// What speaks against the program that runs, if it is time for a look.
    pub(super) fn finding(&mut self) -> Option<Cause> {
        let began = now();
        if self.folders.is_empty() || began < self.next_look {
            return None;
        }
        let look = self.look(began + MAX_LOOK, None);
        let took = now() - began;
        self.next_look = now() + (took * RESTS).max(REST);
        // Nobody can use what lies in a folder that cannot be entered.
        let is_closed = look.closed.iter().any(|(folder, is_open)| *is_open && !self.closed.contains(folder));
        let is_shorter = look.cut.is_some_and(|cut| !cut.is_late && cut.depth < self.reach);
        match self.new_errands(&look).next().is_some() || is_closed {
            true => Some(Cause::Trespass),
            false => is_shorter.then_some(Cause::Limit(Limit::Folders)),
        }
    }

    /// Takes new errands away and opens folders that were closed to the look, and gives what spoke against the program.
    pub(super) fn put_back(&self) -> Option<Cause> {
        if self.folders.is_empty() {
            return None;
        }
        let until = now() + MAX_LAST_LOOKS;
        let (mut finding, mut opened) = (None, Vec::new());
        for _ in 0..LAST_LOOKS {
            let mut look = self.look(until, Some(&self.closed));
            let is_closed = look.closed.iter().any(|(folder, _)| !self.closed.contains(folder))
                || look.opened.iter().any(|(_, mode)| is_enterable(*mode));
            opened.append(&mut look.opened);
            let errands: Vec<&GitExecution> = self.new_errands(&look).collect();
            errands.iter().for_each(|errand| self.put_back_one(errand));
            if is_closed || !errands.is_empty() {
                finding = Some(Cause::Trespass);
            } else if look.reach() < self.reach {
                finding = finding.or(Some(Cause::Limit(Limit::Folders)));
            }
            if errands.is_empty() {
                break;
            }
        }
        // Those that nobody could enter are as they were, the inner ones first.
        for (folder, mode) in opened.into_iter().rev().filter(|(_, mode)| !is_enterable(*mode)) {
            let root = self.folders.iter().find(|root| folder.starts_with(root));
            drop(root.map(|root| change_mode(root, &folder, |_| mode)));
        }
        finding
    }

    fn look(&self, until: Instant, opening_all_but: Option<&BTreeSet<PathBuf>>) -> RepositoryScan {
        // Where the first look was cut short there is no telling what the program made.
        let more = if self.cut_at.is_none() { FOLDERS_MADE } else { 0 };
        let bounds = ScanBounds { folders: FOLDERS_BEFORE + more, until, opening_all_but };
        let mut look = RepositoryScan::at(&self.folders, bounds);
        look.read_errands(&self.owner);
        look
    }

    fn new_errands<'a>(&self, look: &'a RepositoryScan) -> impl Iterator<Item = &'a GitExecution> {
        look.errands.iter().filter(|errand| {
            let is_known = self.known.get(&errand.digest).is_some_and(|used| *used || !errand.is_used);
            let is_young = |since| errand.chain.iter().any(|path| is_changed_since(path, since));
            !is_known && self.cut_at.is_none_or(is_young)
        })
    }

    /// Puts back the first of its files that is not as it was; if all are, the last one is set aside.
    fn put_back_one(&self, errand: &GitExecution) {
        let keepsakes = || errand.chain.iter().filter_map(|path| self.keepsake(path));
        let changed = keepsakes().find(Snapshot::is_changed);
        let unchanged = || keepsakes().next_back().map(|keepsake| Snapshot { was: None, ..keepsake });
        // Who asked hears of it either way.
        drop(changed.or_else(unchanged).map(|keepsake| keepsake.put_back()));
    }

    /// What was there before, which may be nothing.
    fn keepsake(&self, path: &Path) -> Option<Snapshot> {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder))?;
        let inner = path.strip_prefix(folder).ok()?.to_owned();
        Some(Snapshot { folder: folder.clone(), path: inner, was: self.kept.get(path).cloned() })
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

#[cfg(test)]
#[path = "repositories_tests.rs"]
mod tests;
