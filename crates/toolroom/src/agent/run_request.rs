//! Requests to an agent, and the report of a run.

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

/// Receives the events of a run. Called from the run's task: it must not block.
pub type EventListener = Arc<dyn Fn(&NumberedEvent) + Send + Sync>;

/// A message to an agent. Identity is set by the entrance that authenticated the caller.
#[derive(Clone)]
pub struct SendRequest {
    /// The conversation; a new one if absent or unknown.
    pub conversation: Option<ConversationId>,
    /// The id of the run; a fresh one if absent.
    pub run: Option<RunId>,
    /// The message.
    pub message: Message,
    /// Earlier messages that the client keeps. A new conversation begins with them; for a known one they are ignored. Text
    /// and pictures are copied, calls and results are not; results in it count as private and untrusted.
    pub history: Vec<Message>,
    /// Who sends it.
    pub scope: Scope,
    /// Name of the caller, such as `key:ID`. Only this caller may answer its calls.
    pub caller: Option<Arc<str>>,
    /// Which entrance it came through.
    pub entrance: Arc<str>,
    /// Where the user is.
    pub user_location: UserLocation,
    /// Source of the request. Its provenance counts if no conversation is named, or if it begins with a history.
    pub source: CallSource,
    /// The client's context about its user and situation. Never trusted for rights.
    pub context: Map<String, Value>,
    /// The tools that the client runs itself.
    pub client_tools: ClientTools,
    /// Stops the run.
    pub cancellation: CancellationToken,
    /// Receives the run's events.
    pub listener: Option<EventListener>,
}

impl SendRequest {
    /// A text message in a new conversation of the local project.
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

    /// Continues this conversation.
    #[must_use]
    pub fn conversation(mut self, id: ConversationId) -> Self {
        self.conversation = Some(id);
        self
    }

    /// Sets whose message it is.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Adds tools that the client runs itself.
    #[must_use]
    pub fn client_tools(mut self, tools: ClientTools) -> Self {
        self.client_tools = tools;
        self
    }

    /// Sets the listener for the run's events.
    #[must_use]
    pub fn listener(mut self, listener: impl Fn(&NumberedEvent) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }
}

/// Which run to resume, for whom.
#[derive(Clone)]
pub struct ResumeRun {
    /// The run.
    pub run: RunId,
    /// Whose run it is.
    pub scope: Scope,
    /// The client's tools now, if they differ from those at the start of the run. Pending client calls keep their tools.
    pub client_tools: Option<ClientTools>,
    /// Stops the run.
    pub cancellation: CancellationToken,
    /// Receives the run's events.
    pub listener: Option<EventListener>,
}

impl ResumeRun {
    /// Resumes the run of that id.
    #[must_use]
    pub fn new(run: RunId, scope: Scope) -> Self {
        Self { run, scope, client_tools: None, cancellation: CancellationToken::new(), listener: None }
    }
}

/// The state of a run that has ended or waits.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// The run as it is stored.
    pub run: Run,
    /// The answer; empty if there is none.
    pub text: String,
    /// The calls it waits for.
    pub waiting: Vec<CallId>,
}

/// Why a run could not begin or continue. A failed run is not an error: its report says so.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The message is empty.
    #[error("the message is empty; write something")]
    EmptyMessage,
    /// A client tool was refused.
    #[error(transparent)]
    ClientTool(#[from] ClientToolError),
    /// The run belongs to another agent, with other tools.
    #[error("`{run}` belongs to the agent `{agent}`; resume it with that agent")]
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
    /// A step could not be stored, so the run stopped.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The secrets to redact could not be read, so nothing was sent.
    #[error(transparent)]
    Redaction(#[from] RedactionError),
    /// Something could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl fmt::Debug for SendRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Messages stay out of logs.
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
