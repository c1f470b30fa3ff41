//! What a person who looks for trouble wants to know of a database.

use std::sync::Arc;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};
use toolroom::clock::Timestamp;
use toolroom::ledger::CallStatus;

use crate::backup::problems;
use crate::connect::{Purpose, connect};
use crate::instance::{bind_term, read_instance};
use crate::presence::Seen;
use crate::row::{ReadError, named, size};
use crate::writer::Durability;
use crate::{Presence, Store, StoreError, statements};

/// What the header of the write-ahead log takes, and what is added to each of its pages.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// How many steps of SQLite's machine pass between two looks at whether its answer is still wanted: some thousand
/// looks in a second.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// How a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreHealth {
    /// How SQLite journals: `wal`, unless something is wrong.
    pub journal_mode: String,
    /// How hard pure and reading calls are committed, in SQLite's words.
    pub sync_pure: &'static str,
    /// How hard everything else is committed.
    pub sync_writes: &'static str,
    /// The newest migration it has seen.
    pub schema: i64,
    /// Its size, without the write-ahead log.
    pub bytes: u64,
    /// What the write-ahead log holds.
    pub wal_bytes: u64,
    /// When the newest call was asked for.
    pub newest_at: Option<Timestamp>,
    /// Questions that can still be answered, or whose answer can still be used.
    pub open_questions: u64,
    /// Questions whose time is over and that nobody has closed; the next start does.
    pub overdue: u64,
    /// Processes that have calls or runs open, or died with some.
    pub instances: Vec<InstanceSeen>,
    /// The version of SQLite.
    pub sqlite: String,
}

/// A process that shares the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceSeen {
    /// On which machine.
    pub machine: String,
    /// Which process.
    pub process: String,
    /// When it last said that it lives.
    pub heartbeat_at: Timestamp,
    /// Whether it is this very process.
    pub is_this: bool,
    /// Whether it lives; `None` when that cannot be seen from here, and only its heartbeat can tell.
    pub is_alive: Option<bool>,
}

impl InstanceSeen {
    fn new(seen: Seen, us: &Presence) -> Self {
        Self {
            is_this: seen.machine == us.machine && seen.process == us.process,
            is_alive: us.looked_at(&seen),
            machine: seen.machine,
            process: seen.process,
            heartbeat_at: seen.heartbeat_at,
        }
    }
}

/// What was said and is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeptWords {
    /// Conversations.
    pub conversations: u64,
    /// Memories.
    pub memories: u64,
}

impl Store {
    /// Looks at a database without reading all of it; [`Store::count_calls`] and [`Store::damage`] do that.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub async fn health(&self) -> Result<StoreHealth, StoreError> {
        self.reader().ensure_open().await?;
        // A connection of its own: whoever reads the journal should not wait for this.
        let mut connection = connect(self.path(), Purpose::Read).await?;
        let health = examine(&mut connection, self.presence(), self.now()).await;
        // Nothing was written through it, so nothing can be lost.
        drop(connection.close().await);
        health.map_err(|error| self.reader().failed(error))
    }

    /// How many calls of all projects have each status, in the order of a call's life; a status that no call has is
    /// absent. Takes a while in a long journal; calls go on meanwhile, and it ends when it is dropped.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_calls(&self) -> Result<Vec<(CallStatus, u64)>, StoreError> {
        let mut long = LongReading::begin(self).await?;
        let counted = calls_by_status(&mut long.connection).await;
        long.end().await;
        counted.map_err(|error| self.reader().failed(error))
    }

    /// How many conversations and memories are kept, in all projects. Ends when it is dropped, too.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_words(&self) -> Result<KeptWords, StoreError> {
        let mut long = LongReading::begin(self).await?;
        let counted = statements::COUNT_CONVERSATIONS.query().fetch_one(&mut long.connection).await;
        long.end().await;
        let counted =
            counted.and_then(|row| Ok(KeptWords { conversations: size(&row, 0)?, memories: size(&row, 1)? }));
        counted.map_err(|error| self.reader().failed(error))
    }

    /// How many calls wait for somebody's answer, in all projects.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn open_questions(&self) -> Result<u64, StoreError> {
        let row = self.reader().row(bind_term(statements::COUNT_OPEN_QUESTIONS, self.now())).await?;
        let count = row.map_or(Ok(0), |row| size(&row, 0));
        count.map_err(|error| self.reader().failed(error))
    }

    /// Reads the whole database for damage: a line each, empty if none was found. Takes a while if it is large; calls
    /// go on meanwhile, and it ends when it is dropped.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub async fn damage(&self) -> Result<Vec<String>, StoreError> {
        let mut long = LongReading::begin(self).await?;
        let found = problems(&mut long.connection, statements::QUICK_CHECK).await;
        long.end().await;
        found.map_err(|error| self.reader().failed(error))
    }

    /// Whether somebody who wants to write gets to it within a second. Nothing is written.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if not, or when the database cannot be opened for writing.
    pub async fn try_lock(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::at(self.path(), error);
        let mut connection = connect(self.path(), Purpose::Try).await?;
        let locked = statements::BEGIN.query().execute(&mut connection).await;
        if locked.is_ok() {
            statements::ROLLBACK.query().execute(&mut connection).await.map_err(failed)?;
        }
        drop(connection.close().await);
        locked.map(drop).map_err(failed)
    }
}

/// A reading that may take long, on a connection of its own. SQLite gives it up as soon as this is dropped.
struct LongReading {
    connection: SqliteConnection,
    /// Alive as long as the answer is wanted.
    _wanted: Arc<()>,
}

impl LongReading {
    async fn begin(store: &Store) -> Result<Self, StoreError> {
        store.reader().ensure_open().await?;
        let mut connection = connect(store.path(), Purpose::Read).await?;
        let wanted = Arc::new(());
        let is_wanted = Arc::downgrade(&wanted);
        let handle = connection.lock_handle().await;
        handle
            .map_err(|error| StoreError::at(store.path(), error))?
            .set_progress_handler(STEPS_BETWEEN_LOOKS, move || is_wanted.strong_count() > 0);
        Ok(Self { connection, _wanted: wanted })
    }

    async fn end(self) {
        // Nothing was written through it, so nothing can be lost.
        drop(self.connection.close().await);
    }
}

async fn examine(
    connection: &mut SqliteConnection,
    us: &Presence,
    now: Timestamp,
) -> Result<StoreHealth, ReadError> {
    let file = statements::FILE_FACTS.query().fetch_one(&mut *connection).await?;
    let page_bytes = size(&file, 3)?;
    let log = statements::LOG_LENGTH.query().fetch_one(&mut *connection).await?;
    let wal_bytes = match size(&log, 1)? {
        0 => 0,
        pages => LOG_HEADER + pages * (page_bytes + FRAME_HEADER),
    };
    let seen = statements::INSTANCES.query().fetch_all(&mut *connection).await?;
    let seen = seen.iter().map(read_instance).collect::<Result<Vec<_>, _>>()?;
    Ok(StoreHealth {
        journal_mode: file.try_get(4)?,
        sync_pure: Durability::Process.synchronous(),
        sync_writes: Durability::Power.synchronous(),
        schema: file.try_get(1)?,
        bytes: size(&file, 2)?,
        wal_bytes,
        newest_at: newest_at(connection).await?,
        open_questions: count(connection, statements::COUNT_OPEN_QUESTIONS, now).await?,
        overdue: count(connection, statements::OVERDUE_COUNT, now).await?,
        instances: seen.into_iter().map(|seen| InstanceSeen::new(seen, us)).collect(),
        sqlite: file.try_get(0)?,
    })
}

async fn calls_by_status(connection: &mut SqliteConnection) -> Result<Vec<(CallStatus, u64)>, ReadError> {
    let rows = statements::COUNT_CALLS_BY_STATUS.query().fetch_all(connection).await?;
    let read = |row: &SqliteRow| {
        let status = named("calls", "status", row.try_get(0)?, CallStatus::from_name)?;
        Ok((status, size(row, 1)?))
    };
    let mut calls = rows.iter().map(read).collect::<Result<Vec<_>, ReadError>>()?;
    calls.sort_by_key(|(status, _)| CallStatus::ALL.iter().position(|other| other == status));
    Ok(calls)
}

async fn newest_at(connection: &mut SqliteConnection) -> Result<Option<Timestamp>, sqlx::Error> {
    let newest = statements::NEWEST_CALL.query().fetch_optional(connection).await?;
    newest.map(|row| row.try_get(0).map(Timestamp::from_micros)).transpose()
}

async fn count(
    connection: &mut SqliteConnection,
    statement: statements::Statement,
    now: Timestamp,
) -> Result<u64, sqlx::Error> {
    size(&bind_term(statement, now).fetch_one(connection).await?, 0)
}
