//! What is made for a confined program before it starts, and put back or cleared away after it has ended.

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

/// Files that settings of git lead to are closed beforehand up to this number; more are only watched.
const MAX_REFERENCES: usize = 32;

/// The folder for temporary files in one of ours.
const TEMPORARY: &str = "tmp";

/// What has to be seen to in the end. Dropping it removes temporary files.
#[derive(Debug, Default)]
pub(super) struct Cleanup {
    /// Around a folder for temporary files.
    temporary: Option<WorkFolder>,
    /// What must be as it was.
    keepsakes: Snapshots,
    /// What mounts lie over.
    covered: Option<Confinement>,
    /// What must have nothing new to run.
    repositories: Option<Repositories>,
    /// Held until the program has ended.
    _marks: UnconfirmedMarks,
    /// What must not be filled.
    disk: Option<Disk>,
}

impl Cleanup {
    /// Makes what the program of this task needs, and tells the task where it is.
    pub(super) fn prepared(task: &mut Task) -> Result<Self, StartError> {
        let Some(confinement) = &mut task.confinement else { return Ok(Self::default()) };
        let covered = Some(confinement.clone());
        let shared = confinement.shared().cloned().collect();
        let (repositories, references) = Repositories::of(shared, &task.git_owner);
        confinement.lock(references.into_iter().take(MAX_REFERENCES));
        let keepsakes = Snapshots::of(confinement.unguarded()).map_err(|source| {
            StartError::Confinement(format!(
                "what is protected in its folders cannot be remembered: {source}"
            ))
        })?;
        let marks = UnconfirmedMarks::put(&confinement.unconfigured).map_err(|source| {
            StartError::Confinement(format!("the folder of the configuration cannot be marked: {source}"))
        })?;
        let repositories = Some(repositories);
        let mut place = Self { keepsakes, covered, repositories, _marks: marks, ..Self::default() };
        if let Some(user) = confinement.user {
            give_pipes(user).map_err(StartError::preparing)?;
        }
        if confinement.level() == Level::Landlock {
            let work = WorkFolder::passing().map_err(StartError::preparing)?;
            // The folder around it is ours, so that the program cannot close it.
            let folder = work.inner(TEMPORARY, confinement.user).map_err(StartError::preparing)?;
            place.temporary = Some(work);
            confinement.temporary = Some(folder);
        }
        place.disk = task.limits.disk_bytes.map(|bound| Disk::of(confinement.folders(), bound));
        for (name, value) in confinement.variables() {
            task.variables.retain(|(there, _)| there != name);
            task.variables.push((name.to_owned(), value.into_os_string()));
        }
        Ok(place)
    }

    /// What speaks against the program that runs.
    pub(super) fn finding(&mut self, living: &[Descendant]) -> Option<Cause> {
        if self.disk.as_mut().is_some_and(|disk| disk.is_full(living)) {
            return Some(Cause::Limit(Limit::Disk));
        }
        if self.keepsakes.are_changed() {
            return Some(Cause::Trespass);
        }
        if self.covered.as_ref().is_some_and(Confinement::is_uncovered) {
            return Some(Cause::Uncovered);
        }
        self.repositories.as_mut().and_then(Repositories::finding)
    }

    /// Puts everything back, and gives what spoke against the program. No process of it is left.
    pub(super) fn put_back(&mut self) -> Option<Cause> {
        let is_changed = self.keepsakes.put_back();
        let finding = self.repositories.as_ref().and_then(Repositories::put_back);
        let is_full = self.disk.as_mut().is_some_and(|disk| disk.is_full(&[]));
        match is_changed {
            true => Some(Cause::Trespass),
            false => finding.or(is_full.then_some(Cause::Limit(Limit::Disk))),
        }
    }
}

/// Its output streams become its own: programs open them once more, as `/dev/stderr`. So does our stage inside the
/// namespaces, which is root without the right to open everything, and has only its group left.
fn give_pipes(user: User) -> io::Result<()> {
    for stream in [io::stdout().as_fd(), io::stderr().as_fd()] {
        rustix::fs::fchown(stream, Some(Uid::from_raw(user.uid)), None)?;
        rustix::fs::fchmod(stream, Mode::from_raw_mode(0o660))?;
    }
    Ok(())
}
