//! Who asks, what their program can do, and how they are answered.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::scope::Scope;

use super::progress::Level;
use super::session::Session;
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

impl Client {
    pub(crate) fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
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
