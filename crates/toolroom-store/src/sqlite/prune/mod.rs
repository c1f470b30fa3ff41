//! Pruning: deletes old calls, whole results and conversations.
//!
//! Only what cannot change any more and is not waited for is deleted; work in the outbox stays. Deletion goes in chunks,
//! bounded in rows and bytes, so that calls of this and other processes are not blocked.

mod calls;
#[cfg(test)]
mod tests;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use crate::sqlite::row::size;
use crate::sqlite::writer::{Outcome, Work};
use crate::{PruneReport, Store, StoreError, statements};

/// Calls or results per transaction.
const CHUNK_ROWS: u32 = 1000;

/// Conversations per transaction: each has many rows.
const CHUNK_CONVERSATIONS: u32 = 20;

/// Bytes per transaction. A larger row is deleted alone.
pub(crate) const CHUNK_BYTES: u64 = 16 << 20;

/// The result of one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrunedChunk {
    report: PruneReport,
    /// Whether there may be another chunk.
    has_more: bool,
}

/// What one chunk deletes.
#[derive(Debug, Clone)]
pub(crate) enum Chunk {
    /// Calls with an id below `below`, except those that are `counted`.
    Calls { age: Age, below: String, counted: String },
    /// Whole results; their calls stay.
    Results(Age),
    /// Conversations.
    Conversations(Age),
}

impl Chunk {
    pub(crate) fn results(project: &ProjectId, before: Timestamp) -> Self {
        Self::Results(Age::new(project, before))
    }
}

/// A project, and the time before which its rows are old.
#[derive(Debug, Clone)]
pub(crate) struct Age {
    project: String,
    before: i64,
}

impl Age {
    fn new(project: &ProjectId, before: Timestamp) -> Self {
        Self { project: project.as_str().to_owned(), before: before.as_micros() }
    }

    fn bind(&self, statement: statements::Statement) -> statements::Bound {
        statement.query().bind(self.project.clone()).bind(self.before)
    }
}

impl Store {
    /// Deletes the project's whole results stored before `before`, except those that an open run may still read.
    ///
    /// # Errors
    /// When the database fails; chunks that were committed stay deleted.
    pub async fn prune_results(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        self.prune_all(Chunk::results(project, before)).await
    }

    /// What [`Store::prune_results`] would delete.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_results_preview(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let (artifacts, bytes) = self.preview(age.bind(statements::PREVIEW_RESULTS)).await?;
        Ok(PruneReport { artifacts, bytes, ..PruneReport::default() })
    }

    /// Deletes the project's conversations without an entry since `before`, except those with an open run, a pending call or
    /// a running program. The journal and the costs of their runs stay.
    ///
    /// # Errors
    /// When the database fails; chunks that were committed stay deleted.
    pub async fn prune_conversations(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        self.prune_all(Chunk::Conversations(Age::new(project, before))).await
    }

    /// What [`Store::prune_conversations`] would delete.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_conversations_preview(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let (conversations, bytes) = self.preview(age.bind(statements::PREVIEW_CONVERSATIONS)).await?;
        Ok(PruneReport { conversations, bytes, ..PruneReport::default() })
    }

    /// Deletes chunk after chunk.
    async fn prune_all(&self, chunk: Chunk) -> Result<PruneReport, StoreError> {
        let mut total = PruneReport::default();
        loop {
            let Outcome::Pruned(pruned) = self.submit(Work::Prune(chunk.clone())).await? else {
                return Ok(total);
            };
            total = total.and(pruned.report);
            if !pruned.has_more {
                return Ok(total);
            }
        }
    }

    /// The number of rows and bytes in the one row of a preview.
    async fn preview(&self, query: statements::Bound) -> Result<(u64, u64), StoreError> {
        let Some(row) = self.reader().row(query).await? else { return Ok((0, 0)) };
        let read = || Ok::<_, sqlx::Error>((size(&row, "total")?, size(&row, "bytes")?));
        read().map_err(|error| self.reader().failed(error))
    }
}

/// Deletes one chunk inside the open transaction.
pub(crate) async fn prune_chunk(
    connection: &mut SqliteConnection,
    chunk: &Chunk,
) -> Result<PrunedChunk, sqlx::Error> {
    match chunk {
        Chunk::Calls { age, below, counted } => calls::prune(connection, age, below, counted).await,
        Chunk::Results(age) => prune_results(connection, age).await,
        Chunk::Conversations(age) => prune_conversations(connection, age).await,
    }
}

async fn prune_results(connection: &mut SqliteConnection, age: &Age) -> Result<PrunedChunk, sqlx::Error> {
    let query = age.bind(statements::PRUNE_RESULTS).bind(i64::from(CHUNK_ROWS));
    let (results, has_more) = fit(query.fetch_all(&mut *connection).await?, CHUNK_ROWS, &["bytes"])?;
    let (ids, calls) = (texts(&results, "id")?, texts(&results, "call_id")?);
    statements::DELETE_RESULTS.query().bind(ids).execute(&mut *connection).await?;
    statements::CLEAR_RESULTS_OF_CALLS.query().bind(calls.clone()).execute(&mut *connection).await?;
    statements::DELETE_OFFERS_OF_CALLS.query().bind(calls).execute(&mut *connection).await?;
    let bytes = delete_contents(connection, &age.project, texts(&results, "sha256")?).await?;
    let report = PruneReport { artifacts: length(&results), bytes, ..PruneReport::default() };
    Ok(PrunedChunk { report, has_more })
}

async fn prune_conversations(
    connection: &mut SqliteConnection,
    age: &Age,
) -> Result<PrunedChunk, sqlx::Error> {
    let query = age.bind(statements::OLD_CONVERSATIONS).bind(i64::from(CHUNK_CONVERSATIONS));
    let rows = query.fetch_all(&mut *connection).await?;
    let (old, has_more) = fit(rows, CHUNK_CONVERSATIONS, &["entry_bytes", "event_bytes"])?;
    let ids = texts(&old, "id")?;
    let bytes = old.iter().map(|row| size(row, "entry_bytes")).sum::<Result<u64, _>>()?;
    let programs =
        statements::DELETE_PROGRAMS_OF_CONVERSATIONS.query().bind(age.project.clone()).bind(ids.clone());
    programs.execute(&mut *connection).await?;
    let deleted = statements::DELETE_CONVERSATIONS.query().bind(ids).execute(connection).await?;
    let report = PruneReport { conversations: deleted.rows_affected(), bytes, ..PruneReport::default() };
    Ok(PrunedChunk { report, has_more })
}

/// The first rows that fit into one chunk, at least one, and whether there may be more. `sizes` are the columns with the
/// size of a row.
fn fit(
    mut rows: Vec<SqliteRow>,
    max_rows: u32,
    sizes: &[&str],
) -> Result<(Vec<SqliteRow>, bool), sqlx::Error> {
    let is_full = u64::from(max_rows) <= length(&rows);
    let (mut total, mut fitting) = (0_u64, 0);
    for row in &rows {
        for column in sizes {
            total = total.saturating_add(size(row, column)?);
        }
        if total > CHUNK_BYTES && fitting > 0 {
            break;
        }
        fitting += 1;
    }
    let has_more = is_full || fitting < rows.len();
    rows.truncate(fitting);
    Ok((rows, has_more))
}

/// Deletes contents that no artifact refers to any more. Returns their size.
async fn delete_contents(
    connection: &mut SqliteConnection,
    project: &str,
    hashes: String,
) -> Result<u64, sqlx::Error> {
    let bind =
        |statement: statements::Statement| statement.query().bind(project.to_owned()).bind(hashes.clone());
    let bytes = size(&bind(statements::SIZE_OF_UNREFERENCED).fetch_one(&mut *connection).await?, "bytes")?;
    bind(statements::DELETE_UNREFERENCED).execute(connection).await?;
    Ok(bytes)
}

/// A column as a JSON array.
fn texts(rows: &[SqliteRow], column: &str) -> Result<String, sqlx::Error> {
    let values = rows.iter().map(|row| row.try_get::<&str, _>(column)).collect::<Result<Vec<_>, _>>()?;
    Ok(serde_json::Value::from(values).to_string())
}

fn length(rows: &[SqliteRow]) -> u64 {
    u64::try_from(rows.len()).unwrap_or(u64::MAX)
}
