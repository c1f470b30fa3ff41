//! The way back from a newer Toolroom: it kept the database as it was before changing it, and that copy takes its place
//! again. What the newer one has written since is kept beside.

use std::path::{Path, PathBuf};

use toolroom_host::folders::Folders;
use toolroom_host::replacement::{Replacement, is_there, replace};
use toolroom_store::{BackupFacts, StoreError, copies_before, inspect, plan_migration};

use super::error::BackupError;
use super::restore::{SHARED_MEMORY, WRITE_AHEAD_LOG, wait_until_alone};
use crate::database::DATABASE;

/// A copy that can be gone back to.
#[derive(Debug)]
pub(crate) struct WayBack {
    /// The copy.
    pub(crate) copy: PathBuf,
    /// What is in it.
    pub(crate) facts: BackupFacts,
    /// The schema of the database that is there.
    pub(crate) found: i64,
}

impl WayBack {
    /// The copy nearest to what this version left. `None` where the database is not newer than this version.
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
                    tracing::warn!("`{}` is passed over: {error}", copy.display());
                    // The first one is the nearest to what this version left, and the one to mend.
                    unreadable.get_or_insert((copy, error));
                }
            }
        }
        Err(match unreadable {
            Some((copy, source)) => BackupError::UnreadableCopy { copy, source },
            None => BackupError::NoWayBack(newer),
        })
    }

    /// Takes it. Says where the newer database is now.
    pub(crate) async fn take(&self, folders: &Folders) -> Result<Option<PathBuf>, BackupError> {
        let alone = wait_until_alone(&folders.data).await?;
        let kept = put(&self.copy, &folders.data.join(DATABASE), self.found);
        drop(alone);
        kept.map_err(|source| BackupError::Io { path: folders.data.clone(), source })
    }
}

fn put(copy: &Path, database: &Path, found: i64) -> std::io::Result<Option<PathBuf>> {
    // Its log belongs to it: left, it would be taken for the copy's.
    replace(Replacement::File(copy), database, &format!("schema-{found}"), &[WRITE_AHEAD_LOG, SHARED_MEMORY])
}
