//! The row of this process, its heartbeat, and the recovery of what dead processes left open.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{AnswerWindow, Answerer, EXPIRED_RULE};

use crate::port::InstanceRow;
use crate::sqlite::migrate::{MIGRATIONS, Schema};
use crate::sqlite::row::timestamp;
use crate::statements::{Bound, Statement};
use crate::{ProcessIdentity, StoreError, statements};

/// Interval of the heartbeat of a process with open calls or runs.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// Interval at which a process closes expired questions.
pub(crate) const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);

/// A batch also writes the heartbeat when the last one is this old.
const REFRESH_AFTER: Duration = Duration::from_secs(5);

/// This process.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) id: String,
    process: ProcessIdentity,
    clock: Arc<dyn Clock>,
    started_at: Timestamp,
    /// `None` until the row exists: a process that only reads has none.
    heartbeat_at: Option<Timestamp>,
}

impl Instance {
    pub(crate) fn new(process: ProcessIdentity, clock: Arc<dyn Clock>) -> Self {
        let id = format!("inst_{}", clock.random_id().simple());
        let started_at = clock.now();
        Self { id, process, clock, started_at, heartbeat_at: None }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn fresh_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.clock.ordered_id().simple())
    }

    /// Whether a batch that leaves calls open has to write the heartbeat.
    pub(crate) fn is_heartbeat_due(&self, now: Timestamp) -> bool {
        self.heartbeat_at.is_none_or(|last| now.since(last) >= REFRESH_AFTER)
    }

    /// The row as of `now`, for `statements::UPSERT_INSTANCES`.
    pub(crate) fn row(&self, now: Timestamp) -> (&str, &str, &str, i64, i64) {
        (&self.id, &self.process.machine, &self.process.process, self.started_at.as_micros(), now.as_micros())
    }

    /// Records that the row was committed.
    pub(crate) fn heartbeat_committed(&mut self, now: Timestamp) {
        self.heartbeat_at = Some(now);
    }

    /// Deletes the row at an orderly end. Calls that are still open become *unknown*.
    pub(crate) async fn sign_off(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        if self.heartbeat_at.is_some() {
            let ids = serde_json::json!([self.id]).to_string();
            statements::SIGN_OFF.query().bind(ids).execute(connection).await?;
        }
        Ok(())
    }

    /// Recovery at the start of a process: calls of dead processes become *unknown*, and expired questions are denied.
    pub(crate) async fn recover(
        &self,
        connection: &mut SqliteConnection,
        state: &StartupState,
    ) -> Result<(), sqlx::Error> {
        if state.overdue > 0 {
            self.expire(connection).await?;
        }
        self.recover_dead_instances(connection, &state.instances).await
    }

    /// Denies expired questions, of this process and of others.
    pub(crate) async fn expire_overdue(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        // Usually there are none, and the write lock is not taken.
        let overdue = bind_term(statements::OVERDUE_COUNT, self.now()).fetch_one(&mut *connection).await?;
        if overdue.try_get::<i64, _>("overdue")? > 0 { self.expire(connection).await } else { Ok(()) }
    }

    /// Denies expired questions and deletes their sealed requests.
    async fn expire(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let query = bind_term(statements::EXPIRE, self.now()).bind(EXPIRED_RULE);
        let query = query.bind(Answerer::Caller.expiry_reason()).bind(Answerer::Client.expiry_reason());
        query.execute(connection).await?;
        Ok(())
    }

    /// Marks calls of dead instances as *unknown* and deletes their rows.
    async fn recover_dead_instances(
        &self,
        connection: &mut SqliteConnection,
        instances: &[InstanceRow],
    ) -> Result<(), sqlx::Error> {
        if self.dead_ids(instances).is_empty() {
            return Ok(());
        }
        // Read again under the write lock: an instance may have written a heartbeat since.
        let rows = statements::BEGIN_AND_LIST_INSTANCES.query().fetch_all(&mut *connection).await?;
        let instances = rows.iter().map(read_instance).collect::<Result<Vec<_>, _>>()?;
        let dead = serde_json::Value::from(self.dead_ids(&instances)).to_string();
        statements::DELETE_INSTANCES_AND_COMMIT.query().bind(dead).execute(connection).await?;
        Ok(())
    }

    pub(crate) fn is_dead(&self, instance: &InstanceRow) -> bool {
        self.process.is_dead(instance, self.now())
    }

    fn dead_ids(&self, instances: &[InstanceRow]) -> Vec<String> {
        let now = self.now();
        let dead = instances.iter().filter(|instance| self.process.is_dead(instance, now));
        dead.map(|instance| instance.id.clone()).collect()
    }
}

/// From the columns of `instance_columns!`.
pub(crate) fn read_instance(row: &SqliteRow) -> Result<InstanceRow, sqlx::Error> {
    Ok(InstanceRow {
        id: row.try_get("instance_id")?,
        machine: row.try_get("machine")?,
        process: row.try_get("process")?,
        heartbeat_at: timestamp(row, "heartbeat_at")?,
    })
}

/// The same, in a row where it may be missing.
pub(crate) fn read_instance_option(row: &SqliteRow) -> Result<Option<InstanceRow>, sqlx::Error> {
    match row.try_get::<Option<&str>, _>("instance_id")? {
        Some(_) => read_instance(row).map(Some),
        None => Ok(None),
    }
}

/// What a process has to know of the database when it starts.
#[derive(Debug, Default)]
pub(crate) struct StartupState {
    /// Processes with open calls or runs.
    instances: Vec<InstanceRow>,
    /// Number of expired questions.
    overdue: i64,
}

/// Binds the parameters of a statement about expired questions: $1 time, $2 latest start.
pub(crate) fn bind_term(statement: Statement, now: Timestamp) -> Bound {
    statement.query().bind(now.as_micros()).bind(AnswerWindow::latest_start(now).as_micros())
}

/// Reads the state of a database with the current schema; `None` if it has to be migrated first.
pub(crate) async fn startup_state(
    connection: &mut SqliteConnection,
    path: &Path,
    now: Timestamp,
) -> Result<Option<StartupState>, StoreError> {
    // Fails without our tables; `migrate` then reports what is wrong with the file.
    let query = bind_term(statements::SCHEMA_AND_INSTANCES, now);
    let Ok(rows) = query.fetch_all(connection).await else {
        return Ok(None);
    };
    let failed = |error| StoreError::at(path, error);
    let [schema, overdue, instances @ ..] = rows.as_slice() else {
        return Ok(None);
    };
    if !Schema::read(schema).map_err(failed)?.is_current(path, MIGRATIONS)? {
        return Ok(None);
    }
    let instances = instances.iter().map(read_instance).collect::<Result<_, _>>().map_err(failed)?;
    Ok(Some(StartupState { instances, overdue: overdue.try_get("overdue").map_err(failed)? }))
}
