//! Forgetting old whole results, whose calls stay.

use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::{Age, CHUNK, Chunk, Forgotten, PruneReport, column, fitting, forget_contents, length};
use crate::{Store, StoreError, statements};

impl Store {
    /// Forgets the project's whole results that were kept before `before`, but for those that a run may still ask for.
    ///
    /// # Errors
    /// When the database fails; what was reported by then is forgotten all the same.
    pub async fn prune_results(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        self.forget_all(Chunk::of_results(project, before)).await
    }

    /// What [`Store::prune_results`] would forget.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_results_preview(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let (artifacts, bytes) = self.previewed(age.bind(statements::PREVIEW_RESULTS)).await?;
        Ok(PruneReport { artifacts, bytes, ..PruneReport::default() })
    }
}

pub(super) async fn forget(connection: &mut SqliteConnection, age: &Age) -> Result<Forgotten, sqlx::Error> {
    let query = age.bind(statements::PRUNE_RESULTS).bind(i64::from(CHUNK));
    let (results, has_more) = fitting(query.fetch_all(&mut *connection).await?, CHUNK, 3..4)?;
    let (ids, calls, hashes) = (column(&results, 0)?, column(&results, 1)?, column(&results, 2)?);
    statements::DELETE_RESULTS.query().bind(ids).execute(&mut *connection).await?;
    statements::FORGET_RESULTS_OF.query().bind(calls.clone()).execute(&mut *connection).await?;
    statements::FORGET_OFFERS_OF.query().bind(calls).execute(&mut *connection).await?;
    let bytes = forget_contents(connection, &age.project, hashes).await?;
    let report = PruneReport { artifacts: length(&results), bytes, ..PruneReport::default() };
    Ok(Forgotten { report, has_more })
}
