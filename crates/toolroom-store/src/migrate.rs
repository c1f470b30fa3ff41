//! Bringing a database to the schema of this version: new ones are made, older ones copied and migrated,
//! newer ones refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use crate::StoreError;
use crate::connect::{Purpose, connect};
use crate::statements;

/// What `PRAGMA application_id` says in our files.
const APPLICATION_ID: i64 = 0x546f_6f6c;

/// Between two tries to switch a new file to the write-ahead log; SQLite does not wait for that lock itself.
const WAL_RETRY: Duration = Duration::from_millis(5);
const WAL_TRIES: u32 = 2000;

/// Copies of one version that may lie beside the database, from migrations that did not get through.
const MAX_COPIES: u32 = 100;

/// One step from the version before. The text sets `PRAGMA user_version` itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) text: &'static str,
}

/// All steps, oldest first.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { version: 1, text: include_str!("../migrations/sqlite/0001_calls.sql") }];

fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |step| step.version)
}

/// What a file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schema {
    version: i64,
    application: i64,
}

impl Schema {
    /// From a row of [`statements::SCHEMA`].
    pub(crate) fn read(row: &sqlx::sqlite::SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self { version: row.try_get(0)?, application: row.try_get(1)? })
    }

    /// Whether nothing has to be done. Refuses what is newer or not ours.
    pub(crate) fn is_current(self, path: &Path, migrations: &[Migration]) -> Result<bool, StoreError> {
        let known = newest(migrations);
        match self {
            Self { version: 0, application: 0 } => Ok(known == 0),
            Self { application, .. } if application != APPLICATION_ID => {
                Err(StoreError::NotOurs { path: path.to_owned() })
            }
            Self { version: found, .. } if found > known => {
                Err(StoreError::Newer { path: path.to_owned(), found, known })
            }
            Self { version, .. } => Ok(version == known),
        }
    }
}

/// Runs every step the database has not seen. Several processes may do this at once: the first one works,
/// the others wait for it and find nothing left to do.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    if schema(connection, path).await?.is_current(path, migrations)? {
        return Ok(());
    }
    // Before anything is touched: a file of somebody else stays as it is.
    refuse_foreign(connection, path).await?;
    switch_to_wal(connection, path).await?;
    let failed = |error| StoreError::at(path, error);
    statements::BEGIN.query().execute(&mut *connection).await.map_err(failed)?;
    let result = migrate_locked(connection, path, migrations).await;
    let end = if result.is_ok() { statements::COMMIT } else { statements::ROLLBACK };
    let ended = end.query().execute(&mut *connection).await.map_err(failed);
    // What went wrong first is the cause.
    result.and(ended.map(drop))
}

/// With the write lock held, so that nobody else migrates or changes what the copy holds.
async fn migrate_locked(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let failed = |error| StoreError::at(path, error);
    let found = schema(connection, path).await?;
    if found.is_current(path, migrations)? {
        return Ok(());
    }
    if found.version == 0 {
        refuse_foreign(connection, path).await?;
    } else {
        copy(path, newest(migrations)).await?;
    }
    for step in migrations.iter().filter(|step| step.version > found.version) {
        sqlx::raw_sql(step.text).execute(&mut *connection).await.map_err(failed)?;
    }
    Ok(())
}

/// A database without our mark that holds tables belongs to somebody else.
async fn refuse_foreign(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::at(path, error);
    // In this order: somebody else may be making the tables right now, and sets the mark together with them.
    let tables = statements::TABLE_COUNT.query().fetch_one(&mut *connection).await.map_err(failed)?;
    let any = tables.try_get::<i64, _>(0).map_err(failed)? > 0;
    if any && schema(connection, path).await?.version == 0 {
        return Err(StoreError::NotOurs { path: path.to_owned() });
    }
    Ok(())
}

async fn schema(connection: &mut SqliteConnection, path: &Path) -> Result<Schema, StoreError> {
    let row = statements::SCHEMA.query().fetch_one(connection).await;
    row.and_then(|row| Schema::read(&row)).map_err(|error| StoreError::at(path, error))
}

async fn switch_to_wal(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        match statements::JOURNAL_IN_WAL.query().fetch_one(&mut *connection).await {
            Ok(row) if row.try_get::<&str, _>(0).is_ok_and(|mode| mode == "wal") => return Ok(()),
            Ok(_) => return Err(StoreError::NoWal { path: path.to_owned() }),
            Err(error) => match StoreError::at(path, error) {
                StoreError::Locked(_) if tries < WAL_TRIES => tries += 1,
                other => return Err(other),
            },
        }
        tokio::time::sleep(WAL_RETRY).await;
    }
}

/// Keeps the database as it is now beside the database. By SQLite itself: a copy of the file alone would miss
/// what is still in the write-ahead log.
async fn copy(path: &Path, version: i64) -> Result<(), StoreError> {
    let mut connection = connect(path, Purpose::Write).await?;
    let mut number = 1;
    loop {
        let target = copy_path(path, version, number);
        let copied = statements::COPY
            .query()
            .bind(target.to_string_lossy().into_owned())
            .execute(&mut connection)
            .await;
        match copied {
            Ok(_) => return Ok(()),
            Err(error) if number < MAX_COPIES && error.to_string().contains("already exists") => number += 1,
            Err(error) => return Err(StoreError::at(path, error)),
        }
    }
}

/// `toolroom.db.before-2`, then `toolroom.db.before-2-2` and so on: an earlier copy is never written over.
fn copy_path(path: &Path, version: i64, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".before-{version}"));
    if number > 1 {
        name.push(format!("-{number}"));
    }
    PathBuf::from(name)
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
