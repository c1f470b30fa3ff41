//! Records of foreign servers, and their storage port.
//!
//! A [`ServerRecord`] is a server as a person configured it, a [`DefinitionRecord`] the accepted and the offered definition of
//! one of its tools, a [`ServerCondition`] its last known state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::LedgerError;
use crate::scope::ProjectId;
use crate::tool::{Capabilities, Effect};

/// The longest name of a server.
const MAX_NAME_CHARS: usize = 64;

/// A server, as a person configured it. Unknown fields are refused, as they could have restricted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerRecord {
    /// Its name, which is part of the ids of its tools.
    pub name: String,
    /// How it is reached.
    #[serde(rename = "reached")]
    pub transport: Transport,
    /// Whether its tools can be used.
    pub is_enabled: bool,
    /// How long a call may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Where the entry was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// The imported transport, so that a later import changes the entry only if its source has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_as: Option<Box<Transport>>,
    /// What its tools do, as stated by a person with `mcp declare`; never by the server, a file or a caller.
    #[serde(rename = "declared", default, skip_serializing_if = "ServerTraits::is_empty")]
    pub traits: ServerTraits,
    /// When it was last configured; earlier failures no longer count.
    pub changed_at: Timestamp,
}

/// What tools do, as stated by a person. Missing traits count as the worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTraits {
    /// What they do to the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What they are able to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
}

/// Traits of one tool, valid for one definition of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedTraits {
    /// The hash of the definition that was accepted at that time.
    pub definition: String,
    /// What it does.
    #[serde(flatten)]
    pub traits: ToolTraits,
}

/// Traits of the tools of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerTraits {
    /// For every tool without traits of its own.
    #[serde(flatten)]
    pub all: ToolTraits,
    /// For single tools, by their names at the server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, PinnedTraits>,
}

impl ToolTraits {
    /// Whether no trait is stated.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.effect.is_none() && self.capabilities.is_none()
    }
}

impl ServerTraits {
    /// Whether no trait is stated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.tools.is_empty()
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum Transport {
    /// It is a program on this machine.
    Stdio(ProgramEntry),
    /// It is asked over HTTP.
    Http(AddressEntry),
    /// It is asked over HTTP, and answers on a stream that stays open.
    Sse(AddressEntry),
}

/// A program that is a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramEntry {
    /// The program: a path, or a name that is looked for.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The folder it starts in; the workspace if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Its variables beside the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, EntryValue>,
    /// The sandbox it runs in, by its name.
    pub profile: String,
    /// Folders and files it may read beside its program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
}

/// An address that is a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressEntry {
    /// The address.
    pub url: String,
    /// Headers that go with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, EntryValue>,
    /// Whether a person allowed its name to lead inside a network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_internal: bool,
}

/// A value of an entry: plain, or with a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EntryValue {
    /// As it is.
    Plain(String),
    /// The name of the secret that holds it.
    Secret(String),
    /// A secret with text around it.
    Around {
        /// What stands before it.
        before: String,
        /// The name of the secret.
        secret: String,
        /// What stands behind it.
        after: String,
    },
}

/// A definition of a foreign tool: what was accepted, and what is offered if that is something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionRecord {
    /// The tool's name at its server.
    pub tool: String,
    /// What a person accepted; nothing yet of a tool that came later.
    pub accepted: Option<Value>,
    /// What the server offers instead, until a person accepts it.
    pub offered: Option<Value>,
}

/// The last known state of a server, from any process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerCondition {
    /// The era it is of, once that is known.
    #[serde(default)]
    pub era: Option<String>,
    /// What it calls itself.
    #[serde(default)]
    pub title: Option<String>,
    /// Why it failed, the last time; nothing if it last worked.
    #[serde(default)]
    pub failure: Option<String>,
    /// Whether it failed so often that it is not started again.
    #[serde(default)]
    pub is_given_up: bool,
    /// Recent failures, in any process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Whether its tools were ever listed: only the first list is accepted as it is.
    #[serde(default)]
    pub has_listed: bool,
    /// Tools of it that cannot be used, with the reason.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The end of what it printed as errors, without secrets.
    #[serde(default)]
    pub log: String,
    /// When that was.
    #[serde(default)]
    pub seen_at: Option<Timestamp>,
}

/// One failure of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When.
    pub at: Timestamp,
    /// How long it was waited for before, in microseconds: a start that hangs fails late.
    #[serde(default)]
    pub waited: u64,
}

/// A change of one stored definition, applied only if it still equals `before`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionChange {
    /// The expected record; `None` for a new tool.
    pub before: Option<DefinitionRecord>,
    /// The new record; `None` to delete it.
    pub after: Option<DefinitionRecord>,
}

/// A server whose entry cannot be read. It is not used; it can be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableServer {
    /// Its name.
    pub name: String,
    /// What is wrong with its entry.
    pub why: String,
}

impl ServerRecord {
    /// Whether a server may have that name: letters, digits, `_` and `-`, and no more than 64 of them.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(is_fine)
    }
}

/// Stores servers, their definitions and their last known states.
pub trait ForeignServers: Send + Sync {
    /// The servers of a project, by name, but for those that [cannot be read](ForeignServers::unreadable).
    fn servers<'a>(&'a self, project: &'a ProjectId)
    -> BoxFuture<'a, Result<Vec<ServerRecord>, LedgerError>>;

    /// Servers whose entries cannot be read.
    fn unreadable<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Vec<UnreadableServer>, LedgerError>>;

    /// Stores a server, replacing an earlier one of that name.
    fn set_server<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// Replaces a server if its record still equals `before`; returns whether it did.
    fn replace_server<'a>(
        &'a self,
        project: &'a ProjectId,
        before: &'a ServerRecord,
        after: &'a ServerRecord,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Switches a server on or off, without checking the rest of its record. Switching on resets failures and era. Returns
    /// whether there is one.
    fn switch_server<'a>(
        &'a self,
        project: &'a ProjectId,
        name: &'a str,
        is_enabled: bool,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Deletes a server with all its records; returns whether there was one.
    fn remove_server<'a>(
        &'a self,
        project: &'a ProjectId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// The stored definitions of a server, by name.
    fn definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DefinitionRecord>, LedgerError>>;

    /// Applies each change whose record is unchanged, and none if the server is gone or changed. Returns how many were applied.
    fn change_definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        changes: &'a [DefinitionChange],
    ) -> BoxFuture<'a, Result<u64, LedgerError>>;

    /// The last known state of a server; the default if it was never seen.
    fn condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<ServerCondition, LedgerError>>;

    /// Stores the state of a server, if its record is unchanged; returns whether it is.
    fn set_condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
        condition: &'a ServerCondition,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;
}
