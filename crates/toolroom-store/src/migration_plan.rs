//! What opening a database would change, told without changing it.

use std::path::{Path, PathBuf};

use sqlx::Connection;

use crate::StoreError;
use crate::connect::{Purpose, connect};
use crate::migrate::{MAX_COPIES, MIGRATIONS, Schema, copy_path, newest};

/// How many schemas a way back is looked for.
const MAX_STEPS_BACK: i64 = 100;

/// What opening a database would do to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationPlan {
    /// The newest migration it has seen; 0 if there is nothing in it yet.
    pub found: i64,
    /// The schema it would get.
    pub known: i64,
    /// What is missing, oldest first; nothing where all is as it should be.
    pub steps: Vec<MigrationStep>,
    path: PathBuf,
}

impl MigrationPlan {
    /// Where it would be kept as it is now: under the first name that is not taken. Nothing is kept where nothing would
    /// change, or where there is nothing yet.
    pub fn copy(&self, is_taken: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let is_kept = self.found > 0 && !self.steps.is_empty();
        let mut names = (1..=MAX_COPIES).map(|number| copy_path(&self.path, self.known, number));
        if is_kept { names.find(|name| !is_taken(name)) } else { None }
    }
}

/// One step of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrationStep {
    /// The schema it leads to.
    pub schema: i64,
    /// What comes with it.
    pub brings: &'static str,
}

/// The schema that this version makes.
#[must_use]
pub fn newest_schema() -> i64 {
    newest(MIGRATIONS)
}

/// Every step there is, oldest first.
pub fn migration_steps() -> impl Iterator<Item = MigrationStep> {
    MIGRATIONS.iter().map(|step| MigrationStep { schema: step.version, brings: step.brings })
}

/// What opening the database at `path` would do. Changes nothing.
///
/// # Errors
/// When the file cannot be opened, is no database of ours, or is newer than this version.
pub async fn plan_migration(path: &Path) -> Result<MigrationPlan, StoreError> {
    let mut connection = connect(path, Purpose::Read).await?;
    let schema = Schema::of(&mut connection, path).await;
    // Nothing was written through it, so nothing can be lost.
    drop(connection.close().await);
    let schema = schema?;
    schema.is_current(path, MIGRATIONS)?;
    let (found, known) = (schema.version, newest_schema());
    let steps: Vec<MigrationStep> = migration_steps().filter(|step| step.schema > found).collect();
    Ok(MigrationPlan { found, known, steps, path: path.to_owned() })
}

/// The copies that newer versions may have made of the database at `path` before they changed it from schema `known` to
/// one up to `found`, those first that come nearest to what this version left.
pub fn copies_before(path: &Path, known: i64, found: i64) -> impl Iterator<Item = PathBuf> {
    let last = found.min(known.saturating_add(MAX_STEPS_BACK));
    let versions = known.saturating_add(1)..=last;
    versions
        .flat_map(move |version| (1..=MAX_COPIES).rev().map(move |number| copy_path(path, version, number)))
}
