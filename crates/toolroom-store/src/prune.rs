//! Forgetting old calls.
//!
//! Only what will not change any more is forgotten, with its approval, its artifacts and every content that
//! nobody else holds; open and waiting calls stay, and so does work in the outbox. It goes in chunks, so that
//! calls of this and other processes get their turn in between.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use crate::reader::Reader;
use crate::writer::{Outcome, Work};
use crate::{Store, StoreError, statements};

/// Sorts above every id.
const ABOVE_ALL_IDS: &str = "~";

/// Calls per transaction: a few milliseconds.
const CHUNK: u32 = 1000;

/// What was, or would be, forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Calls.
    pub calls: u64,
    /// Whole results.
    pub artifacts: u64,
    /// Size of contents that nobody else holds.
    pub bytes: u64,
}

/// Which calls.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    project: String,
    before: i64,
    below: String,
}

impl Store {
    /// Forgets the project's calls that arrived before `before`, in any status but *begun* and *pending*.
    ///
    /// # Errors
    /// When the database fails; what was reported by then is forgotten all the same.
    pub async fn prune(&self, project: &ProjectId, before: Timestamp) -> Result<PruneReport, StoreError> {
        let chunk = self.chunk(project, before).await?;
        let mut total = PruneReport::default();
        loop {
            let Outcome::Pruned(report) = self.submit(Work::Prune(chunk.clone())).await? else {
                return Ok(total);
            };
            total.calls += report.calls;
            total.artifacts += report.artifacts;
            total.bytes += report.bytes;
            if report.calls < u64::from(CHUNK) {
                return Ok(total);
            }
        }
    }

    /// What [`Store::prune`] would forget.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_preview(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        let chunk = self.chunk(project, before).await?;
        Ok(PruneReport {
            calls: count(self.reader(), statements::PRUNE_PREVIEW_CALLS, &chunk).await?,
            artifacts: count(self.reader(), statements::PRUNE_PREVIEW_ARTIFACTS, &chunk).await?,
            bytes: count(self.reader(), statements::PRUNE_PREVIEW_BYTES, &chunk).await?,
        })
    }

    async fn chunk(&self, project: &ProjectId, before: Timestamp) -> Result<Chunk, StoreError> {
        let project = project.as_str().to_owned();
        let before = before.as_micros();
        let query = statements::PRUNE_BOUND.query().bind(project.clone()).bind(before);
        let first_to_stay = self.reader().row(query).await?;
        let first_to_stay = first_to_stay.map(|row| row.try_get::<String, _>(0)).transpose();
        let below = first_to_stay.map_err(|error| self.reader().failed(error))?;
        Ok(Chunk { project, before, below: below.unwrap_or_else(|| ABOVE_ALL_IDS.to_owned()) })
    }
}

async fn count(reader: &Reader, statement: statements::Statement, chunk: &Chunk) -> Result<u64, StoreError> {
    let query = statement.query().bind(chunk.project.clone()).bind(chunk.before).bind(chunk.below.clone());
    let row = reader.row(query).await?;
    let number = row.map(|row| row.try_get::<i64, _>(0)).transpose().map_err(|error| reader.failed(error))?;
    Ok(u64::try_from(number.unwrap_or(0)).unwrap_or(0))
}

/// Forgets one chunk inside the open transaction.
pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    chunk: &Chunk,
) -> Result<PruneReport, sqlx::Error> {
    let ids = statements::PRUNE_CHUNK
        .query()
        .bind(chunk.project.clone())
        .bind(chunk.before)
        .bind(chunk.below.clone())
        .bind(i64::from(CHUNK))
        .fetch_all(&mut *connection)
        .await?;
    let ids = column(&ids)?;
    let hashes = statements::DELETE_ARTIFACTS.query().bind(ids.clone()).fetch_all(&mut *connection).await?;
    let bytes = statements::DELETE_BYTES
        .query()
        .bind(chunk.project.clone())
        .bind(column(&hashes)?)
        .fetch_all(&mut *connection)
        .await?;
    let sizes = bytes.iter().map(|row| row.try_get::<i64, _>(0)).sum::<Result<i64, _>>()?;
    let calls = statements::DELETE_CALLS.query().bind(ids).execute(connection).await?;
    Ok(PruneReport {
        calls: calls.rows_affected(),
        artifacts: u64::try_from(hashes.len()).unwrap_or(u64::MAX),
        bytes: u64::try_from(sizes).unwrap_or(0),
    })
}

/// The first column as a JSON array.
fn column(rows: &[sqlx::sqlite::SqliteRow]) -> Result<String, sqlx::Error> {
    let values = rows.iter().map(|row| row.try_get::<&str, _>(0)).collect::<Result<Vec<_>, _>>()?;
    Ok(serde_json::Value::from(values).to_string())
}
