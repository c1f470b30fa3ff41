//! Errors of backups.

use std::io;
use std::path::PathBuf;

use toolroom_host::archive::ArchiveError;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_VARIABLE, SealError};
use toolroom_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    #[error(
        "the master key comes from `{KEY_VARIABLE}`, not from a file, and is not put inside; keep it where it is kept now"
    )]
    KeyInEnvironment,
    /// A rotation is unfinished: two keys are in use, and a backup holds one.
    #[error("a key rotation is unfinished; finish it with `toolroom secrets rotate`")]
    KeyChanges,
    #[error(
        "what is sealed in the backup needs the key inside, and another key is here; add --with-key to put the one inside in its place (the present one is kept beside it)"
    )]
    OtherKey,
    #[error("`{KEY_VARIABLE}` is set, so a key file would be ignored; unset it, or leave out --with-key")]
    KeyWouldNotCount,
    #[error("there is no master key inside; leave out --with-key")]
    NoKeyInside,
    /// The configuration file inside would keep every command from working.
    #[error(
        "the configuration file inside cannot be used: {why}; leave out --config, and where there is no `{}` yet, make one with `toolroom init`: it then stays, and everything else is restored",
        file.display()
    )]
    ConfigInside {
        /// What is wrong with it.
        why: String,
        /// Where it would go.
        file: PathBuf,
    },
    #[error("there is no configuration file inside; leave out --config")]
    NoConfigInside,
    #[error("{who} at work in `{}`; end it, then try again", folder.display())]
    InUse {
        /// Who.
        who: String,
        /// Where.
        folder: PathBuf,
    },
    #[error(
        "the database that is there is newer than this Toolroom, and is not replaced by it; go back to the copy beside it with `toolroom migrate --back`, or move it away first"
    )]
    PresentIsNewer(#[source] StoreError),
    /// A newer version has changed the database, and no copy from before is there.
    #[error(
        "no copy from before lies beside it; bring a backup back with `toolroom backup restore FILE`, once you have moved the database away"
    )]
    NoRollbackCopy(#[source] StoreError),
    /// A newer version has changed the database, and the copy from before cannot be read.
    #[error(
        "the copy from before, `{}`, cannot be gone back to, and nothing was changed; if you may not read it, look who may with `ls -l`, else bring a backup back with `toolroom backup restore FILE`, once you have moved the database away",
        copy.display()
    )]
    UnreadableCopy {
        /// The copy.
        copy: PathBuf,
        /// What is wrong with it.
        source: StoreError,
    },
    #[error("the backup changed while it was read; try again when no process writes to it")]
    Changed,
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot work in `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    #[error("{0:#}")]
    Presence(anyhow::Error),
    #[error(transparent)]
    Folders(#[from] toolroom_host::folders::FoldersError),
}

impl BackupError {
    /// An error while extracting into a temporary folder, without its random name.
    pub(super) fn extracting(error: ArchiveError, folders: &Folders) -> Self {
        match error {
            ArchiveError::Io { source, .. } => Self::Io { path: folders.data.clone(), source },
            other => other.into(),
        }
    }
}
