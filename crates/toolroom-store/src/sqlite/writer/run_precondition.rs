//! Whether a run may begin or take a step, by the state of the database.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::conversation::{BeginRunError, ConversationId, RunId, RunState, StepError};
use toolroom::scope::Scope;

use super::unit::Refusal;
use crate::StoreError;
use crate::sqlite::conversation::{RunChange, Start};
use crate::sqlite::row::{read_scope, size};

/// A run and its conversation, as stored.
#[derive(Debug, Default)]
pub(super) struct RunPrecondition {
    run: Option<StoredRun>,
    /// Owner and number of entries.
    conversation: Option<(Scope, u64)>,
    /// The open run of the conversation.
    open: Option<(RunId, RunState)>,
}

#[derive(Debug)]
struct StoredRun {
    conversation: ConversationId,
    owner: Scope,
    state: String,
    instance: Option<String>,
}

impl RunPrecondition {
    /// From a row of `statements::RUNS_OF`.
    pub(super) fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let run = row.try_get::<Option<&str>, _>("conversation")?.map(|conversation| {
            Ok::<_, sqlx::Error>(StoredRun {
                conversation: ConversationId::new(conversation),
                owner: read_scope(row, "run_project", "run_user_id")?,
                state: row.try_get("state")?,
                instance: row.try_get("instance")?,
            })
        });
        let conversation = match row.try_get::<Option<&str>, _>("project")? {
            Some(_) => Some((read_scope(row, "project", "user_id")?, size(row, "entries")?)),
            None => None,
        };
        let open = match row.try_get::<Option<&str>, _>("open_run")? {
            // The statement selects two states only.
            Some(id) => {
                let state = RunState::from_name(row.try_get("open_state")?);
                Some((RunId::new(id), state.unwrap_or(RunState::Running)))
            }
            None => None,
        };
        Ok(Self { run: run.transpose()?, conversation, open })
    }

    /// Checks whether `instance` may write the change. Returns the number of entries of the conversation, `None` if it is new.
    pub(super) fn check(&self, change: &RunChange, instance: &str) -> Result<Option<u64>, Refusal> {
        let entries = match &change.start {
            Some(start) => self.check_begin(change, start).map_err(Refusal::NotBegun)?,
            None => self.check_step(change, instance).map_err(Refusal::NotStepped)?,
        };
        let follow = (entries.unwrap_or(0)..).zip(&change.entries).all(|(seq, entry)| seq == entry.seq);
        if follow {
            Ok(entries)
        } else {
            let problem = "its entries do not follow the stored ones";
            Err(StoreError::WrongRun { run: change.run.id.clone(), problem }.into())
        }
    }

    fn check_begin(&self, change: &RunChange, start: &Start) -> Result<Option<u64>, BeginRunError> {
        let changed = || BeginRunError::Changed(start.conversation.id.clone());
        if self.run.is_some() {
            return Err(BeginRunError::Taken(change.run.id.clone()));
        }
        let owner = self.conversation.as_ref().map_or(&start.conversation.scope, |(owner, _)| owner);
        if !change.run.scope.covers(owner) {
            return Err(changed());
        }
        if let Some((run, state)) = &self.open {
            return Err(BeginRunError::Open { run: run.clone(), state: *state });
        }
        let entries = self.conversation.as_ref().map(|(_, entries)| *entries);
        if entries.unwrap_or(0) == start.conversation.entries { Ok(entries) } else { Err(changed()) }
    }

    fn check_step(&self, change: &RunChange, instance: &str) -> Result<Option<u64>, StepError> {
        let is_held = self.run.as_ref().is_some_and(|run| {
            run.conversation == change.run.conversation
                && run.owner == change.run.scope
                && run.state == RunState::Running.as_str()
                && run.instance.as_deref() == Some(instance)
        });
        match &self.conversation {
            Some((_, entries)) if is_held => Ok(Some(*entries)),
            _ => Err(StepError::Lost(change.run.id.clone())),
        }
    }
}
