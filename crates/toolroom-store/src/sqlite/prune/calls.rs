//! Pruning of calls, with their approvals, artifacts and unreferenced contents.

use serde_json::{Value, json};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::{Age, CHUNK_ROWS, Chunk, PrunedChunk, delete_contents, fit, length, texts};
use crate::sqlite::reader::Reader;
use crate::sqlite::row::size;
use crate::{CountedCalls, PruneReport, Store, StoreError, statements};

/// Sorts above every id.
const ABOVE_ALL_IDS: &str = "~";

impl Store {
    /// Deletes the project's calls that ended before `before`, except those that are `counted`, *begun* or *pending*.
    ///
    /// # Errors
    /// When the database fails; chunks that were committed stay deleted.
    pub async fn prune(
        &self,
        project: &ProjectId,
        before: Timestamp,
        counted: &[CountedCalls],
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let below = self.first_kept_id(&age).await?;
        self.prune_all(Chunk::Calls { age, below, counted: pairs(counted) }).await
    }

    /// What [`Store::prune`] would delete, without whole results stored before `kept_since`, which another preview counts.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_preview(
        &self,
        project: &ProjectId,
        before: Timestamp,
        counted: &[CountedCalls],
        kept_since: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let (below, counted) = (self.first_kept_id(&age).await?, pairs(counted));
        let bound = |statement| age.bind(statement).bind(below.clone()).bind(counted.clone());
        let results = |statement| bound(statement).bind(kept_since.as_micros());
        Ok(PruneReport {
            calls: count(self.reader(), bound(statements::PRUNE_PREVIEW_CALLS)).await?,
            artifacts: count(self.reader(), results(statements::PRUNE_PREVIEW_ARTIFACTS)).await?,
            conversations: 0,
            bytes: count(self.reader(), results(statements::PRUNE_PREVIEW_BYTES)).await?,
        })
    }

    /// The first id that is too young: a call does not end before it arrives.
    async fn first_kept_id(&self, age: &Age) -> Result<String, StoreError> {
        let row = self.reader().row(age.bind(statements::PRUNE_BOUND)).await?;
        let id = row.map(|row| row.try_get::<String, _>("id")).transpose();
        Ok(id.map_err(|error| self.reader().failed(error))?.unwrap_or_else(|| ABOVE_ALL_IDS.to_owned()))
    }
}

/// Tools and times as a JSON array of pairs.
fn pairs(counted: &[CountedCalls]) -> String {
    let pairs = counted.iter().map(|calls| json!([calls.tool, calls.since.as_micros()]));
    Value::Array(pairs.collect()).to_string()
}

async fn count(reader: &Reader, query: statements::Bound) -> Result<u64, StoreError> {
    let row = reader.row(query).await?;
    row.map_or(Ok(0), |row| size(&row, "total")).map_err(|error| reader.failed(error))
}

pub(super) async fn prune(
    connection: &mut SqliteConnection,
    age: &Age,
    below: &str,
    counted: &str,
) -> Result<PrunedChunk, sqlx::Error> {
    let query = age.bind(statements::PRUNE_CHUNK).bind(below.to_owned()).bind(counted.to_owned());
    let query = query.bind(i64::from(CHUNK_ROWS));
    let (old, has_more) = fit(query.fetch_all(&mut *connection).await?, CHUNK_ROWS, &["bytes"])?;
    let ids = texts(&old, "id")?;
    let artifacts = statements::DELETE_ARTIFACTS.query().bind(ids.clone());
    let artifacts = artifacts.fetch_all(&mut *connection).await?;
    let bytes = delete_contents(connection, &age.project, texts(&artifacts, "sha256")?).await?;
    let calls = statements::DELETE_CALLS.query().bind(ids).execute(connection).await?.rows_affected();
    let report = PruneReport { calls, artifacts: length(&artifacts), conversations: 0, bytes };
    Ok(PrunedChunk { report, has_more })
}
