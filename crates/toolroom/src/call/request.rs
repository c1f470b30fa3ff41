//! A call as an entrance requests it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::ledger::CallId;
use crate::policy::{Provenance, ToolChoice};
use crate::provenance::CallSource;
use crate::scope::Scope;
use crate::tool::{Arguments, ClientTool};

/// The largest client context of a call or run, in bytes of JSON. It is for facts about the situation, not for documents.
pub const MAX_CONTEXT_BYTES: usize = 64 * 1024;

/// The arguments as they arrived.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenArguments {
    /// The text a model wrote. Empty text means no arguments.
    Text(String),
    /// An object that is parsed already.
    Object(Arguments),
}

/// Progress of a running tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub message: String,
    /// How much of it is done, from 0 to 1, where that is known.
    pub fraction: Option<f64>,
}

/// Takes the [`Progress`] of one call. Called from the tool's task: it must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Where the user of a call is. Set by the entrance, never by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Seat")]
pub enum UserLocation {
    /// At this machine: tools open things on its desktop.
    #[serde(rename = "here")]
    Local,
    /// Elsewhere: what is to be opened or saved is [offered](crate::tool::Offer) to the user's client.
    #[default]
    #[serde(rename = "away")]
    Remote,
}

impl UserLocation {
    /// Whether the user is not at this machine, the default.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self, Self::Remote)
    }
}

/// A call to be made. Identity is set by the entrance that authenticated the caller.
#[derive(Clone)]
pub struct CallRequest {
    /// Its id, where the entrance has to name the call while it runs; a fresh one otherwise.
    pub id: Option<CallId>,
    /// Id, alias or unique bare name.
    pub tool: String,
    /// What to call it with.
    pub arguments: GivenArguments,
    /// Whose call it is.
    pub scope: Scope,
    /// The caller as the entrance knows it, such as `key:ID`. Only this caller may answer for the call.
    pub caller: Option<Arc<str>>,
    /// Which entrance it came through.
    pub entrance: Arc<str>,
    /// Where the user is.
    pub user_location: UserLocation,
    /// The conversation.
    pub thread: Option<Arc<str>>,
    /// The run inside the conversation.
    pub run: Option<Arc<str>>,
    /// The model's own id of the call; with the run it is unique.
    pub model_call: Option<Arc<str>>,
    /// The client's context about its user and situation. Never trusted for rights.
    pub context: Map<String, Value>,
    /// The embedder's own facts about the call, for the tool to read.
    pub metadata: Map<String, Value>,
    /// The tools of the agent that makes the call; any other is refused.
    pub choice: Option<Arc<ToolChoice>>,
    /// The client tool, if it is one: then `tool` is not looked up, and the result comes with
    /// [`Toolroom::deliver`](crate::Toolroom::deliver).
    pub client_tool: Option<Arc<ClientTool>>,
    /// Provenance besides that of its conversation and source.
    pub provenance: Provenance,
    /// Source of the call, besides its conversation.
    pub source: CallSource,
    /// Overrides the tool's own time limit.
    pub timeout: Option<Duration>,
    /// Stops the call.
    pub cancellation: CancellationToken,
    /// Receives progress.
    pub progress: Option<ProgressSink>,
}

impl CallRequest {
    /// A call without arguments, in the scope of the local project.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self::through("embedded", tool, Scope::default(), CancellationToken::new())
    }

    /// A call without arguments that came through an entrance, which says whose it is and when to stop it.
    #[must_use]
    pub fn through(
        entrance: &str,
        tool: impl Into<String>,
        scope: Scope,
        cancellation: CancellationToken,
    ) -> Self {
        Self {
            id: None,
            tool: tool.into(),
            arguments: GivenArguments::Object(Map::new()),
            scope,
            caller: None,
            entrance: entrance.into(),
            user_location: UserLocation::default(),
            thread: None,
            run: None,
            model_call: None,
            context: Map::new(),
            metadata: Map::new(),
            choice: None,
            client_tool: None,
            provenance: Provenance::NONE,
            source: CallSource::default(),
            timeout: None,
            cancellation,
            progress: None,
        }
    }

    /// Gives it an id, which has to be fresh.
    #[must_use]
    pub fn id(mut self, id: CallId) -> Self {
        self.id = Some(id);
        self
    }

    /// Adds one argument.
    #[must_use]
    pub fn argument(mut self, name: &str, value: impl Into<Value>) -> Self {
        match &mut self.arguments {
            GivenArguments::Object(arguments) => {
                arguments.insert(name.to_owned(), value.into());
            }
            GivenArguments::Text(_) => {
                self.arguments = GivenArguments::Object(Map::from_iter([(name.to_owned(), value.into())]));
            }
        }
        self
    }

    /// Uses these arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = GivenArguments::Object(arguments);
        self
    }

    /// Uses the arguments a model wrote.
    #[must_use]
    pub fn arguments_text(mut self, text: impl Into<String>) -> Self {
        self.arguments = GivenArguments::Text(text.into());
        self
    }

    /// Sets whose call it is.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the entrance.
    #[must_use]
    pub fn entrance(mut self, entrance: &str) -> Self {
        self.entrance = entrance.into();
        self
    }

    /// Sets where the user is.
    #[must_use]
    pub const fn user_location(mut self, user_location: UserLocation) -> Self {
        self.user_location = user_location;
        self
    }

    /// Sets the conversation and the run in it.
    #[must_use]
    pub fn conversation(mut self, thread: &str, run: Option<&str>) -> Self {
        self.thread = Some(thread.into());
        self.run = run.map(Into::into);
        self
    }

    /// Sets the model's own id of the call.
    #[must_use]
    pub fn model_call(mut self, id: &str) -> Self {
        self.model_call = Some(id.into());
        self
    }

    /// Sets the client's context.
    #[must_use]
    pub fn context(mut self, context: Map<String, Value>) -> Self {
        self.context = context;
        self
    }

    /// Adds the embedder's own facts about the call.
    #[must_use]
    pub fn metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Refuses every tool that is not among these.
    #[must_use]
    pub fn choice(mut self, choice: Arc<ToolChoice>) -> Self {
        self.choice = Some(choice);
        self
    }

    /// Calls a tool that the client runs itself.
    #[must_use]
    pub fn client_tool(mut self, tool: Arc<ClientTool>) -> Self {
        self.client_tool = Some(tool);
        self
    }

    /// Sets where it comes from: what the same source read before counts.
    #[must_use]
    pub fn source(mut self, source: CallSource) -> Self {
        self.source = source;
        self
    }

    /// Sets what was read and sent before.
    #[must_use]
    pub fn provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// Stops the call when this token is cancelled.
    #[must_use]
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Sets the sink for progress.
    #[must_use]
    pub fn progress(mut self, sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// Overrides the tool's own time limit.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }
}

impl fmt::Debug for CallRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and context stay out of logs: they are not redacted.
        formatter
            .debug_struct("CallRequest")
            .field("tool", &self.tool)
            .field("scope", &self.scope)
            .field("entrance", &self.entrance)
            .finish_non_exhaustive()
    }
}
