//! Servers that bring tools of their own: what is kept of them, and the port through which it is kept.
//!
//! A [`ServerRecord`] is what a person has said about a server, a [`DefinitionRecord`] what a person has accepted of one of
//! its tools and what the server offers now, a [`ServerCondition`] what was last seen of it. This room starts nothing and
//! holds no storage.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::LedgerError;
use crate::scope::ProjectId;

/// The longest name of a server.
const MAX_NAME_CHARS: usize = 64;

/// A server, as a person has entered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Its name, which is part of the ids of its tools.
    pub name: String,
    /// How it is reached.
    pub reached: Reached,
    /// Whether its tools can be used.
    pub is_enabled: bool,
    /// How long a call may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Where the entry was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// When somebody last said something about it; whatever failed before is forgotten.
    pub changed_at: Timestamp,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum Reached {
    /// It is a program on this machine.
    Stdio(ProgramEntry),
    /// It is asked over HTTP.
    Http(AddressEntry),
    /// It is asked over HTTP, and answers on a stream that stays open.
    Sse(AddressEntry),
}

/// A program that is a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramEntry {
    /// The program: a path, or a name that is looked for.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Where it starts; the workspace, where nothing is said.
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
pub struct AddressEntry {
    /// The address.
    pub url: String,
    /// Headers that go with every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, EntryValue>,
}

/// A value of an entry: as it is, or kept as a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryValue {
    /// As it is.
    Plain(String),
    /// The name of the secret that holds it.
    Secret(String),
}

/// A definition of a foreign tool: what was accepted, and what is offered if that is something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionRecord {
    /// The tool's name at its server.
    pub tool: String,
    /// What a person accepted; nothing yet of a tool that came later.
    pub accepted: Option<Value>,
    /// What the server offers instead, until somebody accepts it.
    pub offered: Option<Value>,
}

/// What was last seen of a server, by whichever process.
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

impl ServerRecord {
    /// Whether a server may have that name: letters, digits, `_` and `-`, and no more than 64 of them.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(is_fine)
    }
}

/// Keeps servers, what was accepted of their tools, and what was last seen of them.
pub trait ForeignServers: Send + Sync {
    /// The servers of a project, by name.
    fn servers<'a>(&'a self, project: &'a ProjectId)
    -> BoxFuture<'a, Result<Vec<ServerRecord>, LedgerError>>;

    /// Keeps a server, in the place of an earlier one of that name.
    fn set_server<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a ServerRecord,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// Forgets a server and everything that is kept of it; says whether there was one.
    fn remove_server<'a>(
        &'a self,
        project: &'a ProjectId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// What is kept of the tools of a server, by name.
    fn definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DefinitionRecord>, LedgerError>>;

    /// Keeps this of the tools of a server, in the place of everything before.
    fn set_definitions<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
        definitions: &'a [DefinitionRecord],
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// What was last seen of a server; nothing, if it was never seen.
    fn condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
    ) -> BoxFuture<'a, Result<ServerCondition, LedgerError>>;

    /// Keeps what was seen of a server.
    fn set_condition<'a>(
        &'a self,
        project: &'a ProjectId,
        server: &'a str,
        condition: &'a ServerCondition,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;
}
