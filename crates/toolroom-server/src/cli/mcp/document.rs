//! How a server looks in JSON, and in words.

use serde::Serialize;
use toolroom::foreign::{
    AddressEntry, DefinitionRecord, EntryValue, ForeignServers, ProgramEntry, Reached, ServerCondition,
    ServerRecord,
};
use toolroom_tools::mcp::lock::{LockState, state_of};

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
    /// Its tools.
    pub(super) tools: Vec<ToolDocument>,
}

/// A foreign tool, as it stands.
#[derive(Serialize)]
pub(super) struct ToolDocument {
    pub(super) id: String,
    pub(super) state: ToolState,
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
        let tools = definitions.iter().map(|definition| ToolDocument::of(&record.name, definition)).collect();
        Ok(Self { record, state, condition, tools })
    }

    /// Tools that can be used, and all of them.
    pub(super) fn counted(&self) -> (usize, usize) {
        let accepted = self.tools.iter().filter(|tool| tool.state == ToolState::Accepted).count();
        (accepted, self.tools.len())
    }
}

impl ToolDocument {
    fn of(server: &str, definition: &DefinitionRecord) -> Self {
        let state = match state_of(definition) {
            LockState::Accepted => ToolState::Accepted,
            LockState::Changed => ToolState::Changed,
            LockState::New => ToolState::New,
        };
        Self { id: format!("mcp:{server}:{}", definition.tool), state }
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

/// What is started or asked, whole.
pub(super) fn target(reached: &Reached) -> String {
    match reached {
        Reached::Stdio(ProgramEntry { command, arguments, .. }) => {
            let words = std::iter::once(command).chain(arguments);
            words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
        Reached::Http(AddressEntry { url, .. }) => url.clone(),
        Reached::Sse(AddressEntry { url, .. }) => format!("{url} (stream of events)"),
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
    }
}
