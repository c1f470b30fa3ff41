//! This process among those that share the database: its row, its heartbeat, and what the dead left behind.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{AnswerWindow, Answerer, EXPIRED_RULE};

use crate::migrate::{MIGRATIONS, Schema};
use crate::presence::Seen;
use crate::statements::{Bound, Statement};
use crate::{Inbox, Notice, Presence, StoreError, statements};

/// How often a process with open calls or runs says that it lives.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);

/// How often a process looks for questions that nobody answered in time.
pub(crate) const EXPIRE_EVERY: Duration = Duration::from_secs(60);

/// A batch that is written anyway carries the heartbeat along when the last one is this old.
const REFRESH_AFTER: Duration = Duration::from_secs(5);

/// This process.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) id: String,
    presence: Presence,
    clock: Arc<dyn Clock>,
    started_at: Timestamp,
    /// Absent until the row exists: a process that only reads leaves none.
    heartbeat_at: Option<Timestamp>,
}

impl Instance {
    pub(crate) fn new(presence: Presence, clock: Arc<dyn Clock>) -> Self {
        let id = format!("inst_{}", clock.random_id().simple());
        let started_at = clock.now();
        Self { id, presence, clock, started_at, heartbeat_at: None }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Where others see that something changed.
    pub(crate) fn notice(&self) -> Option<Arc<dyn Notice>> {
        self.presence.notice.clone()
    }

    /// Where rows are safe before they are in the database.
    pub(crate) fn inbox(&self) -> Option<Arc<dyn Inbox>> {
        self.presence.inbox.clone()
    }

    /// A fresh id for a row that is nobody's call.
    pub(crate) fn fresh_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.clock.ordered_id().simple())
    }

    /// Whether a batch that leaves calls open has to write the row.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.heartbeat_at.is_none_or(|last| now.since(last) >= REFRESH_AFTER)
    }

    /// The row as of `now`, for `statements::BE_PRESENT`.
    pub(crate) fn row(&self, now: Timestamp) -> (&str, &str, &str, i64, i64) {
        (
            &self.id,
            &self.presence.machine,
            &self.presence.process,
            self.started_at.as_micros(),
            now.as_micros(),
        )
    }

    /// The row was committed.
    pub(crate) fn was_seen(&mut self, now: Timestamp) {
        self.heartbeat_at = Some(now);
    }

    /// Takes the row away at an orderly end. What is still open then will not be closed by anybody.
    pub(crate) async fn sign_off(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        if self.heartbeat_at.is_some() {
            let ids = serde_json::json!([self.id]).to_string();
            statements::SIGN_OFF.query().bind(ids).execute(connection).await?;
        }
        Ok(())
    }

    /// What every start does for those who cannot: the dead are buried, and questions nobody answered in time are
    /// answered with no.
    pub(crate) async fn tidy_up(
        &self,
        connection: &mut SqliteConnection,
        seen: &Surroundings,
    ) -> Result<(), sqlx::Error> {
        if seen.overdue > 0 {
            self.expire(connection).await?;
        }
        self.bury_the_dead(connection, &seen.instances).await
    }

    /// What a process that goes on does from time to time, for itself and for those that have ended.
    pub(crate) async fn expire_overdue(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        // Nearly always there is nothing, and then nobody waits for the write lock.
        let overdue = bind_term(statements::OVERDUE_COUNT, self.now()).fetch_one(&mut *connection).await?;
        if overdue.try_get::<i64, _>(0)? > 0 { self.expire(connection).await } else { Ok(()) }
    }

    /// Answers with no what nobody answered in time, and forgets what is sealed for it.
    async fn expire(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let query = bind_term(statements::EXPIRE, self.now()).bind(EXPIRED_RULE);
        let query = query.bind(Answerer::Caller.expiry_reason()).bind(Answerer::Client.expiry_reason());
        query.execute(connection).await?;
        Ok(())
    }

    /// Marks what dead instances began as *unknown* and takes their rows away.
    async fn bury_the_dead(
        &self,
        connection: &mut SqliteConnection,
        seen: &[Seen],
    ) -> Result<(), sqlx::Error> {
        if self.dead_among(seen).is_empty() {
            return Ok(());
        }
        // Looked at again with the write lock held: since the first look somebody may have come back.
        let rows = statements::OPEN_AND_LIST_INSTANCES.query().fetch_all(&mut *connection).await?;
        let seen = rows.iter().map(read_instance).collect::<Result<Vec<_>, _>>()?;
        let dead = serde_json::Value::from(self.dead_among(&seen)).to_string();
        statements::BURY_INSTANCES.query().bind(dead).execute(connection).await?;
        Ok(())
    }

    /// Whether what a process began, or works on, will never be gone on with by it.
    pub(crate) fn knows_dead(&self, seen: &Seen) -> bool {
        self.presence.knows_dead(seen, self.now())
    }

    fn dead_among(&self, seen: &[Seen]) -> Vec<String> {
        let now = self.now();
        seen.iter().filter(|row| self.presence.knows_dead(row, now)).map(|row| row.id.clone()).collect()
    }
}

pub(crate) fn read_instance(row: &SqliteRow) -> Result<Seen, sqlx::Error> {
    Ok(Seen {
        id: row.try_get(0)?,
        machine: row.try_get(1)?,
        process: row.try_get(2)?,
        heartbeat_at: Timestamp::from_micros(row.try_get(3)?),
    })
}

/// What a start finds in a database.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// Processes with open calls or runs.
    instances: Vec<Seen>,
    /// Questions that nobody answered in time.
    overdue: i64,
}

/// A statement that looks for questions whose time is over, or is not: $1 time, $2 latest start.
pub(crate) fn bind_term(statement: Statement, now: Timestamp) -> Bound {
    statement.query().bind(now.as_micros()).bind(AnswerWindow::latest_start(now).as_micros())
}

/// What is in a database whose schema is current, or `None` when it has to be migrated first.
pub(crate) async fn look_around(
    connection: &mut SqliteConnection,
    path: &Path,
    now: Timestamp,
) -> Result<Option<Surroundings>, StoreError> {
    // A file without our tables fails at the second part; what is wrong with it is for `migrate` to say.
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
    Ok(Some(Surroundings { instances, overdue: overdue.try_get(0).map_err(failed)? }))
}
