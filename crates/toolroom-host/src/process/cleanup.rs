//! Prepares a confined program, and restores protected files after its end.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::Mode;
use rustix::process::Uid;

use super::descendants::Descendant;
use super::disk::Disk;
use super::end::{Cause, Limit};
use super::repositories::Repositories;
use super::snapshot::Snapshots;
use super::wire::{StartError, Task};
use crate::sandbox::{Confinement, Level, UnconfirmedMarks, User};
use crate::work_folder::WorkFolder;

/// Files referenced by git settings that are locked in advance; further ones are only watched.
const MAX_REFERENCES: usize = 32;

/// The folder for temporary files.
const TEMPORARY: &str = "tmp";

/// What has to be cleaned up. Dropping it removes temporary files.
#[derive(Debug, Default)]
pub(super) struct Cleanup {
    /// The parent of the temporary folder.
    temporary: Option<WorkFolder>,
    /// Files that must be unchanged.
    snapshots: Snapshots,
    /// Files covered by mounts.
    covered: Option<Confinement>,
    /// Repositories that must not run anything new.
    repositories: Option<Repositories>,
    /// Held until the program has ended.
    _marks: UnconfirmedMarks,
    /// The disk limit.
    disk: Option<Disk>,
}

impl Cleanup {
    /// Creates what the program of this task needs, and adds the paths to the task.
    pub(super) fn prepared(task: &mut Task) -> Result<Self, StartError> {
        let Some(confinement) = &mut task.confinement else { return Ok(Self::default()) };
        let covered = Some(confinement.clone());
        let shared = confinement.shared().cloned().collect();
        let (repositories, references) = Repositories::scan(shared, &task.git_owner);
        confinement.lock(references.into_iter().take(MAX_REFERENCES));
        let snapshots = Snapshots::take(confinement.unguarded()).map_err(|source| {
            StartError::Confinement(format!(
                "what is protected in its folders cannot be remembered: {source}"
            ))
        })?;
        let marks = UnconfirmedMarks::put(&confinement.unconfigured).map_err(|source| {
            StartError::Confinement(format!("the folder of the configuration cannot be marked: {source}"))
        })?;
        let repositories = Some(repositories);
        let mut place = Self { snapshots, covered, repositories, _marks: marks, ..Self::default() };
        if let Some(user) = confinement.user {
            give_pipes(user).map_err(StartError::preparing)?;
        }
        if confinement.level() == Level::Landlock {
            let work = WorkFolder::passing().map_err(StartError::preparing)?;
            // The parent is ours, so that the program cannot lock it.
            let folder = work.inner(TEMPORARY, confinement.user).map_err(StartError::preparing)?;
            place.temporary = Some(work);
            confinement.temporary = Some(folder);
        }
        place.disk = task.limits.disk_bytes.map(|bound| Disk::new(confinement.folders(), bound));
        for (name, value) in confinement.variables() {
            task.variables.retain(|(there, _)| there != name);
            task.variables.push((name.to_owned(), value.into_os_string()));
        }
        Ok(place)
    }

    /// A reason to end the running program.
    pub(super) fn finding(&mut self, living: &[Descendant]) -> Option<Cause> {
        if self.disk.as_mut().is_some_and(|disk| disk.is_full(living)) {
            return Some(Cause::Limit(Limit::Disk));
        }
        if self.snapshots.are_changed() {
            return Some(Cause::Trespass);
        }
        if self.covered.as_ref().is_some_and(Confinement::is_uncovered) {
            return Some(Cause::Uncovered);
        }
        self.repositories.as_mut().and_then(Repositories::finding)
    }

    /// Restores everything and returns the violation, if any. All processes have ended.
    pub(super) fn put_back(&mut self) -> Option<Cause> {
        let is_changed = self.snapshots.put_back();
        let finding = self.repositories.as_ref().and_then(Repositories::put_back);
        let is_full = self.disk.as_mut().is_some_and(|disk| disk.is_full(&[]));
        match is_changed {
            true => Some(Cause::Trespass),
            false => finding.or(is_full.then_some(Cause::Limit(Limit::Disk))),
        }
    }
}

/// Gives the output pipes to the user: programs reopen them as `/dev/stderr`, and so does our init stage, which is root
/// without the right to open everything.
fn give_pipes(user: User) -> io::Result<()> {
    for stream in [io::stdout().as_fd(), io::stderr().as_fd()] {
        rustix::fs::fchown(stream, Some(Uid::from_raw(user.uid)), None)?;
        rustix::fs::fchmod(stream, Mode::from_raw_mode(0o660))?;
    }
    Ok(())
}
