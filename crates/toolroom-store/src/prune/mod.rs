//! Forgetting what is old: calls, whole results, conversations.
//!
//! Only what will not change any more is forgotten, and what nobody waits for; work in the outbox stays. It goes in
//! chunks, bounded in rows and in bytes, so that calls of this and other processes get their turn in between.

mod calls;
mod conversations;
mod results;
#[cfg(test)]
mod tests;

pub use self::calls::CountedCalls;

use std::ops::Range;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use crate::writer::{Outcome, Work};
use crate::{Store, StoreError, statements};

/// Rows per transaction, of those on which little hangs.
const CHUNK: u32 = 1000;

/// Conversations per transaction: many rows hang on each.
const CONVERSATIONS: u32 = 20;

/// Bytes per transaction. What is larger goes alone.
pub(crate) const CHUNK_BYTES: u64 = 16 << 20;

/// What was, or would be, forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Calls.
    pub calls: u64,
    /// Whole results.
    pub artifacts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Size of contents that nobody else holds, and of what was said.
    pub bytes: u64,
}

impl PruneReport {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            artifacts: self.artifacts.saturating_add(other.artifacts),
            conversations: self.conversations.saturating_add(other.conversations),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// What came of one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forgotten {
    report: PruneReport,
    /// Whether there may be another chunk.
    has_more: bool,
}

/// What is forgotten at once.
#[derive(Debug, Clone)]
pub(crate) enum Chunk {
    /// Calls below an id, but for those that are counted.
    Calls { age: Age, below: String, counted: String },
    /// Whole results.
    Results(Age),
    /// Conversations.
    Conversations(Age),
}

impl Chunk {
    /// Whole results that were kept before a time.
    pub(crate) fn of_results(project: &ProjectId, before: Timestamp) -> Self {
        Self::Results(Age::new(project, before))
    }
}

/// Whose, and how old.
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
    /// Forgets chunk after chunk, until nothing is left behind one.
    async fn forget_all(&self, chunk: Chunk) -> Result<PruneReport, StoreError> {
        let mut total = PruneReport::default();
        loop {
            let Outcome::Pruned(forgotten) = self.submit(Work::Prune(chunk.clone())).await? else {
                return Ok(total);
            };
            total = total.and(forgotten.report);
            if !forgotten.has_more {
                return Ok(total);
            }
        }
    }

    /// The numbers in the one row of a preview.
    async fn previewed(&self, query: statements::Bound) -> Result<(u64, u64), StoreError> {
        let row = self.reader().row(query).await?;
        let number = |column| row.as_ref().map_or(Ok(0), |row| row.try_get::<i64, _>(column));
        let read = || Ok::<_, sqlx::Error>((number(0)?, number(1)?));
        let (count, bytes) = read().map_err(|error| self.reader().failed(error))?;
        Ok((u64::try_from(count).unwrap_or(0), u64::try_from(bytes).unwrap_or(0)))
    }
}

/// Forgets one chunk inside the open transaction.
pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    chunk: &Chunk,
) -> Result<Forgotten, sqlx::Error> {
    match chunk {
        Chunk::Calls { age, below, counted } => calls::forget(connection, age, below, counted).await,
        Chunk::Results(age) => results::forget(connection, age).await,
        Chunk::Conversations(age) => conversations::forget(connection, age).await,
    }
}

/// The first rows that fit into one chunk, at least one, and whether others may be left. The last columns, from
/// `sizes` on, say how large each is.
fn fitting(
    mut rows: Vec<SqliteRow>,
    most: u32,
    sizes: Range<usize>,
) -> Result<(Vec<SqliteRow>, bool), sqlx::Error> {
    let is_full = u64::from(most) <= length(&rows);
    let (mut total, mut fit) = (0_u64, 0);
    for row in &rows {
        for column in sizes.clone() {
            total = total.saturating_add(size(row, column)?);
        }
        if total > CHUNK_BYTES && fit > 0 {
            break;
        }
        fit += 1;
    }
    let has_more = is_full || fit < rows.len();
    rows.truncate(fit);
    Ok((rows, has_more))
}

fn size(row: &SqliteRow, column: usize) -> Result<u64, sqlx::Error> {
    Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
}

/// Forgets contents that nobody holds any more; gives their size.
async fn forget_contents(
    connection: &mut SqliteConnection,
    project: &str,
    hashes: String,
) -> Result<u64, sqlx::Error> {
    let unheld =
        |statement: statements::Statement| statement.query().bind(project.to_owned()).bind(hashes.clone());
    let bytes = size(&unheld(statements::SIZE_OF_UNHELD).fetch_one(&mut *connection).await?, 0)?;
    unheld(statements::DELETE_UNHELD).execute(connection).await?;
    Ok(bytes)
}

/// A column as a JSON array.
fn column(rows: &[SqliteRow], number: usize) -> Result<String, sqlx::Error> {
    let values = rows.iter().map(|row| row.try_get::<&str, _>(number)).collect::<Result<Vec<_>, _>>()?;
    Ok(serde_json::Value::from(values).to_string())
}

fn length(rows: &[SqliteRow]) -> u64 {
    u64::try_from(rows.len()).unwrap_or(u64::MAX)
}
