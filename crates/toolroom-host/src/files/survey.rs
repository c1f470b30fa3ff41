//! Reports which configured folders can be opened.

use std::io;
use std::path::PathBuf;

use super::error::{FileError, RootProblem};
use super::root::{Access, Origin, Root};
use super::workspace::Workspace;
use crate::machine::{FileId, may_write};

/// A configured folder of a project.
#[derive(Debug)]
pub struct RootReport {
    /// The configured path.
    pub path: PathBuf,
    /// The configured access.
    pub access: Access,
    /// The result.
    pub state: RootState,
}

/// The state of a configured folder.
#[derive(Debug)]
pub enum RootState {
    /// It can be used.
    Open,
    /// It is created on first use.
    NotMade,
    /// It cannot be opened.
    Closed(RootProblem),
    /// It can only be read, although it is configured as writable.
    Unwritable(io::Error),
}

impl Workspace {
    /// Checks every configured folder, the workspace first. Creates nothing. Blocks.
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
