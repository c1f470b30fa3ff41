//! Conversations and their runs.
//!
//! [`change`] encodes what a begin or a step of a run writes, before it is queued, so that the writer has less to do.
//! [`lease`] takes runs over and deletes conversations: rare changes with reads of their own.

mod change;
mod lease;
mod read;

use std::future::ready;

pub(crate) use change::{RunChange, RunRows, Start};
pub(crate) use lease::{LeaseChange, apply_lease};
use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::conversation::{
    BeginRun, BeginRunError, Conversation, ConversationEntry, ConversationFilter, ConversationId,
    Conversations, NumberedEvent, PastRequest, Run, RunFilter, RunId, RunStep, Spending, Spent, StepError,
    TakeRunError,
};
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;

use crate::sqlite::writer::{Outcome, Refusal, Work};
use crate::{Store, StoreError};

impl Store {
    /// Open runs of every project, oldest first, for a process that resumes them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_runs(&self) -> Result<Vec<Run>, StoreError> {
        read::open_runs(self.reader()).await
    }
}

impl Conversations for Store {
    fn begin_run(&self, begin: BeginRun) -> BoxFuture<'static, Result<(), BeginRunError>> {
        let answer = match RunChange::begin(begin) {
            Ok(change) => self.submit(Work::Run(Box::new(change))),
            Err(error) => return Box::pin(ready(Err(LedgerError::new("begin the run", error).into()))),
        };
        Box::pin(async move {
            match answer.await {
                Ok(_) => Ok(()),
                Err(Refusal::NotBegun(error)) => Err(error),
                Err(other) => Err(LedgerError::new("begin the run", other).into()),
            }
        })
    }

    fn step(&self, step: RunStep) -> BoxFuture<'static, Result<(), StepError>> {
        let answer = match RunChange::step(step) {
            Ok(change) => self.submit(Work::Run(Box::new(change))),
            Err(error) => return Box::pin(ready(Err(LedgerError::new("write the step", error).into()))),
        };
        Box::pin(async move {
            match answer.await {
                Ok(_) => Ok(()),
                Err(Refusal::NotStepped(error)) => Err(error),
                Err(other) => Err(LedgerError::new("write the step", other).into()),
            }
        })
    }

    fn release_run(&self, run: &RunId) {
        drop(self.submit(Work::Lease(LeaseChange::Release(run.clone()))));
    }

    fn take_run(&self, scope: &Scope, run: &RunId) -> BoxFuture<'static, Result<Run, TakeRunError>> {
        let answer = self.submit(Work::Lease(LeaseChange::Take(scope.clone(), run.clone())));
        Box::pin(async move {
            match answer.await {
                Ok(Outcome::Taken(run)) => Ok(*run),
                // Impossible.
                Ok(_) => Err(LedgerError::new("take the run", StoreError::Closed).into()),
                Err(Refusal::NotTaken(error)) => Err(error),
                Err(other) => Err(LedgerError::new("take the run", other).into()),
            }
        })
    }

    fn conversation<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
    ) -> BoxFuture<'a, Result<Option<Conversation>, LedgerError>> {
        Box::pin(async move {
            let conversation = read::conversation(self.reader(), scope, id).await;
            conversation.map_err(|error| LedgerError::new("read the conversation", error))
        })
    }

    fn conversations<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ConversationFilter,
    ) -> BoxFuture<'a, Result<Vec<Conversation>, LedgerError>> {
        Box::pin(async move {
            let conversations = read::conversations(self.reader(), scope, filter).await;
            conversations.map_err(|error| LedgerError::new("list conversations", error))
        })
    }

    fn entries<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<ConversationEntry>, LedgerError>> {
        Box::pin(async move {
            let entries = read::entries(self.reader(), scope, id, from).await;
            entries.map_err(|error| LedgerError::new("read the entries", error))
        })
    }

    fn delete_conversation(
        &self,
        scope: &Scope,
        id: &ConversationId,
    ) -> BoxFuture<'static, Result<bool, StepError>> {
        let answer = self.submit(Work::Lease(LeaseChange::DeleteConversation(scope.clone(), id.clone())));
        Box::pin(async move {
            match answer.await {
                Ok(outcome) => Ok(outcome == Outcome::Changed(1)),
                Err(Refusal::NotStepped(error)) => Err(error),
                Err(other) => Err(LedgerError::new("delete the conversation", other).into()),
            }
        })
    }

    fn run<'a>(&'a self, scope: &'a Scope, id: &'a RunId) -> BoxFuture<'a, Result<Option<Run>, LedgerError>> {
        Box::pin(async move {
            let run = read::run(self.reader(), scope, id).await;
            run.map_err(|error| LedgerError::new("read the run", error))
        })
    }

    fn runs<'a>(
        &'a self,
        scope: &'a Scope,
        filter: RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Run>, LedgerError>> {
        Box::pin(async move {
            let runs = read::runs(self.reader(), scope, filter).await;
            runs.map_err(|error| LedgerError::new("list runs", error))
        })
    }

    fn events<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a RunId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<NumberedEvent>, LedgerError>> {
        Box::pin(async move {
            let events = read::events(self.reader(), scope, run, from).await;
            events.map_err(|error| LedgerError::new("read the events of the run", error))
        })
    }

    fn past_requests<'a>(
        &'a self,
        scope: &'a Scope,
        per_tool: u32,
    ) -> BoxFuture<'a, Result<Vec<PastRequest>, LedgerError>> {
        Box::pin(async move {
            let requests = read::past_requests(self.reader(), scope, per_tool).await;
            requests.map_err(|error| LedgerError::new("read past requests", error))
        })
    }
}

impl Spending for Store {
    fn spent<'a>(
        &'a self,
        scope: &'a Scope,
        conversation: Option<&'a ConversationId>,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Spent, LedgerError>> {
        Box::pin(async move {
            let spent = read::spent(self.reader(), scope, conversation, since).await;
            spent.map_err(|error| LedgerError::new("sum up the costs", error))
        })
    }
}
