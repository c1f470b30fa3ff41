//! The port through which conversations and runs are kept.

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
    /// The conversation, made if there is none of that id. Its `entries` says where the run goes on; if there are more
    /// by now, the run does not begin.
    pub conversation: Conversation,
    /// What is said first, in places that follow.
    pub entries: Vec<ConversationEntry>,
}

/// One step of a run: everything it changes.
#[derive(Debug, Clone)]
pub struct RunStep {
    /// The run as it stands now.
    pub run: Run,
    /// What was said, in places that follow.
    pub entries: Vec<ConversationEntry>,
    /// What watchers were told, structural events only.
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

/// What somebody has spent.
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
    /// Only those in whose title this text stands, in any case.
    pub title: Option<String>,
    /// Only those that come behind this one, in which something was last said then.
    pub behind: Option<(Timestamp, ConversationId)>,
    /// At most this many; 100 when nobody says.
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
    /// At most this many; 100 when nobody says.
    pub limit: Option<u32>,
}

/// Knows what was spent.
pub trait Spending: Send + Sync {
    /// What was spent in a scope since then; of one conversation, if that is named.
    fn spent<'a>(
        &'a self,
        scope: &'a Scope,
        conversation: Option<&'a ConversationId>,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Spent, LedgerError>>;
}

/// Keeps conversations and runs. Writes are queued when the method is called, in the order of the calls; the future
/// resolves once they are committed, so that they survive the death of the process.
pub trait Conversations: Spending {
    /// Begins a run and takes it: until it ends, or this process dies, nobody else may. One run at a time is open in a
    /// conversation.
    fn begin_run(&self, begin: BeginRun) -> BoxFuture<'static, Result<(), BeginRunError>>;

    /// Writes a step of a run this process has taken.
    fn step(&self, step: RunStep) -> BoxFuture<'static, Result<(), StepError>>;

    /// Gives back a run this process has taken and cannot go on with: it can be taken as if the process had died. Nobody
    /// waits for that, so it is only queued. Of a run that is not ours nothing changes.
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

    /// What was said in a conversation, from a place on.
    fn entries<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<ConversationEntry>, LedgerError>>;

    /// Deletes a conversation with its runs, what was told of them, and requests that were learned from it. Says
    /// whether there was one. The journal of calls and the record of costs stay.
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

    /// The structural events of a run, from a place on.
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
    /// Something was said meanwhile, or the id belongs to somebody else.
    #[error("the conversation `{0}` has changed meanwhile; read it again")]
    Changed(ConversationId),
    /// A run with that id exists.
    #[error("there is a run `{0}` already; runs have ids of their own")]
    Taken(RunId),
    /// The rows could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why a step was not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StepError {
    /// Somebody else has taken, ended or deleted the run, or it was never taken.
    #[error("`{0}` is no longer ours to go on with")]
    Lost(RunId),
    /// A run of the conversation is at work.
    #[error("`{run}` is at work in this conversation; cancel it first")]
    Busy {
        /// The run.
        run: RunId,
    },
    /// The rows could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why a run cannot be gone on with.
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
    /// Somebody else works on it.
    #[error("`{0}` is being worked on by another process")]
    Busy(RunId),
    /// The row could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
