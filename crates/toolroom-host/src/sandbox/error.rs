//! Errors of the sandbox.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::level::Level;

/// An error of the sandbox. Nothing was started.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// This machine does not support the requested level.
    #[error("this machine cannot confine programs (level: {}): {reason}", wanted.map_or("any", Level::name))]
    Unavailable {
        /// The requested level.
        wanted: Option<Level>,
        /// What is missing, and what to do.
        reason: String,
    },
    /// A folder of the profile is not accessible.
    #[error("the folder `{}` of the sandbox cannot be used", folder.display())]
    Folder {
        /// As configured.
        folder: PathBuf,
        /// The system's message.
        source: Arc<io::Error>,
    },
    /// A folder of the profile contains system folders.
    #[error("`{}` cannot be a folder of the sandbox, as the system is in it: choose a folder for the work", folder.display())]
    TooWide {
        /// As configured.
        folder: PathBuf,
    },
    /// A folder of the profile is a link that a program could have created.
    #[error(
        "`{}` leads out of `{}`, in which programs could have put a link there: name the folder it leads to, or remove \
         the link",
        given.display(),
        folder.display()
    )]
    LeadsOut {
        /// As configured.
        given: PathBuf,
        /// The writable folder with the link.
        folder: PathBuf,
    },
    /// This level allows whole folders only, and something in this one must be hidden.
    #[error(
        "`{}` lies in `{}`, and without bubblewrap nothing can be kept from a program inside a folder it may use: \
         install bubblewrap, or move it elsewhere",
        path.display(),
        folder.display()
    )]
    CannotExcept {
        /// The path to hide.
        path: PathBuf,
        /// The usable folder.
        folder: PathBuf,
    },
    /// This level allows whole folders only, and this one contains home folders.
    #[error(
        "`{}` holds a home, and without bubblewrap the keys and start files in it cannot be kept from a program: install \
         bubblewrap, or choose a folder inside it",
        folder.display()
    )]
    HoldsHome {
        /// The usable folder.
        folder: PathBuf,
    },
    /// Too many folders, credentials or start files.
    #[error(
        "`{}` has too many folders, credential files or start files to keep them from a program: choose a smaller folder, or \
         open the credentials in it to programs (`files.programs_read = [\"*\"]`), which leaves what is too much unprotected",
        folder.display()
    )]
    TooMuch {
        /// The usable folder.
        folder: PathBuf,
    },
    /// A link of ours leads to a path that a program could create.
    #[error(
        "Toolroom's own `{}` is missing and lies in `{}`, where a program could make it: make it first, or remove the link \
         that leads there",
        path.display(),
        folder.display()
    )]
    OwnIsMissing {
        /// The target of the link.
        path: PathBuf,
        /// The writable folder.
        folder: PathBuf,
    },
    /// Root's folder is not writable for the user the program runs as.
    #[error(
        "started by root, the program would be user {uid}, who may not change `{0}`: give the folder to that user \
         (`chown -R {uid} '{0}'`), or start Toolroom as an ordinary user",
        folder.display()
    )]
    NotItsOwn {
        /// The folder.
        folder: PathBuf,
        /// That user.
        uid: u32,
    },
    /// A folder is not reachable for the user the program runs as.
    #[error(
        "started by root, the program would be user {uid}, who may not go through `{}` to `{}`: install bubblewrap, or \
         work in a folder that this user can reach",
        above.display(),
        folder.display()
    )]
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// The inaccessible parent.
        above: PathBuf,
        /// That user.
        uid: u32,
    },
    /// A proxy needs a network namespace.
    #[error(
        "single hosts can be allowed only with bubblewrap, which gives a program a network of its own: install it, or switch the network off"
    )]
    NoProxy,
}
