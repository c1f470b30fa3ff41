//! Which of the folders that should be open are.

use std::io;
use std::path::PathBuf;

use super::error::{FileError, RootProblem};
use super::root::{Access, Origin, Root};
use super::workspace::Workspace;
use crate::machine::{FileId, may_write};

/// A folder that should be open to a project.
#[derive(Debug)]
pub struct RootReport {
    /// As it was named.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
    /// How it was found.
    pub state: RootState,
}

/// How a folder was found.
#[derive(Debug)]
pub enum RootState {
    /// It can be used.
    Open,
    /// It is made when it is first used.
    NotMade,
    /// It cannot be opened.
    Closed(RootProblem),
    /// It can be read, though it should be written.
    Unwritable(io::Error),
}

impl Workspace {
    /// Looks at every folder that should be open, the workspace first. Makes nothing. Blocks.
    #[must_use]
    pub fn survey(&self) -> Vec<RootReport> {
        let roots = self.roots().map(|root| {
            let is_made = root.origin == Origin::Given || !matches!(FileId::from_path(&root.path), Ok(None));
            let state = match is_made.then(|| self.open(root)) {
                None => RootState::NotMade,
                Some(opened) => state_of(opened),
            };
            RootReport { path: root.path.clone(), access: root.access, state }
        });
        roots.collect()
    }
}

fn state_of(opened: Result<Root, FileError>) -> RootState {
    match opened {
        Ok(root) if root.access == Access::Writable => {
            may_write(root.path()).map_or_else(RootState::Unwritable, |()| RootState::Open)
        }
        Ok(_) => RootState::Open,
        Err(FileError::Root { trouble, .. }) => RootState::Closed(trouble),
        Err(other) => RootState::Closed(RootProblem::System(io::Error::other(other))),
    }
}
