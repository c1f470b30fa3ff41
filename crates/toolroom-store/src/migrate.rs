//! Bringing a database to the schema of this version: new ones are made, older ones copied and migrated,
//! newer ones refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use crate::backup::copy;
use crate::{StoreError, statements};

/// What `PRAGMA application_id` says in our files.
const APPLICATION_ID: i64 = 0x546f_6f6c;

/// Between two tries to switch a new file to the write-ahead log; SQLite does not wait for that lock itself.
const WAL_RETRY: Duration = Duration::from_millis(5);
const WAL_TRIES: u32 = 2000;

/// Copies of one version that may lie beside the database, from migrations that did not get through.
pub(crate) const MAX_COPIES: u32 = 100;

/// One step from the version before. The text sets `PRAGMA user_version` itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    /// What comes with it, for people.
    pub(crate) brings: &'static str,
    pub(crate) text: &'static str,
}

/// All steps, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        brings: "calls, their approvals and whole results, switches",
        text: include_str!("../migrations/sqlite/0001_calls.sql"),
    },
    Migration {
        version: 2,
        brings: "questions with sealed requests, standing answers, secrets, trusted files",
        text: include_str!("../migrations/sqlite/0002_approvals.sql"),
    },
    Migration {
        version: 3,
        brings: "conversations and their runs, what models cost, memories, agents",
        text: include_str!("../migrations/sqlite/0003_conversations.sql"),
    },
    Migration {
        version: 4,
        brings: "programs in the background",
        text: include_str!("../migrations/sqlite/0004_background.sql"),
    },
    Migration {
        version: 5,
        brings: "projects, keys, signed-in browsers, replies that may be asked for twice",
        text: include_str!("../migrations/sqlite/0005_identity.sql"),
    },
    Migration {
        version: 6,
        brings: "servers that bring tools of their own",
        text: include_str!("../migrations/sqlite/0006_foreign.sql"),
    },
    Migration {
        version: 7,
        brings: "what calls offered to the client of whoever made them",
        text: include_str!("../migrations/sqlite/0007_offers.sql"),
    },
    Migration {
        version: 8,
        brings: "what was read and sent before a call",
        text: include_str!("../migrations/sqlite/0008_provenance.sql"),
    },
];

pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |step| step.version)
}

/// How a file is journaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journaling {
    /// As we need it.
    WriteAhead,
    /// Some other way: a new file, or a copy, which forgets it.
    Other,
}

/// What a file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) version: i64,
    application: i64,
    journaling: Journaling,
}

impl Schema {
    /// From a row of [`statements::SCHEMA`].
    pub(crate) fn read(row: &sqlx::sqlite::SqliteRow) -> Result<Self, sqlx::Error> {
        let journaling = match row.try_get(2)? {
            "wal" => Journaling::WriteAhead,
            _ => Journaling::Other,
        };
        Ok(Self { version: row.try_get(0)?, application: row.try_get(1)?, journaling })
    }

    /// What the file behind a connection says.
    pub(crate) async fn of(connection: &mut SqliteConnection, path: &Path) -> Result<Self, StoreError> {
        let row = statements::SCHEMA.query().fetch_one(connection).await;
        row.and_then(|row| Self::read(&row)).map_err(|error| StoreError::at(path, error))
    }

    /// Refuses what is newer or not ours, or has nothing in it. An older one will do.
    pub(crate) fn check(self, path: &Path) -> Result<(), StoreError> {
        self.is_current(path, MIGRATIONS)?;
        if self.version == 0 { Err(StoreError::NotOurs { path: path.to_owned() }) } else { Ok(()) }
    }

    /// Refuses what this version cannot read as it is: what is newer, older or not ours.
    pub(crate) fn check_readable(self, path: &Path) -> Result<(), StoreError> {
        self.is_current(path, MIGRATIONS)?;
        match (self.version, newest(MIGRATIONS)) {
            (found, known) if found < known => Err(StoreError::Older { path: path.to_owned(), found, known }),
            _ => Ok(()),
        }
    }

    /// Whether nothing has to be done. Refuses what is newer or not ours.
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
            Self { version, journaling, .. } => Ok(version == known && journaling == Journaling::WriteAhead),
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
    if Schema::of(connection, path).await?.is_current(path, migrations)? {
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
    let found = Schema::of(connection, path).await?;
    if found.is_current(path, migrations)? {
        return Ok(());
    }
    if found.version == 0 {
        refuse_foreign(connection, path).await?;
    } else {
        copy_beside(path, newest(migrations)).await?;
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
    if any && Schema::of(connection, path).await?.version == 0 {
        return Err(StoreError::NotOurs { path: path.to_owned() });
    }
    Ok(())
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

/// Keeps the database as it is now beside the database.
async fn copy_beside(path: &Path, version: i64) -> Result<(), StoreError> {
    let mut number = 1;
    loop {
        match copy(path, &copy_path(path, version, number)).await {
            Err(StoreError::Exists { .. }) if number < MAX_COPIES => number += 1,
            result => return result,
        }
    }
}

/// `toolroom.db.before-2`, then `toolroom.db.before-2-2` and so on: an earlier copy is never written over.
pub(crate) fn copy_path(path: &Path, version: i64, number: u32) -> PathBuf {
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
