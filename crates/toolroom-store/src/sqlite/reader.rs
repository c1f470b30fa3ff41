//! A read-only connection, opened on first use.

use std::path::PathBuf;
use std::sync::Arc;

use sqlx::Connection;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use tokio::sync::Mutex;

use crate::StoreError;
use crate::sqlite::connection::{Purpose, connect};
use crate::sqlite::row::ReadError;
use crate::sqlite::writer::Queue;
use crate::statements::Bound;

/// One reader. Its queries wait for each other, and for write-ahead rows of this process; never for a lock.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    state: Mutex<State>,
    /// Write-ahead rows in this queue are committed before a query runs.
    queue: Option<Arc<Queue>>,
}

#[derive(Debug)]
enum State {
    Idle,
    Open(SqliteConnection),
    Closed,
}

impl Reader {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, state: Mutex::new(State::Idle), queue: None }
    }

    /// A reader that sees all rows this process has acknowledged.
    pub(crate) fn behind(queue: Arc<Queue>, path: PathBuf) -> Self {
        Self { queue: Some(queue), ..Self::new(path) }
    }

    /// All rows of a query.
    pub(crate) async fn rows(&self, query: Bound) -> Result<Vec<SqliteRow>, StoreError> {
        self.catch_up().await;
        let mut state = self.state.lock().await;
        if matches!(*state, State::Idle) {
            *state = State::Open(connect(&self.path, Purpose::Read).await?);
        }
        let State::Open(connection) = &mut *state else {
            return Err(StoreError::Closed);
        };
        let result = query.fetch_all(connection).await.map_err(|error| StoreError::at(&self.path, error));
        if result.as_ref().is_err_and(StoreError::lost_connection) {
            *state = State::Idle;
        }
        result
    }

    /// A query with at most one row.
    pub(crate) async fn row(&self, query: Bound) -> Result<Option<SqliteRow>, StoreError> {
        Ok(self.rows(query).await?.into_iter().next())
    }

    /// Fails once the store is closed. For queries with a connection of their own.
    pub(crate) async fn ensure_open(&self) -> Result<(), StoreError> {
        self.catch_up().await;
        match *self.state.lock().await {
            State::Idle | State::Open(_) => Ok(()),
            State::Closed => Err(StoreError::Closed),
        }
    }

    async fn catch_up(&self) {
        if let Some(queue) = &self.queue {
            queue.catch_up().await;
        }
    }

    /// The error of a row that could not be read.
    pub(crate) fn failed(&self, error: impl Into<ReadError>) -> StoreError {
        match error.into() {
            ReadError::Database(error) => StoreError::at(&self.path, error),
            ReadError::Unknown(error) => error,
        }
    }

    /// Closes the connection; later queries fail.
    pub(crate) async fn close(&self) {
        if let State::Open(connection) = std::mem::replace(&mut *self.state.lock().await, State::Closed) {
            // Nothing was written through it, so nothing can be lost.
            drop(connection.close().await);
        }
    }
}
