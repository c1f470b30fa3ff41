//! Why a backup could not be made or brought back, told apart.

use std::io;
use std::path::PathBuf;

use toolroom_host::archive::ArchiveError;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_VARIABLE, SealError};
use toolroom_store::StoreError;

/// Why a backup could not be made or brought back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    /// There is no key file that could be put inside.
    #[error(
        "the master key comes from `{KEY_VARIABLE}`, not from a file, and is not put inside; keep it where it is kept now"
    )]
    KeyInEnvironment,
    /// Two keys open what is stored, and a backup holds one.
    #[error(
        "the master key is being changed, or its change was broken off; finish it with `toolroom secrets rotate`"
    )]
    KeyChanges,
    /// What was restored could not be opened afterwards.
    #[error(
        "what is sealed in the backup needs the key inside, and another key is here; add --with-key to put the one inside in its place (the present one is kept beside it)"
    )]
    OtherKey,
    /// A key that is put into a file would not count.
    #[error("`{KEY_VARIABLE}` is set, so a key file would not count; unset it, or leave out --with-key")]
    KeyWouldNotCount,
    /// There is no key inside.
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
    /// There is no configuration file inside.
    #[error("there is no configuration file inside; leave out --config")]
    NoConfigInside,
    /// Others use what would be replaced.
    #[error("{who} at work in `{}`; end it, then try again", folder.display())]
    InUse {
        /// Who.
        who: String,
        /// Where.
        folder: PathBuf,
    },
    /// What is there was made by a newer version.
    #[error(
        "the database that is there is newer than this Toolroom, and is not replaced by it; go back to the copy beside it with `toolroom migrate --back`, or move it away first"
    )]
    PresentIsNewer(#[source] StoreError),
    /// A newer version has changed the database, and no copy from before is there.
    #[error(
        "no copy from before lies beside it; bring a backup back with `toolroom backup restore FILE`, once you have moved the database away"
    )]
    NoWayBack(#[source] StoreError),
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
    /// The archive changed after it had been verified.
    #[error("the backup changed while it was read; try again when nobody writes to it")]
    Changed,
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The keys.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// A database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused.
    #[error("cannot work in `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// This process.
    #[error("{0:#}")]
    Presence(anyhow::Error),
    /// The folders.
    #[error(transparent)]
    Folders(#[from] toolroom_host::folders::FoldersError),
}

impl BackupError {
    /// What kept a member from being put into a folder of our own, whose name nobody knows.
    pub(super) fn extracting(error: ArchiveError, folders: &Folders) -> Self {
        match error {
            ArchiveError::Io { source, .. } => Self::Io { path: folders.data.clone(), source },
            other => other.into(),
        }
    }
}
