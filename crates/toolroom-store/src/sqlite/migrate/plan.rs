//! What opening a database would migrate, without doing it.

use std::path::{Path, PathBuf};

use sqlx::Connection;

use super::{MAX_COPIES, MIGRATIONS, Schema, copy_path, newest};
use crate::StoreError;
use crate::sqlite::connection::{Purpose, connect};

/// Limit of schemas between a copy and the current version.
const MAX_STEPS_BACK: i64 = 100;

/// What opening a database would migrate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationPlan {
    /// The newest migration it has seen; 0 if it is empty.
    pub found: i64,
    /// The schema it would get.
    pub known: i64,
    /// The missing migrations, oldest first.
    pub steps: Vec<MigrationStep>,
    path: PathBuf,
}

impl MigrationPlan {
    /// Where the copy would be stored: the first free name. `None` if no copy would be made, because nothing would change or
    /// the database is empty.
    pub fn copy(&self, is_taken: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let is_copied = self.found > 0 && !self.steps.is_empty();
        let mut names = (1..=MAX_COPIES).map(|number| copy_path(&self.path, self.known, number));
        if is_copied { names.find(|name| !is_taken(name)) } else { None }
    }
}

/// One step of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrationStep {
    /// The schema it leads to.
    pub schema: i64,
    /// What it adds.
    pub adds: &'static str,
}

/// The schema of this version.
#[must_use]
pub fn newest_schema() -> i64 {
    newest(MIGRATIONS)
}

/// All migrations, oldest first.
pub fn migration_steps() -> impl Iterator<Item = MigrationStep> {
    MIGRATIONS.iter().map(|step| MigrationStep { schema: step.version, adds: step.adds })
}

/// What opening the database at `path` would migrate. Changes nothing.
///
/// # Errors
/// When the file cannot be opened, is not a Toolroom database, or is newer than this version.
pub async fn plan_migration(path: &Path) -> Result<MigrationPlan, StoreError> {
    let mut connection = connect(path, Purpose::Read).await?;
    let schema = Schema::of_file(&mut connection, path).await;
    // Nothing was written through it, so nothing can be lost.
    drop(connection.close().await);
    let schema = schema?;
    schema.is_current(path, MIGRATIONS)?;
    let (found, known) = (schema.version, newest_schema());
    let steps: Vec<MigrationStep> = migration_steps().filter(|step| step.schema > found).collect();
    Ok(MigrationPlan { found, known, steps, path: path.to_owned() })
}

/// The copies that newer versions may have made of the database at `path` before they migrated it from schema `known` to
/// one up to `found`, nearest to `known` first.
pub fn copies_before(path: &Path, known: i64, found: i64) -> impl Iterator<Item = PathBuf> {
    let last = found.min(known.saturating_add(MAX_STEPS_BACK));
    let versions = known.saturating_add(1)..=last;
    versions
        .flat_map(move |version| (1..=MAX_COPIES).rev().map(move |number| copy_path(path, version, number)))
}
