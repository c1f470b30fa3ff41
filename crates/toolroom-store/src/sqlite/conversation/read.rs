//! Reading conversations and runs.

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
use crate::sqlite::reader::Reader;
use crate::sqlite::row::{ReadError, count, decode, read_scope, shared, size, timestamp, user};
use crate::statements::{Bound, Statement};
use crate::{StoreError, statements};

/// Default length of a listing.
const DEFAULT_LIMIT: u32 = 100;

pub(super) async fn conversation(
    reader: &Reader,
    scope: &Scope,
    id: &ConversationId,
) -> Result<Option<Conversation>, StoreError> {
    let row = reader.row(bind_owned(statements::CONVERSATION, scope, id.as_str())).await?;
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
    let rows = reader.rows(bind_owned(statements::ENTRIES, scope, id.as_str()).bind(count(from))).await?;
    let read = |row: &SqliteRow| -> Result<ConversationEntry, ReadError> {
        Ok(ConversationEntry {
            seq: size(row, "seq")?,
            run: RunId::new(row.try_get("run")?),
            at: timestamp(row, "said_at")?,
            content: decode(id.as_str(), "content", row.try_get("content")?)?,
        })
    };
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

pub(super) async fn run(reader: &Reader, scope: &Scope, id: &RunId) -> Result<Option<Run>, StoreError> {
    let row = reader.row(bind_owned(statements::RUN, scope, id.as_str())).await?;
    row.map(|row| read_run_row(&row)).transpose().map_err(|error| reader.failed(error))
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
    readable_runs(reader, query).await
}

/// Open runs of every project, oldest first.
pub(super) async fn open_runs(reader: &Reader) -> Result<Vec<Run>, StoreError> {
    readable_runs(reader, statements::OPEN_RUNS.query()).await
}

async fn readable_runs(reader: &Reader, query: Bound) -> Result<Vec<Run>, StoreError> {
    let rows = reader.rows(query).await?;
    let mut runs = Vec::with_capacity(rows.len());
    for row in &rows {
        match read_run_row(row) {
            Ok(run) => runs.push(run),
            // A run of a newer version, or a damaged one, must not hide the others.
            Err(ReadError::Unknown(error)) => tracing::warn!("skipping a run that cannot be read: {error}"),
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
    let rows = reader.rows(bind_owned(statements::RUN_EVENTS, scope, id.as_str()).bind(count(from))).await?;
    let read = |row: &SqliteRow| decode(id.as_str(), "event", row.try_get("event")?);
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
            input: size(&row, "input")?,
            output: size(&row, "output")?,
            cache_read: size(&row, "cache_read")?,
            cache_write: size(&row, "cache_write")?,
            reasoning: size(&row, "reasoning")?,
        };
        Ok(Spent {
            usage,
            cost: row.try_get("cost")?,
            answers: size(&row, "answers")?,
            runs: size(&row, "runs")?,
        })
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
        Ok(PastRequest { tool: shared(row, "tool")?, message: shared(row, "message")? })
    };
    rows.iter().map(|row| read(row).map_err(|error| reader.failed(error))).collect()
}

/// Binds $1 id, $2 project, $3 user.
fn bind_owned(statement: Statement, scope: &Scope, id: &str) -> Bound {
    let query = statement.query().bind(id.to_owned());
    query.bind(scope.project.as_str().to_owned()).bind(user(scope))
}

fn read_conversation(row: &SqliteRow) -> Result<Conversation, sqlx::Error> {
    Ok(Conversation {
        id: ConversationId::new(row.try_get("id")?),
        scope: read_scope(row, "project", "user_id")?,
        agent: AgentId::new(row.try_get("agent")?),
        title: row.try_get("title")?,
        entries: size(row, "entries")?,
        created_at: timestamp(row, "created_at")?,
        updated_at: timestamp(row, "updated_at")?,
    })
}

fn read_run_row(row: &SqliteRow) -> Result<Run, ReadError> {
    read_run(row.try_get("id")?, row.try_get("record")?)
}

/// A run from its record.
pub(super) fn read_run(id: &str, record: &str) -> Result<Run, ReadError> {
    decode(id, "record", record)
}
