//! The context of a request: caller, client, and channel for messages to it.

use std::any::Any;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use toolroom::approval::Responder;
use toolroom::call::Pending;
use toolroom::ledger::Answer;
use toolroom::provenance::CallSource;
use toolroom::scope::Scope;

use crate::identity::{Caller, Permission};
use crate::mcp::calls::progress::LogLevel;
use crate::mcp::client_capabilities::{ClientCapabilities, ClientCapability};
use crate::mcp::protocol::Era;
use crate::mcp::protocol::message::OutgoingMessage;
use crate::mcp::protocol::params::{CAPABILITIES, Meta, VERSION};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::sessions::session::{McpSession, source_id};

/// Messages that are queued for a slow client.
const QUEUE: usize = 64;

/// The caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct McpCaller {
    /// The scope of its data.
    pub(crate) scope: Scope,
    /// Identifies the caller.
    pub(crate) name: Arc<str>,
    /// Whether it may read results and agents.
    pub(crate) may_read: bool,
    /// Source of its calls, unless they come from a session.
    pub(crate) source: CallSource,
    /// Its rights to answer questions about its calls.
    pub(super) responder: Responder,
    /// Its rights, as tools see them.
    pub(crate) facts: Map<String, Value>,
}

impl McpCaller {
    /// A caller that is authenticated over HTTP.
    pub(crate) fn authenticated(caller: Caller) -> Arc<Self> {
        let (name, may_read, facts) = (caller.call_owner(), caller.may(Permission::Read), caller.facts());
        let (source, responder) = (caller.source(), caller.responder_as_caller());
        Arc::new(Self { scope: caller.scope, name, may_read, source, responder, facts })
    }

    /// The client that started this process. It is not the operator. Its calls form one session.
    pub(crate) fn stdio(owner: Scope) -> Self {
        let name: Arc<str> = "stdio".into();
        let source = CallSource::Session(source_id());
        let responder = Responder::Caller(Arc::clone(&name));
        Self { scope: owner, name, may_read: true, source, responder, facts: Map::new() }
    }

    /// The answers that it may give to a question about its call.
    pub(super) fn answers(&self, pending: &Pending) -> &'static [Answer] {
        self.responder.answers(&pending.rule, pending.by, Some(&self.name))
    }
}

/// The client program, as it describes itself.
#[derive(Debug, Clone)]
pub(crate) struct McpClient {
    pub(crate) era: Era,
    pub(crate) capabilities: ClientCapabilities,
    /// The lowest level of log messages that it wants.
    pub(crate) level: Option<LogLevel>,
    /// Its session, in the era of sessions.
    pub(crate) session: Option<Arc<McpSession>>,
}

impl McpClient {
    /// The client of a request that may be modern, and its version. `None` without a version.
    pub(crate) fn named(meta: &Meta) -> Option<Result<(Self, &str), RpcError>> {
        meta.version.as_ref().map(|_| Self::described(meta))
    }

    /// The client of a modern request, and its version.
    ///
    /// # Errors
    /// If a required field of `_meta` is missing.
    pub(crate) fn described(meta: &Meta) -> Result<(Self, &str), RpcError> {
        let missing = |key: &str| RpcError::invalid(format!("`_meta` must contain `{key}`"));
        let version = meta.version.as_ref().and_then(Value::as_str).ok_or_else(|| missing(VERSION))?;
        let capabilities = meta.capabilities.as_ref().and_then(Value::as_object);
        let capabilities = ClientCapabilities::parse(capabilities.ok_or_else(|| missing(CAPABILITIES))?);
        let level = match &meta.level {
            None => None,
            Some(level) => {
                let known = level.as_str().and_then(LogLevel::from_name);
                Some(known.ok_or_else(|| RpcError::invalid("unknown `logLevel`"))?)
            }
        };
        Ok((Self { era: Era::Modern, capabilities, level, session: None }, version))
    }

    pub(super) const fn can(&self, capability: ClientCapability) -> bool {
        self.capabilities.has(capability)
    }

    /// Whether it accepts a task as the result of a call.
    pub(super) const fn takes_tasks(&self) -> bool {
        self.era.is_modern() && self.can(ClientCapability::Tasks)
    }

    /// Whether it may be asked for input during a request. Modern clients are asked in the result.
    pub(crate) fn accepts_input_requests(&self) -> bool {
        let asked = [ClientCapability::Elicitation, ClientCapability::Sampling, ClientCapability::Roots];
        !self.era.is_modern() && asked.into_iter().any(|ability| self.can(ability))
    }

    /// Whether it can show a form to its user.
    pub(super) const fn can_ask(&self) -> bool {
        self.can(ClientCapability::Form)
    }
}

/// The context of a request.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) caller: Arc<McpCaller>,
    pub(crate) client: McpClient,
    pub(crate) channel: ClientChannel,
    /// Held while the request is processed.
    pub(crate) permit: RequestPermit,
}

/// A permit of the concurrency limit, held until all clones are dropped.
#[derive(Clone, Default)]
pub(crate) struct RequestPermit {
    _held: Option<Arc<dyn Any + Send + Sync>>,
}

impl RequestPermit {
    pub(crate) fn new(held: Arc<impl Any + Send + Sync>) -> Self {
        Self { _held: Some(held) }
    }
}

impl RequestContext {
    /// The source of its calls. Over stdio this process is one session.
    pub(super) fn source(&self) -> CallSource {
        match (&self.caller.source, &self.client.session) {
            (CallSource::Caller(_), Some(session)) => CallSource::Session(Arc::clone(&session.source)),
            (source, _) => source.clone(),
        }
    }

    pub(crate) const fn is_modern(&self) -> bool {
        self.client.era.is_modern()
    }
}

/// A queue of messages to the client. Without a stream, messages are dropped.
#[derive(Debug, Clone)]
pub(crate) struct ClientChannel(Option<mpsc::Sender<OutgoingMessage>>);

impl ClientChannel {
    /// A channel and its receiver.
    pub(crate) fn open() -> (Self, mpsc::Receiver<OutgoingMessage>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(Some(sender)), receiver)
    }

    /// A channel that drops all messages.
    pub(crate) const fn silent() -> Self {
        Self(None)
    }

    pub(crate) const fn from_sender(sender: mpsc::Sender<OutgoingMessage>) -> Self {
        Self(Some(sender))
    }

    pub(crate) const fn is_silent(&self) -> bool {
        self.0.is_none()
    }

    /// Sends a message, or drops it if the queue is full.
    pub(crate) fn try_send(&self, message: String) {
        if let Some(sender) = &self.0 {
            drop(sender.try_send(message.into()));
        }
    }

    /// Waits until the receiver is dropped.
    pub(crate) async fn closed(&self) {
        if let Some(sender) = &self.0 {
            sender.closed().await;
        }
    }

    /// Sends a message. Returns whether there is a receiver.
    pub(crate) async fn send(&self, message: String) -> bool {
        match &self.0 {
            Some(sender) => sender.send(message.into()).await.is_ok(),
            None => false,
        }
    }
}
