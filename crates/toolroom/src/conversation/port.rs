//! The storage port for conversations and runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::entries::{Conversation, ConversationEntry, ConversationId};
use super::event::NumberedEvent;
use super::run::{AgentId, Run, RunId, RunState};
use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::LedgerError;
use crate::model::Usage;
use crate::scope::Scope;

/// The first row of a run, with what has to hold in the same transaction.
#[derive(Debug, Clone)]
pub struct BeginRun {
    /// The run, state [`RunState::Running`].
    pub run: Run,
    /// The conversation, created if there is none of that id. If the stored one has more than its `entries` by now, the run
    /// does not begin.
    pub conversation: Conversation,
    /// The first entries, with consecutive numbers.
    pub entries: Vec<ConversationEntry>,
}

/// One step of a run: everything it changes.
#[derive(Debug, Clone)]
pub struct RunStep {
    /// The run as it stands now.
    pub run: Run,
    /// New entries, with consecutive numbers.
    pub entries: Vec<ConversationEntry>,
    /// New structural events.
    pub events: Vec<NumberedEvent>,
    /// Tokens that were paid for.
    pub usage: Vec<UsageRow>,
    /// Requests that led to a tool, for the selector.
    pub requests: Vec<PastRequest>,
}

/// What one answer of a model cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsageRow {
    /// When.
    pub at: Timestamp,
    /// Whose run it was.
    #[serde(flatten)]
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The conversation.
    pub conversation: ConversationId,
    /// Who answered.
    pub agent: AgentId,
    /// With which model.
    pub model: Arc<str>,
    /// What it was asked for: `answer` or `summary`.
    pub purpose: Arc<str>,
    /// The tokens.
    pub usage: Usage,
    /// US dollars, if prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A message that led a model to a tool. Secrets are hidden in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastRequest {
    /// The tool's full id.
    pub tool: Arc<str>,
    /// What was asked for.
    pub message: Arc<str>,
}

/// Usage and costs of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// The tokens.
    pub usage: Usage,
    /// US dollars, as far as prices are known.
    pub cost: f64,
    /// How often models were asked.
    pub answers: u64,
    /// How many runs asked them.
    pub runs: u64,
}

/// Which conversations to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationFilter {
    /// Only this agent's.
    pub agent: Option<AgentId>,
    /// Only those whose id ends so.
    pub id_suffix: Option<String>,
    /// Only those with this text in their title, ignoring case.
    pub title: Option<String>,
    /// Only those after this one, which was last changed at this time.
    pub behind: Option<(Timestamp, ConversationId)>,
    /// At most this many; 100 by default.
    pub limit: Option<u32>,
}

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only those in this state.
    pub state: Option<RunState>,
    /// Only those whose id ends so.
    pub id_suffix: Option<String>,
    /// Only those that are older than this one.
    pub before: Option<RunId>,
    /// At most this many; 100 by default.
    pub limit: Option<u32>,
}

/// Reads usage and costs.
pub trait Spending: Send + Sync {
    /// What was spent in a scope since then; of one conversation, if that is named.
    fn spent<'a>(
        &'a self,
        scope: &'a Scope,
        conversation: Option<&'a ConversationId>,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Spent, LedgerError>>;
}

/// Stores conversations and runs. Writes are queued when the method is called, in the order of the calls; the future
/// resolves once they are committed, so that they survive the death of the process.
pub trait Conversations: Spending {
    /// Begins a run and claims it until it ends or this process dies. Only one run of a conversation is open at a time.
    fn begin_run(&self, begin: BeginRun) -> BoxFuture<'static, Result<(), BeginRunError>>;

    /// Writes a step of a run this process has taken.
    fn step(&self, step: RunStep) -> BoxFuture<'static, Result<(), StepError>>;

    /// Queues the release of a run this process has claimed: it can then be claimed as if the process had died. Does nothing
    /// for runs of other processes.
    fn release_run(&self, run: &RunId);

    /// Takes an open run that waits, or whose process died.
    fn take_run(&self, scope: &Scope, run: &RunId) -> BoxFuture<'static, Result<Run, TakeRunError>>;

    /// One conversation.
    fn conversation<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
    ) -> BoxFuture<'a, Result<Option<Conversation>, LedgerError>>;

    /// The newest conversations that `filter` lets through, the one last spoken in first.
    fn conversations<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ConversationFilter,
    ) -> BoxFuture<'a, Result<Vec<Conversation>, LedgerError>>;

    /// The entries of a conversation, from a number on.
    fn entries<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<ConversationEntry>, LedgerError>>;

    /// Deletes a conversation with its runs, their events, and requests learned from it. Returns whether there was one. The journal of calls and the record of costs stay.
    fn delete_conversation(
        &self,
        scope: &Scope,
        id: &ConversationId,
    ) -> BoxFuture<'static, Result<bool, StepError>>;

    /// One run.
    fn run<'a>(&'a self, scope: &'a Scope, id: &'a RunId) -> BoxFuture<'a, Result<Option<Run>, LedgerError>>;

    /// The newest runs that `filter` lets through.
    fn runs<'a>(
        &'a self,
        scope: &'a Scope,
        filter: RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Run>, LedgerError>>;

    /// Whether a direct call may name the conversation: its caller has begun one of the newest runs there.
    fn was_started_by<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
        caller: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let filter = RunFilter { conversation: Some(id.clone()), ..RunFilter::default() };
        Box::pin(async move {
            let runs = self.runs(scope, filter).await?;
            Ok(runs.iter().any(|run| run.caller.as_deref() == Some(caller)))
        })
    }

    /// The structural events of a run, from a number on.
    fn events<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a RunId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<NumberedEvent>, LedgerError>>;

    /// Requests of a project that led to tools, the newest of each tool first, at most `per_tool` of each.
    fn past_requests<'a>(
        &'a self,
        scope: &'a Scope,
        per_tool: u32,
    ) -> BoxFuture<'a, Result<Vec<PastRequest>, LedgerError>>;
}

/// Why a run did not begin. Nothing was written then.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BeginRunError {
    /// Another run of the conversation is open.
    #[error("`{run}` is {state} in this conversation; let it end, resume it or cancel it first")]
    Open {
        /// The other run.
        run: RunId,
        /// How it stands.
        state: RunState,
    },
    /// The conversation has new entries, or the id belongs to another scope.
    #[error("the conversation `{0}` has changed meanwhile; read it again")]
    Changed(ConversationId),
    /// A run with that id exists.
    #[error("there is a run `{0}` already; use another id")]
    Taken(RunId),
    /// The rows could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why a step was not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StepError {
    /// Another process has claimed, ended or deleted the run, or it was never claimed.
    #[error("another process has taken `{0}` over, or it has ended")]
    Lost(RunId),
    /// A run of the conversation is running.
    #[error("`{run}` is running in this conversation; cancel it first")]
    Busy {
        /// The run.
        run: RunId,
    },
    /// The rows could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why a run cannot be resumed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TakeRunError {
    /// There is none of that id.
    #[error("there is no run `{0}`")]
    NotFound(RunId),
    /// It has ended.
    #[error("`{run}` is {state}; send a new message to go on")]
    Over {
        /// The run.
        run: RunId,
        /// How it ended.
        state: RunState,
    },
    /// Another process works on it.
    #[error("`{0}` is being worked on by another process")]
    Busy(RunId),
    /// The row could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
