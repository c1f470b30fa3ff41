//! Forgetting old calls, with their approvals, their whole results and every content that nobody else holds.

use serde_json::{Value, json};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::{Age, CHUNK, Chunk, Forgotten, PruneReport, column, fitting, forget_contents, length};
use crate::reader::Reader;
use crate::{Store, StoreError, statements};

/// Sorts above every id.
const ABOVE_ALL_IDS: &str = "~";

/// Calls of a tool that are still counted, by a rate limit or otherwise, and therefore stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedCalls {
    /// The tool.
    pub tool: String,
    /// Those that began after this.
    pub since: Timestamp,
}

impl Store {
    /// Forgets the project's calls that ended before `before`, in any status but *begun* and *pending*, and but for those
    /// that are counted.
    ///
    /// # Errors
    /// When the database fails; what was reported by then is forgotten all the same.
    pub async fn prune(
        &self,
        project: &ProjectId,
        before: Timestamp,
        counted: &[CountedCalls],
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let below = self.below(&age).await?;
        self.forget_all(Chunk::Calls { age, below, counted: pairs(counted) }).await
    }

    /// What [`Store::prune`] would forget, but for whole results that were kept before `kept_since`: those are counted
    /// elsewhere.
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
        let (below, counted) = (self.below(&age).await?, pairs(counted));
        let bound = |statement| age.bind(statement).bind(below.clone()).bind(counted.clone());
        let results = |statement| bound(statement).bind(kept_since.as_micros());
        Ok(PruneReport {
            calls: count(self.reader(), bound(statements::PRUNE_PREVIEW_CALLS)).await?,
            artifacts: count(self.reader(), results(statements::PRUNE_PREVIEW_ARTIFACTS)).await?,
            conversations: 0,
            bytes: count(self.reader(), results(statements::PRUNE_PREVIEW_BYTES)).await?,
        })
    }

    /// The first id that has to stay: no call ends before it arrives.
    async fn below(&self, age: &Age) -> Result<String, StoreError> {
        let first_to_stay = self.reader().row(age.bind(statements::PRUNE_BOUND)).await?;
        let first_to_stay = first_to_stay.map(|row| row.try_get::<String, _>(0)).transpose();
        let below = first_to_stay.map_err(|error| self.reader().failed(error))?;
        Ok(below.unwrap_or_else(|| ABOVE_ALL_IDS.to_owned()))
    }
}

/// Tools and times, as statements take them.
fn pairs(counted: &[CountedCalls]) -> String {
    let pairs = counted.iter().map(|calls| json!([calls.tool, calls.since.as_micros()]));
    Value::Array(pairs.collect()).to_string()
}

async fn count(reader: &Reader, query: statements::Bound) -> Result<u64, StoreError> {
    let row = reader.row(query).await?;
    let number = row.map(|row| row.try_get::<i64, _>(0)).transpose().map_err(|error| reader.failed(error))?;
    Ok(u64::try_from(number.unwrap_or(0)).unwrap_or(0))
}

pub(super) async fn forget(
    connection: &mut SqliteConnection,
    age: &Age,
    below: &str,
    counted: &str,
) -> Result<Forgotten, sqlx::Error> {
    let query = age.bind(statements::PRUNE_CHUNK).bind(below.to_owned()).bind(counted.to_owned());
    let query = query.bind(i64::from(CHUNK));
    let (old, has_more) = fitting(query.fetch_all(&mut *connection).await?, CHUNK, 1..2)?;
    let ids = column(&old, 0)?;
    let gone = statements::DELETE_ARTIFACTS.query().bind(ids.clone()).fetch_all(&mut *connection).await?;
    let bytes = forget_contents(connection, &age.project, column(&gone, 0)?).await?;
    let calls = statements::DELETE_CALLS.query().bind(ids).execute(connection).await?;
    let calls = calls.rows_affected();
    let report = PruneReport { calls, artifacts: length(&gone), conversations: 0, bytes };
    Ok(Forgotten { report, has_more })
}
