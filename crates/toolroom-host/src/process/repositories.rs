//! Repositories in the folders of a program: what git would run for their next user.
//!
//! Repositories may be anywhere below a folder, and a program may create more. The folders are scanned before the program
//! starts, periodically while it runs, and after its end. A new execution (see `git_executions.rs`) is removed: the file
//! that defines it is set aside, and its old content is restored. Harmless settings may change. A folder locked against
//! the scan is opened; a scan cut short by folders the program created ends the program.

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

/// Maximum number of folders scanned before a program starts, nearest first.
const FOLDERS_BEFORE: usize = 10_000;

/// Maximum number of folders a program may create: more than JavaScript packages usually have.
const FOLDERS_MADE: usize = 40_000;

/// Timeout of a scan, and of all final scans together.
const MAX_LOOK: Duration = Duration::from_secs(1);
const MAX_LAST_LOOKS: Duration = Duration::from_secs(2);

/// Maximum number of final scans: removing one execution may uncover another.
const LAST_LOOKS: usize = 4;

/// Minimum pause between two scans while a program runs.
const MIN_PAUSE: Duration = Duration::from_secs(1);

/// The pause after a scan, as a multiple of its duration.
const PAUSE_FACTOR: u32 = 50;

/// The repositories of one program.
#[derive(Debug)]
pub(super) struct Repositories {
    folders: Vec<PathBuf>,
    owner: GitOwner,
    /// Executions that existed before, and whether a working tree had them.
    known: HashMap<Digest, bool>,
    /// The old content of the files that define them.
    kept: BTreeMap<PathBuf, SnapshotEntry>,
    /// Folders that could not be read.
    closed: BTreeSet<PathBuf>,
    /// Depth of the first scan.
    reach: usize,
    /// If that scan was cut short: when it began. Older files are not the program's.
    cut_at: Option<SystemTime>,
    next_look: Instant,
}

impl Repositories {
    /// Scans existing repositories. Also returns the files that their settings have git run, which must not change for
    /// now.
    pub(super) fn scan(folders: Vec<PathBuf>, owner: &GitOwner) -> (Self, BTreeSet<PathBuf>) {
        let began = time();
        let until = now() + MAX_LOOK;
        let mut look = RepositoryScan::at(
            &folders,
            ScanBounds { folders: FOLDERS_BEFORE, until, opening_all_but: None },
        );
        look.read_executions(owner);
        let mut known: HashMap<Digest, bool> = look.places.iter().map(|place| (*place, true)).collect();
        for execution in &look.executions {
            *known.entry(execution.digest).or_default() |= execution.is_used;
        }
        let mut room = SnapshotBudget::new();
        // If its content does not fit, a file is only set aside.
        let remember = |path: PathBuf| room.remember(&path).ok()?.map(|thing| (path, thing));
        let reach = look.reach();
        let repositories = Self {
            known,
            kept: look.files.into_iter().filter_map(remember).collect(),
            closed: look.closed.into_iter().map(|(folder, _)| folder).collect(),
            reach,
            cut_at: look.cut.map(|_| began),
            next_look: now() + MIN_PAUSE,
            folders,
            owner: owner.clone(),
        };
        (repositories, look.references)
    }

    /// A reason to end the running program, if a scan is due.
    pub(super) fn finding(&mut self) -> Option<Cause> {
        let began = now();
        if self.folders.is_empty() || began < self.next_look {
            return None;
        }
        let look = self.look(began + MAX_LOOK, None);
        let took = now() - began;
        self.next_look = now() + (took * PAUSE_FACTOR).max(MIN_PAUSE);
        // Files in a folder that cannot be entered are unusable.
        let is_closed = look.closed.iter().any(|(folder, is_open)| *is_open && !self.closed.contains(folder));
        let is_shorter = look.cut.is_some_and(|cut| !cut.is_late && cut.depth < self.reach);
        match self.new_executions(&look).next().is_some() || is_closed {
            true => Some(Cause::Trespass),
            false => is_shorter.then_some(Cause::Limit(Limit::Folders)),
        }
    }

    /// Removes new executions, opens locked folders, and returns the violation, if any.
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
            let executions: Vec<&GitExecution> = self.new_executions(&look).collect();
            executions.iter().for_each(|execution| self.put_back_one(execution));
            if is_closed || !executions.is_empty() {
                finding = Some(Cause::Trespass);
            } else if look.reach() < self.reach {
                finding = finding.or(Some(Cause::Limit(Limit::Folders)));
            }
            if executions.is_empty() {
                break;
            }
        }
        // Folders that were inaccessible before are closed again, inner ones first.
        for (folder, mode) in opened.into_iter().rev().filter(|(_, mode)| !is_enterable(*mode)) {
            let root = self.folders.iter().find(|root| folder.starts_with(root));
            drop(root.map(|root| change_mode(root, &folder, |_| mode)));
        }
        finding
    }

    fn look(&self, until: Instant, opening_all_but: Option<&BTreeSet<PathBuf>>) -> RepositoryScan {
        // If the first scan was cut short, folders of the program cannot be told apart.
        let more = if self.cut_at.is_none() { FOLDERS_MADE } else { 0 };
        let bounds = ScanBounds { folders: FOLDERS_BEFORE + more, until, opening_all_but };
        let mut look = RepositoryScan::at(&self.folders, bounds);
        look.read_executions(&self.owner);
        look
    }

    fn new_executions<'a>(&self, look: &'a RepositoryScan) -> impl Iterator<Item = &'a GitExecution> {
        look.executions.iter().filter(|execution| {
            let is_known = self.known.get(&execution.digest).is_some_and(|used| *used || !execution.is_used);
            let is_young = |since| execution.chain.iter().any(|path| is_changed_since(path, since));
            !is_known && self.cut_at.is_none_or(is_young)
        })
    }

    /// Restores the first of its files that has changed; if none has, sets the last one aside.
    fn put_back_one(&self, execution: &GitExecution) {
        let snapshots = || execution.chain.iter().filter_map(|path| self.old_content(path));
        let changed = snapshots().find(Snapshot::is_changed);
        let unchanged = || snapshots().next_back().map(|old_content| Snapshot { was: None, ..old_content });
        // The caller is notified in any case.
        drop(changed.or_else(unchanged).map(|old_content| old_content.put_back()));
    }

    /// The old content, possibly none.
    fn old_content(&self, path: &Path) -> Option<Snapshot> {
        let folder = self.folders.iter().find(|folder| path.starts_with(folder))?;
        let inner = path.strip_prefix(folder).ok()?.to_owned();
        Some(Snapshot { folder: folder.clone(), path: inner, was: self.kept.get(path).cloned() })
    }
}

/// Only the kernel sets the change time.
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
