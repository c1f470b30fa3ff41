//! `toolroom migrate --back`: restores the copy that a newer Toolroom made before it migrated the database. The newer
//! database is kept under another name.

use std::path::{Path, PathBuf};

use toolroom_host::folders::Folders;
use toolroom_host::replacement::{Replacement, is_there, replace};
use toolroom_store::{BackupFacts, StoreError, copies_before, inspect, plan_migration};

use super::error::BackupError;
use super::restore::{SHARED_MEMORY, WRITE_AHEAD_LOG, lock_exclusively};
use crate::database::DATABASE;

#[derive(Debug)]
pub(crate) struct Rollback {
    pub(crate) copy: PathBuf,
    pub(crate) facts: BackupFacts,
    /// The schema of the current database.
    pub(crate) found: i64,
}

impl Rollback {
    /// The copy that is nearest to the schema of this version. `None` if the database is not newer.
    pub(crate) async fn find(folders: &Folders) -> Result<Option<Self>, BackupError> {
        let database = folders.data.join(DATABASE);
        let (found, known, newer) = match plan_migration(&database).await {
            Err(newer @ StoreError::Newer { found, known, .. }) => (found, known, newer),
            plan => {
                plan?;
                return Ok(None);
            }
        };
        let mut unreadable = None;
        for copy in copies_before(&database, known, found).filter(|copy| is_there(copy)) {
            match inspect(&copy).await {
                Ok(facts) => return Ok(Some(Self { copy, facts, found })),
                Err(error) => {
                    tracing::warn!("skipping `{}`: {error}", copy.display());
                    // The first one is nearest, so it is the one to report.
                    unreadable.get_or_insert((copy, error));
                }
            }
        }
        Err(match unreadable {
            Some((copy, source)) => BackupError::UnreadableCopy { copy, source },
            None => BackupError::NoRollbackCopy(newer),
        })
    }

    /// Restores the copy. Returns where the newer database is now.
    pub(crate) async fn apply(&self, folders: &Folders) -> Result<Option<PathBuf>, BackupError> {
        let lock = lock_exclusively(&folders.data).await?;
        let kept = put(&self.copy, &folders.data.join(DATABASE), self.found);
        drop(lock);
        kept.map_err(|source| BackupError::Io { path: folders.data.clone(), source })
    }
}

fn put(copy: &Path, database: &Path, found: i64) -> std::io::Result<Option<PathBuf>> {
    // SQLite would apply a remaining log to the copy.
    replace(Replacement::File(copy), database, &format!("schema-{found}"), &[WRITE_AHEAD_LOG, SHARED_MEMORY])
}
