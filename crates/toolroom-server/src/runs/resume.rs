//! Resumes runs without a live process: those of a process that died, and those whose questions are answered.

use std::collections::HashSet;
use std::sync::Arc;

use toolroom::conversation::{Run, RunState};
use toolroom::ledger::{LedgerError, QuestionState};
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::StoreError;

use super::runs::Runs;

impl Runs {
    /// Resumes the runs of an entrance that an earlier process left unfinished. Returns how many.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub(crate) async fn resume_interrupted(self: &Arc<Self>, entrance: &str) -> Result<usize, StoreError> {
        let runs = self.app.store.open_runs().await?;
        let unfinished =
            runs.into_iter().filter(|run| run.state == RunState::Running && &*run.entrance == entrance);
        let mut resumed = 0;
        for run in unfinished {
            match self.resume(&run.scope, &run.id).await {
                Ok(_) => resumed += 1,
                // Another process works on it, or its agent was removed.
                Err(error) => tracing::debug!("cannot resume `{}`: {error}", run.id),
            }
        }
        Ok(resumed)
    }

    /// Resumes the runs of an entrance whose questions were answered, in this process or another one.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) async fn resume_answered(self: &Arc<Self>, entrance: &str) -> Result<(), LedgerError> {
        let failed = |error| LedgerError::new("list open runs", error);
        let open = self.app.store.open_runs().await.map_err(failed)?;
        let waiting: Vec<Run> = open
            .into_iter()
            .filter(|run| run.state == RunState::Waiting && &*run.entrance == entrance)
            .collect();
        let projects: HashSet<ProjectId> = waiting.iter().map(|run| run.scope.project.clone()).collect();
        for project in projects {
            let listed =
                self.app.room.approvals().questions(&Scope { project: project.clone(), user: None }).await?;
            let asking: HashSet<&str> = (listed.questions.iter())
                .filter(|question| question.state == QuestionState::Waiting)
                .filter_map(|question| question.record.run.as_deref())
                .collect();
            for run in waiting.iter().filter(|run| run.scope.project == project) {
                if !asking.contains(run.id.as_str())
                    && let Err(error) = self.resume(&run.scope, &run.id).await
                {
                    tracing::debug!("cannot resume `{}`: {error}", run.id);
                }
            }
        }
        Ok(())
    }
}
