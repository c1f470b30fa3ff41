//! What a surface hands to an agent, and what it gets back.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::call::UserLocation;
use crate::conversation::{
    AgentId, BeginRunError, ConversationId, NumberedEvent, Run, RunId, StepError, TakeRunError,
};
use crate::ledger::{CallId, LedgerError};
use crate::model::Message;
use crate::provenance::CallSource;
use crate::redact::RedactionError;
use crate::scope::Scope;
use crate::tool::{ClientToolError, ClientTools};

/// Sees what happens in a run. Called from the run's task: it must not block.
pub type EventListener = Arc<dyn Fn(&NumberedEvent) + Send + Sync>;

/// A message to an agent. Identity is set by the entrance that authenticated the caller.
#[derive(Clone)]
pub struct SendRequest {
    /// The conversation it belongs to; a new one, if absent or not there yet.
    pub conversation: Option<ConversationId>,
    /// The id of the run it starts; a fresh one, if absent.
    pub run: Option<RunId>,
    /// What is said.
    pub message: Message,
    /// What was said before, elsewhere. A conversation that is new begins with it; in one that is there it is nothing new.
    /// Words and pictures are taken over, calls and their results are not; results that stand in it count as private and
    /// untrusted.
    pub history: Vec<Message>,
    /// Who says it.
    pub scope: Scope,
    /// Name of the caller, such as `key:ID`. Only this caller may answer its calls.
    pub caller: Option<Arc<str>>,
    /// Which entrance it came through.
    pub entrance: Arc<str>,
    /// Where the person sits who says it.
    pub user_location: UserLocation,
    /// Source of the request. What was read there counts if no conversation is named, or if it begins with a history.
    pub source: CallSource,
    /// What the client says about its user and situation. Never trusted for rights.
    pub context: Map<String, Value>,
    /// The tools the client brings along and runs itself.
    pub client_tools: ClientTools,
    /// Stops the run.
    pub cancellation: CancellationToken,
    /// Who watches.
    pub listener: Option<EventListener>,
}

impl SendRequest {
    /// These words, in a new conversation of the local project.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            conversation: None,
            run: None,
            message: Message::user(text),
            history: Vec::new(),
            scope: Scope::default(),
            caller: None,
            entrance: "embedded".into(),
            user_location: UserLocation::default(),
            source: CallSource::default(),
            context: Map::new(),
            client_tools: ClientTools::default(),
            cancellation: CancellationToken::new(),
            listener: None,
        }
    }

    /// Goes on in this conversation.
    #[must_use]
    pub fn conversation(mut self, id: ConversationId) -> Self {
        self.conversation = Some(id);
        self
    }

    /// Says who says it.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Brings tools that the client runs itself.
    #[must_use]
    pub fn client_tools(mut self, tools: ClientTools) -> Self {
        self.client_tools = tools;
        self
    }

    /// Lets somebody watch.
    #[must_use]
    pub fn listener(mut self, listener: impl Fn(&NumberedEvent) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }
}

/// Which run to go on with, for whom.
#[derive(Clone)]
pub struct ResumeRun {
    /// The run.
    pub run: RunId,
    /// Who wants it to go on.
    pub scope: Scope,
    /// The tools the client has by now, if not those it brought when the run began. What was handed to it stays what it
    /// was.
    pub client_tools: Option<ClientTools>,
    /// Stops the run.
    pub cancellation: CancellationToken,
    /// Who watches.
    pub listener: Option<EventListener>,
}

impl ResumeRun {
    /// Goes on with the run of that id.
    #[must_use]
    pub fn new(run: RunId, scope: Scope) -> Self {
        Self { run, scope, client_tools: None, cancellation: CancellationToken::new(), listener: None }
    }
}

/// How a run stands when nothing more happens by itself: it has ended, or it waits.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// The run as it is kept.
    pub run: Run,
    /// The answer; empty if there is none.
    pub text: String,
    /// The calls it waits for.
    pub waiting: Vec<CallId>,
}

/// Why a run could not begin or go on. A run that has no answer is no error: its report says so.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is nothing to answer.
    #[error("the message is empty; say something")]
    NothingSaid,
    /// A tool of the client is not taken.
    #[error(transparent)]
    ClientTool(#[from] ClientToolError),
    /// Another agent works on the run, with other tools.
    #[error("`{run}` belongs to the agent `{agent}`; let that one go on with it")]
    OtherAgent {
        /// The run.
        run: RunId,
        /// Whose it is.
        agent: AgentId,
    },
    /// It could not begin.
    #[error(transparent)]
    Begin(#[from] BeginRunError),
    /// It could not be taken.
    #[error(transparent)]
    Take(#[from] TakeRunError),
    /// What happened could not be kept, so nothing more was done.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Nobody can say which secrets to hide, so nothing is sent.
    #[error(transparent)]
    Redaction(#[from] RedactionError),
    /// Something could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl fmt::Debug for SendRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What people say stays out of logs.
        formatter
            .debug_struct("SendRequest")
            .field("conversation", &self.conversation)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ResumeRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResumeRun").field("run", &self.run).finish_non_exhaustive()
    }
}
