//! JSON and text output of a server.

use serde::Serialize;
use toolroom::foreign::{
    AddressEntry, DefinitionRecord, EntryValue, ForeignServers, ProgramEntry, ServerCondition, ServerRecord,
    ToolTraits, Transport,
};
use toolroom::tool::{Capabilities, Capability, Effect};
use toolroom_tools::mcp::lock::{LockState, state_of};
use toolroom_tools::mcp::{Classification, Definition, classify, reads};

use super::project;
use crate::app::App;

/// A server with its condition and tools.
#[derive(Serialize)]
pub(super) struct ServerDocument {
    /// Its entry.
    #[serde(flatten)]
    pub(super) record: ServerRecord,
    /// Its state.
    pub(super) state: McpServerState,
    /// Its condition when it was last seen.
    pub(super) condition: ServerCondition,
    /// What its program may read besides the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reads: Vec<String>,
    /// Its tools.
    pub(super) tools: Vec<ForeignToolDocument>,
}

/// The longest description of a tool.
const MAX_ABOUT_CHARS: usize = 160;

/// A foreign tool.
#[derive(Serialize)]
pub(super) struct ForeignToolDocument {
    pub(super) id: String,
    pub(super) state: ToolState,
    /// Its title and the first line of its description.
    pub(super) about: String,
    /// `None` if it was never accepted.
    #[serde(flatten)]
    pub(super) classification: Option<ClassificationDocument>,
}

/// The classification of a foreign tool.
#[derive(Serialize)]
pub(super) struct ClassificationDocument {
    effect: Effect,
    capabilities: Capabilities,
    #[serde(rename = "because")]
    reasons: Vec<String>,
    /// Whether its effect or capabilities are undeclared, so that each call asks.
    #[serde(skip)]
    pub(super) is_undeclared: bool,
}

/// State of a server.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum McpServerState {
    Disabled,
    NeverSeen,
    Ready,
    Failing,
    GivenUp,
}

/// State of a tool.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolState {
    Accepted,
    Changed,
    New,
}

impl ServerDocument {
    pub(super) async fn load(app: &App, record: ServerRecord) -> anyhow::Result<Self> {
        let condition = app.store.condition(&project(), &record.name).await?;
        let definitions = app.store.definitions(&project(), &record.name).await?;
        let state = match &condition {
            _ if !record.is_enabled => McpServerState::Disabled,
            ServerCondition { seen_at: None, .. } => McpServerState::NeverSeen,
            ServerCondition { is_given_up: true, .. } => McpServerState::GivenUp,
            ServerCondition { failure: Some(_), .. } => McpServerState::Failing,
            _ => McpServerState::Ready,
        };
        let tools =
            definitions.iter().map(|definition| ForeignToolDocument::new(&record, definition)).collect();
        let reads = match &record.transport {
            Transport::Stdio(program) => reads(program, app.gateway.workspace()),
            Transport::Http(_) | Transport::Sse(_) => Vec::new(),
        };
        let reads = reads.iter().map(|path| path.display().to_string()).collect();
        Ok(Self { record, state, condition, reads, tools })
    }

    /// The number of accepted tools, and of all.
    pub(super) fn tool_counts(&self) -> (usize, usize) {
        let accepted = self.tools.iter().filter(|tool| tool.state == ToolState::Accepted).count();
        (accepted, self.tools.len())
    }
}

impl ForeignToolDocument {
    fn new(server: &ServerRecord, definition: &DefinitionRecord) -> Self {
        let state = match state_of(definition) {
            LockState::Accepted => ToolState::Accepted,
            LockState::Changed => ToolState::Changed,
            LockState::New => ToolState::New,
        };
        let shown = definition.offered.as_ref().or(definition.accepted.as_ref());
        let text = |name: &str| shown.and_then(|shown| shown.get(name)?.as_str()?.trim().lines().next());
        let parts = [text("title"), text("description")].into_iter().flatten();
        let about = parts.collect::<Vec<_>>().join(": ").chars().take(MAX_ABOUT_CHARS).collect();
        let accepted = definition.accepted.as_ref().and_then(|accepted| Definition::parse(accepted).ok());
        let classification =
            accepted.map(|accepted| ClassificationDocument::new(&classify(server, &accepted)));
        Self { id: format!("mcp:{}:{}", server.name, definition.tool), state, about, classification }
    }
}

impl ClassificationDocument {
    fn new(tool: &Classification) -> Self {
        Self {
            effect: tool.effect.unwrap_or(Effect::Destructive),
            capabilities: tool.capabilities.unwrap_or(Capabilities::ALL),
            reasons: tool.reasons.iter().map(ToString::to_string).collect(),
            is_undeclared: tool.effect.is_none() || tool.capabilities.is_none(),
        }
    }

    /// In one line.
    pub(super) fn summary(&self) -> String {
        let able: Vec<&str> = self.capabilities.iter().map(Capability::as_str).collect();
        let able =
            if self.capabilities == Capabilities::ALL { "everything".to_owned() } else { able.join(", ") };
        format!("{}; {able} ({})", self.effect, self.reasons.join("; "))
    }
}

impl McpServerState {
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NeverSeen => "never connected",
            Self::Ready => "ready",
            Self::Failing => "failing",
            Self::GivenUp => "given up",
        }
    }
}

impl ToolState {
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Changed => "changed, disabled until reviewed",
            Self::New => "new, disabled until reviewed",
        }
    }
}

/// The declaration for all tools of a server.
pub(super) fn declared_summary(declared: ToolTraits) -> String {
    let effect = declared.effect.map_or("no effect", Effect::as_str);
    let able = match declared.capabilities {
        None => "no capabilities".to_owned(),
        Some(Capabilities::NONE) => "nothing".to_owned(),
        Some(able) => able.iter().map(Capability::as_str).collect::<Vec<_>>().join(", "),
    };
    format!("{effect}; {able}")
}

/// The command line or URL of a server.
pub(super) fn target(transport: &Transport) -> String {
    match transport {
        Transport::Stdio(ProgramEntry { command, arguments, .. }) => {
            let words = std::iter::once(command).chain(arguments);
            words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
        Transport::Http(AddressEntry { url, .. }) => url.clone(),
        Transport::Sse(AddressEntry { url, .. }) => format!("{url} (HTTP+SSE)"),
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The value of a variable or header, with a reference in place of a secret.
pub(super) fn value(value: &EntryValue) -> String {
    match value {
        EntryValue::Plain(value) => value.clone(),
        EntryValue::Secret(name) => format!("secret:{name}"),
        EntryValue::Around { before, secret, after } => format!("{before}secret:{secret}{after}"),
    }
}
