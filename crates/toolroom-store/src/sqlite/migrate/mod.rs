//! Migration: a new database is created, an older one copied and migrated, a newer one rejected.

mod plan;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use plan::{MigrationPlan, MigrationStep, copies_before, migration_steps, newest_schema, plan_migration};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use crate::sqlite::backup::copy;
use crate::{StoreError, statements};

/// `PRAGMA application_id` of our files.
const APPLICATION_ID: i64 = 0x546f_6f6c;

/// Retries of the switch to the write-ahead log: SQLite does not wait for that lock.
const WAL_RETRY: Duration = Duration::from_millis(5);
const WAL_TRIES: u32 = 2000;

/// Limit of copies for one version: each failed migration leaves one.
pub(crate) const MAX_COPIES: u32 = 100;

/// One migration. Its text sets `PRAGMA user_version`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    /// What it adds, for users.
    pub(crate) adds: &'static str,
    pub(crate) text: &'static str,
}

/// All migrations, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        adds: "calls, their approvals and whole results, switches",
        text: include_str!("../../../migrations/sqlite/0001_calls.sql"),
    },
    Migration {
        version: 2,
        adds: "questions with sealed requests, standing answers, secrets, trusted files",
        text: include_str!("../../../migrations/sqlite/0002_approvals.sql"),
    },
    Migration {
        version: 3,
        adds: "conversations and their runs, what models cost, memories, agents",
        text: include_str!("../../../migrations/sqlite/0003_conversations.sql"),
    },
    Migration {
        version: 4,
        adds: "background programs",
        text: include_str!("../../../migrations/sqlite/0004_background.sql"),
    },
    Migration {
        version: 5,
        adds: "projects, keys, signed-in browsers, stored replies",
        text: include_str!("../../../migrations/sqlite/0005_identity.sql"),
    },
    Migration {
        version: 6,
        adds: "foreign servers",
        text: include_str!("../../../migrations/sqlite/0006_foreign.sql"),
    },
    Migration {
        version: 7,
        adds: "what calls offered to their client",
        text: include_str!("../../../migrations/sqlite/0007_offers.sql"),
    },
    Migration {
        version: 8,
        adds: "provenance tracks",
        text: include_str!("../../../migrations/sqlite/0008_provenance.sql"),
    },
];

pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |step| step.version)
}

/// Versions and journal mode of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) version: i64,
    application: i64,
    /// Not set in a new file, nor in a copy.
    is_wal: bool,
}

impl Schema {
    /// From a row of [`statements::SCHEMA`].
    pub(crate) fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            version: row.try_get("schema")?,
            application: row.try_get("application")?,
            is_wal: row.try_get::<&str, _>("journal_mode")? == "wal",
        })
    }

    pub(crate) async fn of_file(connection: &mut SqliteConnection, path: &Path) -> Result<Self, StoreError> {
        let row = statements::SCHEMA.query().fetch_one(connection).await;
        row.and_then(|row| Self::read(&row)).map_err(|error| StoreError::at(path, error))
    }

    /// Rejects a file that is newer, not ours, or empty. Accepts an older one.
    pub(crate) fn check(self, path: &Path) -> Result<(), StoreError> {
        self.is_current(path, MIGRATIONS)?;
        if self.version == 0 { Err(StoreError::NotOurs { path: path.to_owned() }) } else { Ok(()) }
    }

    /// Rejects a file that this version cannot read unmigrated: newer, older or not ours.
    pub(crate) fn check_readable(self, path: &Path) -> Result<(), StoreError> {
        self.is_current(path, MIGRATIONS)?;
        match (self.version, newest(MIGRATIONS)) {
            (found, known) if found < known => Err(StoreError::Older { path: path.to_owned(), found, known }),
            _ => Ok(()),
        }
    }

    /// Whether no migration is needed. Rejects a file that is newer or not ours.
    pub(crate) fn is_current(self, path: &Path, migrations: &[Migration]) -> Result<bool, StoreError> {
        let known = newest(migrations);
        match self {
            Self { version: 0, application: 0, .. } => Ok(known == 0),
            Self { application, .. } if application != APPLICATION_ID => {
                Err(StoreError::NotOurs { path: path.to_owned() })
            }
            Self { version: found, .. } if found > known => {
                Err(StoreError::Newer { path: path.to_owned(), found, known })
            }
            Self { version, is_wal, .. } => Ok(version == known && is_wal),
        }
    }
}

/// Runs the missing migrations. Of several processes the first one migrates; the others wait for the lock and find nothing
/// left to do.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    if Schema::of_file(connection, path).await?.is_current(path, migrations)? {
        return Ok(());
    }
    // First: a file of another program stays unchanged.
    refuse_foreign(connection, path).await?;
    switch_to_wal(connection, path).await?;
    let failed = |error| StoreError::at(path, error);
    statements::BEGIN.query().execute(&mut *connection).await.map_err(failed)?;
    let result = migrate_locked(connection, path, migrations).await;
    let end = if result.is_ok() { statements::COMMIT } else { statements::ROLLBACK };
    let ended = end.query().execute(&mut *connection).await.map_err(failed);
    // The first error is the cause.
    result.and(ended.map(drop))
}

/// Runs under the write lock, so that no other process migrates or changes the database after it was copied.
async fn migrate_locked(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let failed = |error| StoreError::at(path, error);
    let found = Schema::of_file(connection, path).await?;
    if found.is_current(path, migrations)? {
        return Ok(());
    }
    if found.version == 0 {
        refuse_foreign(connection, path).await?;
    } else {
        copy_next_to(path, newest(migrations)).await?;
    }
    for step in migrations.iter().filter(|step| step.version > found.version) {
        sqlx::raw_sql(step.text).execute(&mut *connection).await.map_err(failed)?;
    }
    Ok(())
}

/// A database with tables but without our application id belongs to another program.
async fn refuse_foreign(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::at(path, error);
    // In this order: another process may be creating the tables, and sets the id in the same transaction.
    let tables = statements::TABLE_COUNT.query().fetch_one(&mut *connection).await.map_err(failed)?;
    let any = tables.try_get::<i64, _>("tables").map_err(failed)? > 0;
    if any && Schema::of_file(connection, path).await?.version == 0 {
        return Err(StoreError::NotOurs { path: path.to_owned() });
    }
    Ok(())
}

async fn switch_to_wal(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        match statements::ENABLE_WAL.query().fetch_one(&mut *connection).await {
            Ok(row) if row.try_get::<&str, _>("journal_mode").is_ok_and(|mode| mode == "wal") => {
                return Ok(());
            }
            Ok(_) => return Err(StoreError::NoWal { path: path.to_owned() }),
            Err(error) => match StoreError::at(path, error) {
                StoreError::Locked(_) if tries < WAL_TRIES => tries += 1,
                other => return Err(other),
            },
        }
        tokio::time::sleep(WAL_RETRY).await;
    }
}

/// Copies the database to a file next to it.
async fn copy_next_to(path: &Path, version: i64) -> Result<(), StoreError> {
    let mut number = 1;
    loop {
        match copy(path, &copy_path(path, version, number)).await {
            Err(StoreError::Exists { .. }) if number < MAX_COPIES => number += 1,
            result => return result,
        }
    }
}

/// `toolroom.db.before-2`, then `toolroom.db.before-2-2` and so on: no copy is overwritten.
pub(crate) fn copy_path(path: &Path, version: i64, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".before-{version}"));
    if number > 1 {
        name.push(format!("-{number}"));
    }
    PathBuf::from(name)
}
