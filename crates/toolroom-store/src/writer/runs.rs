//! Whether a run may begin or go on, by what the database said.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::conversation::{BeginRunError, ConversationId, RunId, RunState, StepError};
use toolroom::scope::Scope;

use super::unit::Refusal;
use crate::StoreError;
use crate::conversation::{RunChange, Start};
use crate::row::{read_scope, size};

/// A run and its conversation as they stand.
#[derive(Debug, Default)]
pub(super) struct RunSeen {
    run: Option<Standing>,
    conversation: Option<(Scope, u64)>,
    /// The open run of the conversation.
    open: Option<(RunId, RunState)>,
}

#[derive(Debug)]
struct Standing {
    conversation: ConversationId,
    owner: Scope,
    state: String,
    instance: Option<String>,
}

impl RunSeen {
    /// From a row of `statements::RUNS_OF`.
    pub(super) fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let run = row.try_get::<Option<&str>, _>(2)?.map(|conversation| -> Result<_, sqlx::Error> {
            Ok(Standing {
                conversation: ConversationId::new(conversation),
                owner: read_scope(row, 3)?,
                state: row.try_get(5)?,
                instance: row.try_get(6)?,
            })
        });
        let conversation = match row.try_get::<Option<&str>, _>(7)? {
            Some(_) => Some((read_scope(row, 7)?, size(row, 9)?)),
            None => None,
        };
        let open = match row.try_get::<Option<&str>, _>(10)? {
            // There is no third open state.
            Some(id) => {
                Some((RunId::new(id), RunState::from_name(row.try_get(11)?).unwrap_or(RunState::Running)))
            }
            None => None,
        };
        Ok(Self { run: run.transpose()?, conversation, open })
    }

    /// Whether the change may be written by `instance`; gives how many entries the conversation has, `None` if it is
    /// to be made.
    pub(super) fn allows(&self, change: &RunChange, instance: &str) -> Result<Option<u64>, Refusal> {
        let there = match &change.start {
            Some(start) => self.allows_begin(change, start).map_err(Refusal::NotBegun)?,
            None => self.allows_step(change, instance).map_err(Refusal::NotStepped)?,
        };
        let follow = (there.unwrap_or(0)..).zip(&change.entries).all(|(place, entry)| place == entry.seq);
        if follow {
            Ok(there)
        } else {
            let problem = "its entries do not follow those that are there";
            Err(StoreError::WrongRun { run: change.run.id.clone(), problem }.into())
        }
    }

    fn allows_begin(&self, change: &RunChange, start: &Start) -> Result<Option<u64>, BeginRunError> {
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
        let there = self.conversation.as_ref().map(|(_, entries)| *entries);
        if there.unwrap_or(0) == start.conversation.entries { Ok(there) } else { Err(changed()) }
    }

    fn allows_step(&self, change: &RunChange, instance: &str) -> Result<Option<u64>, StepError> {
        let ours = self.run.as_ref().is_some_and(|seen| {
            seen.conversation == change.run.conversation
                && seen.owner == change.run.scope
                && seen.state == RunState::Running.as_str()
                && seen.instance.as_deref() == Some(instance)
        });
        match &self.conversation {
            Some((_, entries)) if ours => Ok(Some(*entries)),
            _ => Err(StepError::Lost(change.run.id.clone())),
        }
    }
}
