//! Who asks, what their program can do, and how they are answered.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::scope::Scope;

use super::progress::Level;
use super::refusal::Refusal;
use super::session::Session;
use super::tasks::EXTENSION;
use super::version::Era;
use super::voice::Voice;

/// Who asks, as the door they came through knows them.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Whose data they see and make.
    pub(crate) scope: Scope,
    /// What they are known by.
    pub(crate) name: Arc<str>,
    /// Whether they may read what was kept: results, and agents.
    pub(crate) may_read: bool,
}

/// The program they ask with, as it describes itself.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) capabilities: Arc<Map<String, Value>>,
    /// The least that it wants to be told of.
    pub(crate) level: Option<Level>,
    /// What it said when it introduced itself, where it did.
    pub(crate) session: Option<Arc<Session>>,
}

/// What a client of the later era says of itself in each request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

impl Client {
    /// The version that a request names.
    pub(crate) fn version(params: &Map<String, Value>) -> Option<&Value> {
        params.get("_meta")?.get(VERSION)
    }

    /// The client of a request that names a version, and which one it is; nothing, if it names none.
    pub(crate) fn named(params: &Map<String, Value>) -> Option<Result<(Self, &str), Refusal>> {
        Self::version(params).map(|_| Self::described(params))
    }

    /// The client of a request that stands for itself, and the version it speaks.
    ///
    /// # Errors
    /// When it does not say what it has to.
    pub(crate) fn described(params: &Map<String, Value>) -> Result<(Self, &str), Refusal> {
        let missing = |key: &str| Refusal::invalid(format!("`_meta` has to say `{key}`"));
        let version = Self::version(params).and_then(Value::as_str).ok_or_else(|| missing(VERSION))?;
        let meta = params.get("_meta").unwrap_or(&Value::Null);
        let capabilities = meta.get(CAPABILITIES).and_then(Value::as_object);
        let capabilities = capabilities.cloned().ok_or_else(|| missing(CAPABILITIES))?;
        let level = match meta.get(LEVEL) {
            None => None,
            Some(level) => {
                let known = level.as_str().and_then(Level::of);
                Some(known.ok_or_else(|| Refusal::invalid("`logLevel` is none of the known ones"))?)
            }
        };
        Ok((Self { era: Era::Modern, capabilities: Arc::new(capabilities), level, session: None }, version))
    }

    pub(crate) fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
    }

    /// Whether it takes a task for the answer to a call.
    pub(crate) fn takes_tasks(&self) -> bool {
        let extensions = self.capabilities.get("extensions");
        self.era.is_modern()
            && extensions.and_then(|extensions| extensions.get(EXTENSION)).is_some_and(Value::is_object)
    }

    /// Whether its user can be shown a form. A client that names no kind of question means this one.
    pub(crate) fn can_ask(&self) -> bool {
        let kinds = self.capabilities.get("elicitation").and_then(Value::as_object);
        kinds.is_some_and(|kinds| kinds.is_empty() || kinds.contains_key("form"))
    }
}

/// Somebody who asked something.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) peer: Arc<Peer>,
    pub(crate) client: Client,
    pub(crate) voice: Voice,
}

impl Asker {
    pub(crate) const fn is_modern(&self) -> bool {
        self.client.era.is_modern()
    }
}
