//! A folder opened for tools.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::error::{FileError, RootProblem};
use super::judge::Judge;
use super::path_handle::PathHandle;
use super::protected::Protected;
use crate::folders::make_workspace;

/// The access to a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading and listing.
    ReadOnly,
    /// Also writing.
    Writable,
}

/// A root before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootFolder {
    pub(super) path: PathBuf,
    pub(super) access: Access,
    pub(super) origin: Origin,
}

/// Where a root comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Configured by a person: it is judged, and must exist.
    Given,
    /// A workspace in our own data folder: created if missing, and not judged.
    Ours,
}

/// An open root.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) origin: Origin,
    folder: PathHandle,
    pub(super) access: Access,
}

impl Root {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door: a folder that a person opened for tools"
    )]
    pub(super) fn open(place: &RootFolder, judge: &Judge, protected: &Protected) -> Result<Self, FileError> {
        let refused = |trouble| FileError::Root { root: place.path.clone(), trouble };
        if !place.path.is_absolute() {
            return Err(refused(RootProblem::NotAbsolute));
        }
        let mut flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // The folder is not judged, so it must be the one we made, not the target of a link.
        flags.set(OFlags::NOFOLLOW, place.origin == Origin::Ours);
        let mut found = open(&place.path, flags, Mode::empty());
        if matches!(found, Err(Errno::NOENT)) && place.origin == Origin::Ours {
            make_workspace(&place.path).map_err(|error| refused(RootProblem::System(error)))?;
            found = open(&place.path, flags, Mode::empty());
        }
        let folder = found.and_then(PathHandle::at).map_err(|errno| {
            refused(match errno {
                Errno::NOENT => RootProblem::Missing,
                Errno::NOTDIR => RootProblem::NotAFolder,
                other => RootProblem::System(other.into()),
            })
        })?;
        let judged = match place.origin {
            Origin::Given => judge.root(&folder.place),
            Origin::Ours => Ok(()),
        };
        judged.map_err(|refusal| refused(RootProblem::Refused(refusal)))?;
        if protected.is_folder(&folder.stat) {
            return Err(refused(RootProblem::Ours));
        }
        Ok(Self { origin: place.origin, folder, access: place.access })
    }

    /// Its real path.
    pub(super) fn path(&self) -> &Path {
        &self.folder.place
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}
