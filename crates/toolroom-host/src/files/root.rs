//! A folder that was opened for tools.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::error::{FileError, RootProblem};
use super::judge::Judge;
use super::path_handle::PathHandle;
use super::protected::Protected;
use crate::folders::make_workspace;

/// What may be done below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading and listing.
    ReadOnly,
    /// Writing too.
    Writable,
}

/// Where a root is, before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootFolder {
    pub(super) path: PathBuf,
    pub(super) access: Access,
    pub(super) origin: Origin,
}

/// Who chose a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A person, who may be mistaken: it is judged, and must be there.
    Given,
    /// We did, inside our own data folder: it is made if it is missing, wherever that folder is.
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
        // What is not judged must be the folder we made, and not one that a link leads to.
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

    /// Its real name.
    pub(super) fn path(&self) -> &Path {
        &self.folder.place
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}
