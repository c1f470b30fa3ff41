//! Who asks, what their program can do, and how they are answered.

use std::any::Any;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::approval::Responder;
use toolroom::call::{Pending, UserLocation};
use toolroom::ledger::Answer;
use toolroom::provenance::CallSource;
use toolroom::scope::Scope;

use crate::identity::{Caller, Permission};
use crate::mcp::calls::progress::LogLevel;
use crate::mcp::client_capabilities::{ClientCapabilities, ClientCapability};
use crate::mcp::client_channel::ClientChannel;
use crate::mcp::protocol::params::{CAPABILITIES, Meta, VERSION};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::protocol::version::Era;
use crate::mcp::sessions::session::{McpSession, source_id};

/// Who asks, as the door they came through knows them.
#[derive(Debug, Clone)]
pub(crate) struct McpCaller {
    /// Whose data they see and make.
    pub(crate) scope: Scope,
    /// What they are known by.
    pub(crate) name: Arc<str>,
    /// Whether they may read what was kept: results, and agents.
    pub(crate) may_read: bool,
    /// Where their calls come from, unless they come from a session.
    pub(crate) source: CallSource,
    /// With which rights they answer questions about their calls.
    pub(super) responder: Responder,
    /// What tools are told of their rights.
    pub(crate) facts: Map<String, Value>,
    pub(crate) user_location: UserLocation,
}

impl McpCaller {
    /// A caller that was let in over HTTP.
    pub(crate) fn authenticated(caller: Caller) -> Arc<Self> {
        let (name, may_read, facts) = (caller.call_owner(), caller.may(Permission::Read), caller.facts());
        let (source, responder) = (caller.source(), caller.responder_as_caller());
        let user_location = UserLocation::Remote;
        Arc::new(Self { scope: caller.scope, name, may_read, source, responder, facts, user_location })
    }

    /// A client that started us: a program, which is not the person who owns the data folder. Its calls are one session.
    pub(crate) fn stdio(owner: Scope) -> Self {
        let name: Arc<str> = "stdio".into();
        let source = CallSource::Session(source_id());
        let responder = Responder::Caller(Arc::clone(&name));
        // A client that starts us runs on the user's machine.
        let user_location = UserLocation::Local;
        Self { scope: owner, name, may_read: true, source, responder, facts: Map::new(), user_location }
    }

    /// The answers that are taken from them to a question about a call of theirs.
    pub(super) fn answers(&self, pending: &Pending) -> &'static [Answer] {
        self.responder.answers(&pending.rule, pending.by, Some(&self.name))
    }
}

/// The program they ask with, as it describes itself.
#[derive(Debug, Clone)]
pub(crate) struct McpClient {
    pub(crate) era: Era,
    pub(crate) abilities: ClientCapabilities,
    /// The least that it wants to be told of.
    pub(crate) level: Option<LogLevel>,
    /// What it said when it introduced itself, where it did.
    pub(crate) session: Option<Arc<McpSession>>,
}

impl McpClient {
    /// The client of a request that names a version, and which one it is; nothing, if it names none.
    pub(crate) fn named(meta: &Meta) -> Option<Result<(Self, &str), RpcError>> {
        meta.version.as_ref().map(|_| Self::described(meta))
    }

    /// The client of a request that stands for itself, and the version it speaks.
    ///
    /// # Errors
    /// When it does not say what it has to.
    pub(crate) fn described(meta: &Meta) -> Result<(Self, &str), RpcError> {
        let missing = |key: &str| RpcError::invalid(format!("`_meta` has to say `{key}`"));
        let version = meta.version.as_ref().and_then(Value::as_str).ok_or_else(|| missing(VERSION))?;
        let capabilities = meta.capabilities.as_ref().and_then(Value::as_object);
        let abilities = ClientCapabilities::read(capabilities.ok_or_else(|| missing(CAPABILITIES))?);
        let level = match &meta.level {
            None => None,
            Some(level) => {
                let known = level.as_str().and_then(LogLevel::of);
                Some(known.ok_or_else(|| RpcError::invalid("`logLevel` is none of the known ones"))?)
            }
        };
        Ok((Self { era: Era::Modern, abilities, level, session: None }, version))
    }

    pub(super) const fn can(&self, ability: ClientCapability) -> bool {
        self.abilities.has(ability)
    }

    /// Whether it takes a task for the answer to a call.
    pub(super) const fn takes_tasks(&self) -> bool {
        self.era.is_modern() && self.can(ClientCapability::Tasks)
    }

    /// Whether it may hear a question while it waits for an answer: in the later era questions are answers.
    pub(crate) fn hears_questions(&self) -> bool {
        let asked = [ClientCapability::Elicitation, ClientCapability::Sampling, ClientCapability::Roots];
        !self.era.is_modern() && asked.into_iter().any(|ability| self.can(ability))
    }

    /// Whether its user can be shown a form.
    pub(super) const fn can_ask(&self) -> bool {
        self.can(ClientCapability::Form)
    }
}

/// Somebody who asked something.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) caller: Arc<McpCaller>,
    pub(crate) client: McpClient,
    pub(crate) channel: ClientChannel,
    /// What is kept for as long as something is done for them.
    pub(crate) place: RequestPermit,
}

/// A place among those who are worked for, where the door they came through counts them.
#[derive(Clone, Default)]
pub(crate) struct RequestPermit {
    _held: Option<Arc<dyn Any + Send + Sync>>,
}

impl RequestPermit {
    pub(crate) fn of(held: Arc<impl Any + Send + Sync>) -> Self {
        Self { _held: Some(held) }
    }
}

impl RequestContext {
    /// Where the calls come from. Those over our standard streams come from the one client of this process.
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
