//! Health of a database, for diagnosis.

use std::sync::Arc;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};
use toolroom::clock::Timestamp;
use toolroom::ledger::CallStatus;

use crate::port::InstanceRow;
use crate::sqlite::backup::problems;
use crate::sqlite::connection::{Purpose, connect};
use crate::sqlite::instance::{bind_term, read_instance};
use crate::sqlite::row::{ReadError, named, size, timestamp};
use crate::sqlite::writer::Durability;
use crate::{
    ConversationCounts, InstanceStatus, ProcessIdentity, Store, StoreError, StoreHealth, statements,
};

/// Bytes of the header of the write-ahead log, and of the header of each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// After so many steps of its virtual machine, SQLite checks whether a long query was dropped: some thousand times a second.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

impl Store {
    /// Reads what can be known without reading the whole database; [`Store::count_calls`] and [`Store::damage`] do that.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub async fn health(&self) -> Result<StoreHealth, StoreError> {
        self.reader().ensure_open().await?;
        // A connection of its own, so that readers of the journal do not wait for this.
        let mut connection = connect(self.path(), Purpose::Read).await?;
        let health = examine(&mut connection, self.process(), self.now()).await;
        // Nothing was written through it, so nothing can be lost.
        drop(connection.close().await);
        health.map_err(|error| self.reader().failed(error))
    }

    /// The number of calls of all projects by status, in the order of a call's life, without zeros. Takes a while in a long
    /// journal, without blocking calls. Dropping the future ends the query.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_calls(&self) -> Result<Vec<(CallStatus, u64)>, StoreError> {
        let mut query = LongQuery::begin(self).await?;
        let counted = calls_by_status(&mut query.connection).await;
        query.end().await;
        counted.map_err(|error| self.reader().failed(error))
    }

    /// The number of conversations and memories of all projects. Dropping the future ends the query.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_conversations(&self) -> Result<ConversationCounts, StoreError> {
        let mut query = LongQuery::begin(self).await?;
        let counted = statements::COUNT_CONVERSATIONS.query().fetch_one(&mut query.connection).await;
        query.end().await;
        let counted = counted.and_then(|row| read_conversation_counts(&row));
        counted.map_err(|error| self.reader().failed(error))
    }

    /// The number of open questions of all projects.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn open_questions(&self) -> Result<u64, StoreError> {
        let row = self.reader().row(bind_term(statements::COUNT_OPEN_QUESTIONS, self.now())).await?;
        let count = row.map_or(Ok(0), |row| size(&row, "questions"));
        count.map_err(|error| self.reader().failed(error))
    }

    /// Checks the whole database for damage: one line per problem. Takes a while in a large database, without blocking
    /// calls. Dropping the future ends the check.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub async fn damage(&self) -> Result<Vec<String>, StoreError> {
        let mut query = LongQuery::begin(self).await?;
        let found = problems(&mut query.connection, statements::QUICK_CHECK).await;
        query.end().await;
        found.map_err(|error| self.reader().failed(error))
    }

    /// Checks that the write lock can be taken within a second. Nothing is written.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if it cannot, or when the database cannot be opened for writing.
    pub async fn try_lock(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::at(self.path(), error);
        let mut connection = connect(self.path(), Purpose::TryLock).await?;
        let locked = statements::BEGIN.query().execute(&mut connection).await;
        if locked.is_ok() {
            statements::ROLLBACK.query().execute(&mut connection).await.map_err(failed)?;
        }
        drop(connection.close().await);
        locked.map(drop).map_err(failed)
    }
}

/// A long query on a connection of its own. SQLite cancels it when this is dropped.
struct LongQuery {
    connection: SqliteConnection,
    /// The progress handler holds a weak reference, and cancels the query when this is gone.
    _alive: Arc<()>,
}

impl LongQuery {
    async fn begin(store: &Store) -> Result<Self, StoreError> {
        store.reader().ensure_open().await?;
        let mut connection = connect(store.path(), Purpose::Read).await?;
        let alive = Arc::new(());
        let is_alive = Arc::downgrade(&alive);
        let handle = connection.lock_handle().await;
        handle
            .map_err(|error| StoreError::at(store.path(), error))?
            .set_progress_handler(STEPS_BETWEEN_CHECKS, move || is_alive.strong_count() > 0);
        Ok(Self { connection, _alive: alive })
    }

    async fn end(self) {
        // Nothing was written through it, so nothing can be lost.
        drop(self.connection.close().await);
    }
}

async fn examine(
    connection: &mut SqliteConnection,
    process: &ProcessIdentity,
    now: Timestamp,
) -> Result<StoreHealth, ReadError> {
    let file = statements::FILE_FACTS.query().fetch_one(&mut *connection).await?;
    let page_bytes = size(&file, "page_bytes")?;
    let log = statements::LOG_LENGTH.query().fetch_one(&mut *connection).await?;
    let wal_bytes = match size(&log, "log")? {
        0 => 0,
        pages => LOG_HEADER + pages * (page_bytes + FRAME_HEADER),
    };
    let instances = statements::INSTANCES.query().fetch_all(&mut *connection).await?;
    let instances = instances.iter().map(read_instance).collect::<Result<Vec<_>, _>>()?;
    Ok(StoreHealth {
        journal_mode: file.try_get("journal_mode")?,
        sync_pure: Durability::Process.synchronous(),
        sync_writes: Durability::Power.synchronous(),
        schema: file.try_get("schema")?,
        bytes: size(&file, "bytes")?,
        wal_bytes,
        newest_at: newest_at(connection).await?,
        open_questions: count(connection, statements::COUNT_OPEN_QUESTIONS, "questions", now).await?,
        overdue: count(connection, statements::OVERDUE_COUNT, "overdue", now).await?,
        instances: instances.into_iter().map(|instance| status(instance, process)).collect(),
        sqlite: file.try_get("sqlite")?,
    })
}

async fn calls_by_status(connection: &mut SqliteConnection) -> Result<Vec<(CallStatus, u64)>, ReadError> {
    let rows = statements::COUNT_CALLS_BY_STATUS.query().fetch_all(connection).await?;
    let read = |row: &SqliteRow| {
        let status = named(row, "calls", "status", CallStatus::from_name)?;
        Ok((status, size(row, "calls")?))
    };
    let mut calls = rows.iter().map(read).collect::<Result<Vec<_>, ReadError>>()?;
    calls.sort_by_key(|(status, _)| CallStatus::ALL.iter().position(|other| other == status));
    Ok(calls)
}

async fn newest_at(connection: &mut SqliteConnection) -> Result<Option<Timestamp>, sqlx::Error> {
    let newest = statements::NEWEST_CALL.query().fetch_optional(connection).await?;
    newest.map(|row| timestamp(&row, "asked_at")).transpose()
}

async fn count(
    connection: &mut SqliteConnection,
    statement: statements::Statement,
    column: &str,
    now: Timestamp,
) -> Result<u64, sqlx::Error> {
    size(&bind_term(statement, now).fetch_one(connection).await?, column)
}

fn status(instance: InstanceRow, process: &ProcessIdentity) -> InstanceStatus {
    InstanceStatus {
        is_this: process.is_self(&instance),
        is_alive: process.probe_instance(&instance),
        machine: instance.machine,
        process: instance.process,
        heartbeat_at: instance.heartbeat_at,
    }
}

pub(crate) fn read_conversation_counts(row: &SqliteRow) -> Result<ConversationCounts, sqlx::Error> {
    Ok(ConversationCounts { conversations: size(row, "conversations")?, memories: size(row, "memories")? })
}
