//! Why a program cannot be confined as it was asked for.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::level::Level;

/// An error of the sandbox. Nothing has been started.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// This machine has no such confinement.
    #[error("this machine cannot confine programs (level: {}): {reason}", wanted.map_or("any", Level::name))]
    Unavailable {
        /// What was asked for.
        wanted: Option<Level>,
        /// What is missing, and what to do.
        reason: String,
    },
    /// A folder of the profile cannot be looked at.
    #[error("the folder `{}` of the sandbox cannot be used", folder.display())]
    Folder {
        /// As it was given.
        folder: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A folder of the profile holds the system.
    #[error("`{}` cannot be a folder of the sandbox, as the system is in it: choose a folder for the work", folder.display())]
    TooWide {
        /// As it was given.
        folder: PathBuf,
    },
    /// A folder of the profile is a link that a program could have made.
    #[error(
        "`{}` leads out of `{}`, in which programs could have put a link there: name the folder it leads to, or remove \
         the link",
        given.display(),
        folder.display()
    )]
    LeadsOut {
        /// As it was given.
        given: PathBuf,
        /// What programs may change.
        folder: PathBuf,
    },
    /// This level allows whole folders only.
    #[error(
        "`{}` lies in `{}`, and without bubblewrap nothing can be kept from a program inside a folder it may use: \
         install bubblewrap, or move it elsewhere",
        path.display(),
        folder.display()
    )]
    CannotExcept {
        /// What should be kept from it.
        path: PathBuf,
        /// The folder it may use.
        folder: PathBuf,
    },
    /// This level allows whole folders only, and this one is too much.
    #[error(
        "`{}` holds a home, and without bubblewrap the keys and start files in it cannot be kept from a program: install \
         bubblewrap, or choose a folder inside it",
        folder.display()
    )]
    HoldsHome {
        /// The folder it may use.
        folder: PathBuf,
    },
    /// More folders, credentials or start files than can be looked at.
    #[error(
        "`{}` has too many folders, credential files or start files to keep them from a program: choose a smaller folder, or \
         open the credentials in it to programs (`files.programs_read = [\"*\"]`), which leaves what is too much unprotected",
        folder.display()
    )]
    TooMuch {
        /// The folder it may use.
        folder: PathBuf,
    },
    /// A link of ours leads to what a program could make.
    #[error(
        "Toolroom's own `{}` is missing and lies in `{}`, where a program could make it: make it first, or remove the link \
         that leads there",
        path.display(),
        folder.display()
    )]
    OwnIsMissing {
        /// What the link leads to.
        path: PathBuf,
        /// What programs may change.
        folder: PathBuf,
    },
    /// Root's folders cannot be changed by the user a program becomes.
    #[error(
        "started by root, the program would be user {uid}, who may not change `{0}`: give the folder to that user \
         (`chown -R {uid} '{0}'`), or start Toolroom as an ordinary user",
        folder.display()
    )]
    NotItsOwn {
        /// The folder.
        folder: PathBuf,
        /// Who the program would be.
        uid: u32,
    },
    /// The way to a folder is closed to the user a program becomes.
    #[error(
        "started by root, the program would be user {uid}, who may not go through `{}` to `{}`: install bubblewrap, or \
         work in a folder that this user can reach",
        above.display(),
        folder.display()
    )]
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// The one above it that is closed.
        above: PathBuf,
        /// Who the program would be.
        uid: u32,
    },
    /// A proxy needs a network of its own.
    #[error(
        "single hosts can be allowed only with bubblewrap, which gives a program a network of its own: install it, or switch the network off"
    )]
    NoProxy,
}
