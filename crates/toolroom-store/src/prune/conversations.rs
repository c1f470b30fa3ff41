//! Forgetting old conversations, with what was said, their runs, and what the selector learned from them.

use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::{Age, CONVERSATIONS, Chunk, Forgotten, PruneReport, column, fitting, size};
use crate::{Store, StoreError, statements};

impl Store {
    /// Forgets the project's conversations in which nothing was said since `before`, but for those in which a run is at
    /// work or waits, a call waits for its answer, or a program runs. What was called stays in the journal, and what
    /// was spent stays spent.
    ///
    /// # Errors
    /// When the database fails; what was reported by then is forgotten all the same.
    pub async fn prune_conversations(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        self.forget_all(Chunk::Conversations(Age::new(project, before))).await
    }

    /// What [`Store::prune_conversations`] would forget.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn prune_conversations_preview(
        &self,
        project: &ProjectId,
        before: Timestamp,
    ) -> Result<PruneReport, StoreError> {
        let age = Age::new(project, before);
        let (conversations, bytes) = self.previewed(age.bind(statements::PREVIEW_CONVERSATIONS)).await?;
        Ok(PruneReport { conversations, bytes, ..PruneReport::default() })
    }
}

pub(super) async fn forget(connection: &mut SqliteConnection, age: &Age) -> Result<Forgotten, sqlx::Error> {
    let query = age.bind(statements::OLD_CONVERSATIONS).bind(i64::from(CONVERSATIONS));
    let (old, has_more) = fitting(query.fetch_all(&mut *connection).await?, CONVERSATIONS, 1..3)?;
    let ids = column(&old, 0)?;
    let bytes = old.iter().map(|row| size(row, 1)).sum::<Result<u64, _>>()?;
    let programs = statements::DELETE_PROGRAMS_OF.query().bind(age.project.clone()).bind(ids.clone());
    programs.execute(&mut *connection).await?;
    let deleted = statements::DELETE_CONVERSATIONS.query().bind(ids).execute(connection).await?;
    let report = PruneReport { conversations: deleted.rows_affected(), bytes, ..PruneReport::default() };
    Ok(Forgotten { report, has_more })
}
