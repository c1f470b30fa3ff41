//! Reading conversations and runs.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::conversation::{
    AgentId, Conversation, ConversationEntry, ConversationFilter, ConversationId, NumberedEvent, PastRequest,
    Run, RunFilter, RunId, RunState, Spent,
};
use toolroom::model::Usage;
use toolroom::scope::Scope;

use super::change::fold;
use crate::journal::user;
use crate::reader::Reader;
use crate::row::{ReadError, count, read_scope, shared, size};
use crate::statements::{Bound, Statement};
use crate::{StoreError, statements};

/// How many a listing shows when nobody says.
const DEFAULT_LIMIT: u32 = 100;

pub(super) async fn conversation(
    reader: &Reader,
    scope: &Scope,
    id: &ConversationId,
) -> Result<Option<Conversation>, StoreError> {
    let row = reader.row(one_of(statements::CONVERSATION, scope, id.as_str())).await?;
    row.map(|row| read_conversation(&row)).transpose().map_err(|error| reader.failed(error))
}

pub(super) async fn conversations(
    reader: &Reader,
    scope: &Scope,
    filter: ConversationFilter,
) -> Result<Vec<Conversation>, StoreError> {
    let query = statements::CONVERSATIONS
        .query()
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope))
        .bind(filter.agent.as_ref().map(AgentId::as_str).map(str::to_owned))
        .bind(filter.id_suffix)
        .bind(filter.title.as_deref().map(fold))
        .bind(i64::from(filter.limit.unwrap_or(DEFAULT_LIMIT)))
        .bind(filter.behind.as_ref().map(|(at, _)| at.as_micros()))
        .bind(filter.behind.as_ref().map(|(_, id)| id.as_str().to_owned()));
    let rows = reader.rows(query).await?;
    rows.iter().map(|row| read_conversation(row).map_err(|error| reader.failed(error))).collect()
}

pub(super) async fn entries(
    reader: &Reader,
    scope: &Scope,
    id: &ConversationId,
    from: u64,
) -> Result<Vec<ConversationEntry>, StoreError> {
    let rows = reader.rows(one_of(statements::ENTRIES, scope, id.as_str()).bind(count(from))).await?;
    let read = |row: &SqliteRow| -> Result<ConversationEntry, ReadError> {
        Ok(ConversationEntry {
            seq: size(row, 0)?,
            run: RunId::new(row.try_get(1)?),
            at: Timestamp::from_micros(row.try_get(2)?),
            content: decode(id.as_str(), "content", row.try_get(3)?)?,
        })
    };
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

pub(super) async fn run(reader: &Reader, scope: &Scope, id: &RunId) -> Result<Option<Run>, StoreError> {
    let row = reader.row(one_of(statements::RUN, scope, id.as_str())).await?;
    row.map(|row| run_of(&row)).transpose().map_err(|error| reader.failed(error))
}

pub(super) async fn runs(reader: &Reader, scope: &Scope, filter: RunFilter) -> Result<Vec<Run>, StoreError> {
    let statement = match filter.conversation {
        Some(_) => statements::RUNS_OF_CONVERSATION,
        None => statements::RUNS,
    };
    let query = statement
        .query()
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope))
        .bind(filter.state.map(RunState::as_str))
        .bind(filter.id_suffix)
        .bind(i64::from(filter.limit.unwrap_or(DEFAULT_LIMIT)))
        .bind(filter.before.as_ref().map(|run| run.as_str().to_owned()));
    let query = match &filter.conversation {
        Some(conversation) => query.bind(conversation.as_str().to_owned()),
        None => query,
    };
    readable(reader, query).await
}

/// Runs of every project that have not ended, the oldest first.
pub(super) async fn open_runs(reader: &Reader) -> Result<Vec<Run>, StoreError> {
    readable(reader, statements::OPEN_RUNS.query()).await
}

async fn readable(reader: &Reader, query: Bound) -> Result<Vec<Run>, StoreError> {
    let rows = reader.rows(query).await?;
    let mut runs = Vec::with_capacity(rows.len());
    for row in &rows {
        match run_of(row) {
            Ok(run) => runs.push(run),
            // One that a newer version wrote, or that was damaged, must not hide the others.
            Err(ReadError::Unknown(error)) => tracing::warn!("a run is left out: {error}"),
            Err(error) => return Err(reader.failed(error)),
        }
    }
    Ok(runs)
}

pub(super) async fn events(
    reader: &Reader,
    scope: &Scope,
    id: &RunId,
    from: u64,
) -> Result<Vec<NumberedEvent>, StoreError> {
    let rows = reader.rows(one_of(statements::RUN_EVENTS, scope, id.as_str()).bind(count(from))).await?;
    let read = |row: &SqliteRow| decode(id.as_str(), "event", row.try_get(1)?);
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

pub(super) async fn spent(
    reader: &Reader,
    scope: &Scope,
    conversation: Option<&ConversationId>,
    since: Option<Timestamp>,
) -> Result<Spent, StoreError> {
    let statement = match (conversation, &scope.user) {
        (Some(_), _) => statements::SPENT_IN_CONVERSATION,
        (None, Some(_)) => statements::SPENT_BY_USER,
        (None, None) => statements::SPENT_IN_PROJECT,
    };
    let since = since.map_or(i64::MIN, Timestamp::as_micros);
    let mut query = statement.query().bind(scope.project.as_str().to_owned()).bind(since);
    if conversation.is_some() || scope.user.is_some() {
        query = query.bind(user(scope));
    }
    if let Some(conversation) = conversation {
        query = query.bind(conversation.as_str().to_owned());
    }
    let Some(row) = reader.row(query).await? else { return Ok(Spent::default()) };
    let read = || -> Result<Spent, sqlx::Error> {
        let usage = Usage {
            input: size(&row, 0)?,
            output: size(&row, 1)?,
            cache_read: size(&row, 2)?,
            cache_write: size(&row, 3)?,
            reasoning: size(&row, 4)?,
        };
        Ok(Spent { usage, cost: row.try_get(5)?, answers: size(&row, 6)?, runs: size(&row, 7)? })
    };
    read().map_err(|error| reader.failed(error))
}

pub(super) async fn past_requests(
    reader: &Reader,
    scope: &Scope,
    per_tool: u32,
) -> Result<Vec<PastRequest>, StoreError> {
    let query = statements::PAST_REQUESTS.query().bind(scope.project.as_str().to_owned());
    let rows = reader.rows(query.bind(i64::from(per_tool))).await?;
    let read = |row: &SqliteRow| -> Result<PastRequest, sqlx::Error> {
        Ok(PastRequest { tool: shared(row, 0)?, message: shared(row, 1)? })
    };
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

/// A statement whose first parameters are an id, the project and the user.
fn one_of(statement: Statement, scope: &Scope, id: &str) -> Bound {
    let query = statement.query().bind(id.to_owned());
    query.bind(scope.project.as_str().to_owned()).bind(user(scope))
}

fn read_conversation(row: &SqliteRow) -> Result<Conversation, sqlx::Error> {
    Ok(Conversation {
        id: ConversationId::new(row.try_get(0)?),
        scope: read_scope(row, 1)?,
        agent: AgentId::new(row.try_get(3)?),
        title: row.try_get(4)?,
        entries: size(row, 5)?,
        created_at: Timestamp::from_micros(row.try_get(6)?),
        updated_at: Timestamp::from_micros(row.try_get(7)?),
    })
}

fn run_of(row: &SqliteRow) -> Result<Run, ReadError> {
    read_run(row.try_get(0)?, row.try_get(1)?)
}

/// A run from its record.
pub(super) fn read_run(id: &str, record: &str) -> Result<Run, ReadError> {
    decode(id, "record", record)
}

/// What was encoded here. It may be nested deeper than what comes from outside: a result of the greatest depth that is
/// taken there is some levels deeper inside its message.
fn decode<T: DeserializeOwned>(id: &str, column: &'static str, text: &str) -> Result<T, ReadError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    T::deserialize(&mut deserializer).map_err(|error| {
        let value = error.to_string();
        ReadError::Unknown(StoreError::Unreadable { id: id.to_owned(), column, value })
    })
}
