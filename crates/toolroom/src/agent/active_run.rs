//! A run while this process works on it.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::agent::{Agent, STOPPED};
use super::event_sink::EventSink;
use super::run_request::{RunError, RunReport};
use super::thread::Thread;
use super::tokens::{self, Estimator};
use super::tools::Tools;
use crate::clock::Timestamp;
use crate::conversation::{
    Content, ConversationEntry, Conversations, PastRequest, Run, RunEvent, RunFailure, RunId, RunState,
    RunStep, StepError, UsageRow,
};
use crate::ledger::{CallId, LedgerError};
use crate::model::{Block, Message, ModelCallId, ModelRequest, Role, Usage};
use crate::policy::RepeatGuard;
use crate::redact::Redactor;

/// A run in progress.
pub(super) struct ActiveRun<'a> {
    pub(super) agent: &'a Agent,
    pub(super) run: Run,
    /// The client's context for tools. After a pause or a crash only its redacted form is left.
    pub(super) context: Map<String, Value>,
    /// The next model request; its messages are the conversation.
    pub(super) request: ModelRequest,
    pub(super) tools: Tools,
    pub(super) redactor: Arc<Redactor>,
    pub(super) events: Arc<EventSink>,
    pub(super) cancellation: CancellationToken,
    pub(super) guard: RepeatGuard,
    /// Why the next answer has to be the last.
    pub(super) closing: Option<Closing>,
    /// Index of the current model in the agent's chain.
    pub(super) candidate: usize,
    /// Whether open calls may have left something in the journal.
    pub(super) resumed: bool,
    /// Calls whose end was reported before the run was resumed.
    pub(super) reported: HashSet<ModelCallId>,
    pub(super) thread: Thread,
    /// Estimated tokens of prompt and tools.
    pub(super) fixed: u64,
    /// Whether the budget warning was sent.
    pub(super) warned: bool,
    /// Tokens of the last request, as the vendor counted them.
    pub(super) last_prompt: Option<u64>,
    next_entry: u64,
    claim: RunClaim,
    step: PendingStep,
}

/// What the next step stores.
#[derive(Default)]
struct PendingStep {
    entries: Vec<ConversationEntry>,
    usage: Vec<UsageRow>,
    requests: Vec<PastRequest>,
}

/// Why no more tools are called in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// The limit of iterations is reached.
    Iterations,
    /// The model repeats its calls.
    Repetition,
}

/// Why the loop stops.
pub(super) enum Stop {
    /// There is no answer.
    Failed(RunFailure),
    /// It was stopped.
    Cancelled,
    /// The run cannot be stored.
    Broken(RunError),
}

impl Stop {
    pub(super) fn failed(kind: &str, message: impl Into<String>) -> Self {
        Self::Failed(RunFailure { kind: kind.to_owned(), message: message.into() })
    }
}

impl From<StepError> for Stop {
    fn from(error: StepError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Self {
        Self::Broken(error.into())
    }
}

/// The parts of an [`ActiveRun`].
pub(super) struct ActiveRunParts {
    pub(super) run: Run,
    pub(super) request: ModelRequest,
    pub(super) thread: Thread,
    pub(super) tools: Tools,
    pub(super) redactor: Arc<Redactor>,
    pub(super) events: Arc<EventSink>,
    pub(super) cancellation: CancellationToken,
    pub(super) next_entry: u64,
    pub(super) claim: RunClaim,
    /// Usage of the ranker, if it was asked.
    pub(super) ranked: Option<Usage>,
}

impl<'a> ActiveRun<'a> {
    pub(super) fn new(agent: &'a Agent, begun: ActiveRunParts) -> Self {
        let system = &begun.request.system;
        let prompt = tokens::text(&system.lasting) + tokens::text(&system.changing);
        Self {
            fixed: prompt + begun.tools.tokens(),
            agent,
            context: begun.run.context.clone(),
            run: begun.run,
            request: begun.request,
            tools: begun.tools,
            redactor: begun.redactor,
            events: begun.events,
            cancellation: begun.cancellation,
            guard: RepeatGuard::default(),
            closing: None,
            candidate: 0,
            resumed: false,
            reported: HashSet::new(),
            thread: begun.thread,
            warned: false,
            last_prompt: None,
            next_entry: begun.next_entry,
            claim: begun.claim,
            step: PendingStep::default(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.agent.room.clock().now()
    }

    /// Adds a message to the conversation; stored with the next step.
    pub(super) fn say(&mut self, message: Message) {
        let message = Arc::new(message);
        self.thread.add(self.next_entry, &message);
        self.request.messages.push(Arc::clone(&message));
        self.enter(Content::Message(message));
    }

    /// Adds an entry; stored with the next step.
    pub(super) fn enter(&mut self, content: Content) {
        let entry =
            ConversationEntry { seq: self.next_entry, run: self.run.id.clone(), at: self.now(), content };
        self.next_entry += 1;
        self.step.entries.push(entry);
    }

    /// Corrects token estimates.
    pub(super) fn estimator(&self) -> MutexGuard<'_, Estimator> {
        // Each change is whole when the lock is given back.
        self.agent.estimator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn spend(&mut self, row: UsageRow) {
        self.run.usage += row.usage;
        self.run.cost += row.cost.unwrap_or_default();
        self.step.usage.push(row);
    }

    /// US dollars spent since the last step.
    pub(super) fn unstored_cost(&self) -> f64 {
        self.step.usage.iter().filter_map(|row| row.cost).sum()
    }

    pub(super) fn learn(&mut self, request: PastRequest) {
        self.step.requests.push(request);
    }

    /// The calls of the last turn, if they have no results.
    pub(super) fn open_calls(&self) -> Vec<UnansweredCall> {
        match self.request.messages.last() {
            Some(message) if message.role == Role::Assistant => {
                message.blocks.iter().filter_map(UnansweredCall::from_block).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Stores everything since the last step; resolves once it is committed.
    pub(super) async fn commit_step(&mut self) -> Result<(), StepError> {
        let step = self.take_step();
        let kept = self.agent.conversations.step(step).await;
        if kept.is_err() || self.run.state != RunState::Running {
            // After a failed step the store has released the run.
            self.claim.forget();
        }
        kept
    }

    /// Queues everything since the last step without waiting. If it is lost, the journal knows the same, and the next step
    /// is refused.
    pub(super) fn queue_step(&mut self) {
        let step = self.take_step();
        drop(self.agent.conversations.step(step));
    }

    fn take_step(&mut self) -> RunStep {
        let unkept = std::mem::take(&mut self.step);
        RunStep {
            run: self.run.clone(),
            entries: unkept.entries,
            events: self.events.take_unstored(),
            usage: unkept.usage,
            requests: unkept.requests,
        }
    }

    /// Ends the run or lets it wait, and returns its report.
    pub(super) async fn close(mut self, end: Result<RunEnd, Stop>) -> Result<RunReport, RunError> {
        let (mut text, mut waiting) = (String::new(), Vec::new());
        match end {
            Ok(RunEnd::Done(answer)) => {
                self.run.state = RunState::Done;
                let (usage, cost) = (self.run.usage, self.run.cost);
                self.events.send(RunEvent::Done { text: answer.clone(), usage, cost });
                text = answer;
            }
            Ok(RunEnd::Waiting(calls)) => {
                self.run.state = RunState::Waiting;
                self.events.send(RunEvent::Waiting { calls: calls.clone() });
                waiting = calls;
            }
            Err(Stop::Failed(failure)) => {
                self.run.state = RunState::Failed;
                self.run.failure = Some(failure.clone());
                self.events.send(RunEvent::Failed(failure));
            }
            Err(Stop::Cancelled) => {
                self.answer_open(STOPPED);
                self.run.state = RunState::Cancelled;
                self.events.send(RunEvent::Cancelled);
            }
            Err(Stop::Broken(error)) => return Err(error),
        }
        if !self.run.state.is_open() {
            self.run.ended_at = Some(self.now());
        }
        self.commit_step().await?;
        Ok(RunReport { run: self.run, text, waiting })
    }

    /// Answers every open call with this error, so that the conversation can be sent again.
    pub(super) fn answer_open(&mut self, error: &str) {
        let open = self.open_calls();
        if !open.is_empty() {
            let blocks = open.iter().map(|call| call.error(error, None)).collect();
            self.say(Message { role: Role::User, blocks });
        }
    }
}

/// This process's claim on a run. Dropped before the run has ended or waits, it releases the run: otherwise a caller that
/// stopped polling, or an error, would block the conversation.
pub(super) struct RunClaim {
    conversations: Arc<dyn Conversations>,
    run: Option<RunId>,
}

impl RunClaim {
    /// Made before the run is requested, as the caller may go away while it waits for it.
    pub(super) fn new(conversations: &Arc<dyn Conversations>, run: &RunId) -> Self {
        Self { conversations: Arc::clone(conversations), run: Some(run.clone()) }
    }

    /// The run is not ours, or no longer.
    pub(super) fn forget(&mut self) {
        self.run = None;
    }
}

impl Drop for RunClaim {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            self.conversations.release_run(run);
        }
    }
}

/// How a run stands when the loop stops without an error.
pub(super) enum RunEnd {
    Done(String),
    Waiting(Vec<CallId>),
}

/// A call without a result.
#[derive(Debug, Clone)]
pub(super) struct UnansweredCall {
    pub(super) id: ModelCallId,
    /// The name the model wrote.
    pub(super) name: String,
    pub(super) arguments: Arc<str>,
}

impl UnansweredCall {
    fn from_block(block: &Block) -> Option<Self> {
        match block {
            Block::Call { id, name, arguments, .. } => {
                Some(Self { id: id.clone(), name: name.clone(), arguments: Arc::clone(arguments) })
            }
            _ => None,
        }
    }

    /// Its result.
    pub(super) fn result(&self, content: Arc<Value>, is_error: bool) -> Block {
        Block::Result { id: self.id.clone(), name: self.name.clone(), content, is_error }
    }

    /// An error as its result.
    pub(super) fn error(&self, error: &str, hint: Option<&str>) -> Block {
        self.result(Arc::new(error_value(error, hint)), true)
    }
}

/// What a model reads of a call that has no result.
pub(super) fn error_value(error: &str, hint: Option<&str>) -> Value {
    match hint {
        Some(hint) => serde_json::json!({"error": error, "hint": hint}),
        None => serde_json::json!({"error": error}),
    }
}
