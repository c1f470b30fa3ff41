//! What is made for a confined program before it starts, and put back or cleared away after it has ended.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::Mode;
use rustix::process::Uid;

use super::keepsake::Keepsakes;
use super::repositories::Repositories;
use super::wire::{Refusal, Task};
use crate::folders::make_passing;
use crate::owner::give_to;
use crate::sandbox::{Level, Marks, User};

/// What has to be seen to in the end. Dropping it removes temporary files.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// A folder for temporary files.
    temporary: Option<PathBuf>,
    /// What must be as it was.
    keepsakes: Keepsakes,
    /// What must have nothing new to run.
    repositories: Option<Repositories>,
    /// Held until the program has ended.
    _marks: Marks,
}

impl Place {
    /// Makes what the program of this task needs, and tells the task where it is.
    pub(super) fn prepared(task: &mut Task) -> Result<Self, Refusal> {
        let Some(confinement) = &mut task.confinement else { return Ok(Self::default()) };
        let keepsakes = Keepsakes::of(confinement.unguarded()).map_err(|source| {
            Refusal::Confinement(format!("what is protected in its folders cannot be remembered: {source}"))
        })?;
        let repositories = Some(Repositories::of(confinement.shared().cloned().collect()));
        let marks = Marks::put(&confinement.unconfigured).map_err(|source| {
            Refusal::Confinement(format!("the folder of the configuration cannot be marked: {source}"))
        })?;
        let mut place = Self { temporary: None, keepsakes, repositories, _marks: marks };
        if let Some(user) = confinement.user {
            give_pipes(user).map_err(Refusal::preparing)?;
        }
        if confinement.level() == Level::Landlock {
            let folder = make_passing().map_err(Refusal::preparing)?;
            place.temporary = Some(folder.clone());
            if let Some(user) = confinement.user {
                give_to(user, &folder).map_err(|error| Refusal::preparing(error.into()))?;
            }
            confinement.temporary = Some(folder);
        }
        for (name, value) in confinement.variables() {
            task.variables.retain(|(there, _)| there != name);
            task.variables.push((name.to_owned(), value.into_os_string()));
        }
        Ok(place)
    }

    /// Whether something was changed that is protected.
    pub(super) fn is_trespassed(&mut self) -> bool {
        self.keepsakes.are_changed() || self.repositories.as_mut().is_some_and(Repositories::have_errands)
    }

    /// Puts everything back, and gives whether something had to be. Nobody is left who could be in the way.
    pub(super) fn put_back(&self) -> bool {
        let is_changed = self.keepsakes.put_back();
        self.repositories.as_ref().is_some_and(Repositories::put_back) || is_changed
    }
}

impl Drop for Place {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door: temporary files of a program that ended"
    )]
    fn drop(&mut self) {
        if let Some(folder) = &self.temporary {
            // No link in it is followed. What cannot be removed is in the folder that the system empties.
            drop(std::fs::remove_dir_all(folder));
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
