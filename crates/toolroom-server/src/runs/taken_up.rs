//! Runs that nobody works on, and that can go on: a process died, or somebody has answered.

use std::collections::HashSet;
use std::sync::Arc;

use toolroom::conversation::{Run, RunState};
use toolroom::ledger::{LedgerError, QuestionState};
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::StoreError;

use super::runs::Runs;

impl Runs {
    /// Goes on with the runs that a former process left in the middle.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub(crate) async fn take_up(self: &Arc<Self>, entrance: &str) -> Result<usize, StoreError> {
        let left = self.app.store.open_runs().await?;
        let left =
            left.into_iter().filter(|run| run.state == RunState::Running && &*run.entrance == entrance);
        let mut taken = 0;
        for run in left {
            match self.resume(&run.scope, &run.id).await {
                Ok(_) => taken += 1,
                // Another process works on it, or its agent is gone.
                Err(error) => tracing::debug!("`{}` is not taken up: {error}", run.id),
            }
        }
        Ok(taken)
    }

    /// Goes on with runs whose questions somebody has answered, here or in another process.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) async fn go_on_with_answered(self: &Arc<Self>, entrance: &str) -> Result<(), LedgerError> {
        let failed = |error| LedgerError::new("list open runs", error);
        let open = self.app.store.open_runs().await.map_err(failed)?;
        let waiting: Vec<Run> = open
            .into_iter()
            .filter(|run| run.state == RunState::Waiting && &*run.entrance == entrance)
            .collect();
        let projects: HashSet<ProjectId> = waiting.iter().map(|run| run.scope.project.clone()).collect();
        for project in projects {
            let inbox =
                self.app.room.approvals().questions(&Scope { project: project.clone(), user: None }).await?;
            let asking: HashSet<&str> = (inbox.questions.iter())
                .filter(|question| question.state == QuestionState::Waiting)
                .filter_map(|question| question.record.run.as_deref())
                .collect();
            for run in waiting.iter().filter(|run| run.scope.project == project) {
                if !asking.contains(run.id.as_str())
                    && let Err(error) = self.resume(&run.scope, &run.id).await
                {
                    tracing::debug!("`{}` does not go on: {error}", run.id);
                }
            }
        }
        Ok(())
    }
}
