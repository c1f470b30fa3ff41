//! Who asks, what their program can do, and how they are answered.

use std::any::Any;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::scope::Scope;

use super::ability::{Abilities, Ability};
use super::progress::Level;
use super::refusal::Refusal;
use super::session::Session;
use super::version::Era;
use super::voice::Voice;
use crate::identity::{Caller, Permission};

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

impl Peer {
    /// Somebody who was let in over HTTP.
    pub(crate) fn of(caller: Caller) -> Arc<Self> {
        let (name, may_read) = (caller.name().into(), caller.may(Permission::Read));
        Arc::new(Self { scope: caller.scope, name, may_read })
    }
}

/// The program they ask with, as it describes itself.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) abilities: Abilities,
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
        let abilities = Abilities::read(capabilities.ok_or_else(|| missing(CAPABILITIES))?);
        let level = match meta.get(LEVEL) {
            None => None,
            Some(level) => {
                let known = level.as_str().and_then(Level::of);
                Some(known.ok_or_else(|| Refusal::invalid("`logLevel` is none of the known ones"))?)
            }
        };
        Ok((Self { era: Era::Modern, abilities, level, session: None }, version))
    }

    pub(super) const fn can(&self, ability: Ability) -> bool {
        self.abilities.has(ability)
    }

    /// Whether it takes a task for the answer to a call.
    pub(super) const fn takes_tasks(&self) -> bool {
        self.era.is_modern() && self.can(Ability::Tasks)
    }

    /// Whether its user can be shown a form.
    pub(super) const fn can_ask(&self) -> bool {
        self.can(Ability::Form)
    }
}

/// Somebody who asked something.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) peer: Arc<Peer>,
    pub(crate) client: Client,
    pub(crate) voice: Voice,
    /// What is kept for as long as something is done for them.
    pub(crate) place: Place,
}

/// A place among those who are worked for, where the door they came through counts them.
#[derive(Clone, Default)]
pub(crate) struct Place {
    _held: Option<Arc<dyn Any + Send + Sync>>,
}

impl Place {
    pub(crate) fn of(held: Arc<impl Any + Send + Sync>) -> Self {
        Self { _held: Some(held) }
    }
}

impl Asker {
    pub(crate) const fn is_modern(&self) -> bool {
        self.client.era.is_modern()
    }
}
