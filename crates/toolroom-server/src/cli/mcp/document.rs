//! How a server looks in JSON, and in words.

use serde::Serialize;
use toolroom::foreign::{
    AddressEntry, DefinitionRecord, EntryValue, ForeignServers, ProgramEntry, ServerCondition, ServerRecord,
    ToolTraits, Transport,
};
use toolroom::tool::{Capabilities, Capability, Effect};
use toolroom_tools::mcp::lock::{LockState, state_of};
use toolroom_tools::mcp::{Definition, Worth, reads, worth};

use super::project;
use crate::app::App;

/// All that is known of a server.
#[derive(Serialize)]
pub(super) struct ServerDocument {
    /// What a person has said.
    #[serde(flatten)]
    pub(super) record: ServerRecord,
    /// How it stands.
    pub(super) state: State,
    /// What was last seen of it.
    pub(super) condition: ServerCondition,
    /// What its program may read beside the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reads: Vec<String>,
    /// Its tools.
    pub(super) tools: Vec<ToolDocument>,
}

/// What is shown of what a tool says about itself.
const MAX_ABOUT_CHARS: usize = 160;

/// A foreign tool, as it stands.
#[derive(Serialize)]
pub(super) struct ToolDocument {
    pub(super) id: String,
    pub(super) state: ToolState,
    /// Its title and the first line of what it says about itself.
    pub(super) about: String,
    /// What it is taken for; nothing of one that nobody has accepted.
    #[serde(flatten)]
    pub(super) worth: Option<WorthDocument>,
}

/// What a foreign tool is taken for, and why.
#[derive(Serialize)]
pub(super) struct WorthDocument {
    effect: Effect,
    capabilities: Capabilities,
    because: Vec<String>,
    /// Whether something about it counts as the worst because nobody has said it.
    #[serde(skip)]
    pub(super) is_silent: bool,
}

/// How a server stands.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Disabled,
    NeverSeen,
    Ready,
    Failing,
    GivenUp,
}

/// How a tool stands.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolState {
    Accepted,
    Changed,
    New,
}

impl ServerDocument {
    pub(super) async fn of(app: &App, record: ServerRecord) -> anyhow::Result<Self> {
        let condition = app.store.condition(&project(), &record.name).await?;
        let definitions = app.store.definitions(&project(), &record.name).await?;
        let state = match &condition {
            _ if !record.is_enabled => State::Disabled,
            ServerCondition { seen_at: None, .. } => State::NeverSeen,
            ServerCondition { is_given_up: true, .. } => State::GivenUp,
            ServerCondition { failure: Some(_), .. } => State::Failing,
            _ => State::Ready,
        };
        let tools = definitions.iter().map(|definition| ToolDocument::of(&record, definition)).collect();
        let reads = match &record.transport {
            Transport::Stdio(program) => reads(program, app.gateway.workspace()),
            Transport::Http(_) | Transport::Sse(_) => Vec::new(),
        };
        let reads = reads.iter().map(|path| path.display().to_string()).collect();
        Ok(Self { record, state, condition, reads, tools })
    }

    /// Tools that can be used, and all of them.
    pub(super) fn counted(&self) -> (usize, usize) {
        let accepted = self.tools.iter().filter(|tool| tool.state == ToolState::Accepted).count();
        (accepted, self.tools.len())
    }
}

impl ToolDocument {
    fn of(server: &ServerRecord, definition: &DefinitionRecord) -> Self {
        let state = match state_of(definition) {
            LockState::Accepted => ToolState::Accepted,
            LockState::Changed => ToolState::Changed,
            LockState::New => ToolState::New,
        };
        let shown = definition.offered.as_ref().or(definition.accepted.as_ref());
        let text = |name: &str| shown.and_then(|shown| shown.get(name)?.as_str()?.trim().lines().next());
        let parts = [text("title"), text("description")].into_iter().flatten();
        let about = parts.collect::<Vec<_>>().join(": ").chars().take(MAX_ABOUT_CHARS).collect();
        let accepted = definition.accepted.as_ref().and_then(|accepted| Definition::read(accepted).ok());
        let worth = accepted.map(|accepted| WorthDocument::of(&worth(server, &accepted)));
        Self { id: format!("mcp:{}:{}", server.name, definition.tool), state, about, worth }
    }
}

impl WorthDocument {
    fn of(worth: &Worth) -> Self {
        Self {
            effect: worth.effect.unwrap_or(Effect::Destructive),
            capabilities: worth.capabilities.unwrap_or(Capabilities::ALL),
            because: worth.because.iter().map(ToString::to_string).collect(),
            is_silent: worth.effect.is_none() || worth.capabilities.is_none(),
        }
    }

    /// It in one line.
    pub(super) fn words(&self) -> String {
        let able: Vec<&str> = self.capabilities.iter().map(Capability::as_str).collect();
        let able =
            if self.capabilities == Capabilities::ALL { "everything".to_owned() } else { able.join(", ") };
        format!("{}; {able} ({})", self.effect, self.because.join("; "))
    }
}

impl State {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Disabled => "off",
            Self::NeverSeen => "never seen",
            Self::Ready => "ready",
            Self::Failing => "failing",
            Self::GivenUp => "given up",
        }
    }
}

impl ToolState {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Changed => "changed, and off until it is reviewed",
            Self::New => "new, and off until it is reviewed",
        }
    }
}

/// What a person has said of all tools of a server.
pub(super) fn traits_text(traits: ToolTraits) -> String {
    let effect = traits.effect.map_or("no effect", Effect::as_str);
    let able = match traits.capabilities {
        None => "not what they can do".to_owned(),
        Some(Capabilities::NONE) => "nothing".to_owned(),
        Some(able) => able.iter().map(Capability::as_str).collect::<Vec<_>>().join(", "),
    };
    format!("{effect}; {able}")
}

/// What is started or asked, whole.
pub(super) fn target(transport: &Transport) -> String {
    match transport {
        Transport::Stdio(ProgramEntry { command, arguments, .. }) => {
            let words = std::iter::once(command).chain(arguments);
            words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
        Transport::Http(AddressEntry { url, .. }) => url.clone(),
        Transport::Sse(AddressEntry { url, .. }) => format!("{url} (stream of events)"),
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A value of an entry; never that of a secret.
pub(super) fn value(value: &EntryValue) -> String {
    match value {
        EntryValue::Plain(value) => value.clone(),
        EntryValue::Secret(name) => format!("secret:{name}"),
        EntryValue::Around { before, secret, after } => format!("{before}secret:{secret}{after}"),
    }
}
