//! The events of AG-UI 1.0 that we send.
//!
//! Clients fail a run over a null field, so absent fields are left out. Each event is one line and ends with two line
//! feeds.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::message::Message;
use super::usage::TokenUsage;

/// The version of the protocol.
pub(crate) const PROTOCOL: &str = "1.0";

/// Longer text is split. Clients reject events of ten megabytes.
const PIECE_BYTES: usize = 64 * 1024;

/// Larger events are not sent. Only snapshots can be as large, and clients have their parts.
const EVENT_BYTES: usize = 9 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[schemars(rename = "AguiEvent")]
pub(crate) enum Event {
    RunStarted {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol_version: Option<&'static str>,
    },
    RunFinished {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
    },
    RunError {
        message: String,
        code: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
    },
    StepStarted {
        step_name: String,
    },
    StepFinished {
        step_name: String,
    },
    TextMessageStart {
        message_id: String,
        role: &'static str,
    },
    TextMessageContent {
        message_id: String,
        delta: String,
    },
    TextMessageEnd {
        message_id: String,
    },
    ReasoningStart {
        message_id: String,
    },
    ReasoningMessageStart {
        message_id: String,
        role: &'static str,
    },
    ReasoningMessageContent {
        message_id: String,
        delta: String,
    },
    ReasoningMessageEnd {
        message_id: String,
    },
    ReasoningEnd {
        message_id: String,
    },
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
    },
    ToolCallArgs {
        tool_call_id: String,
        delta: String,
    },
    ToolCallEnd {
        tool_call_id: String,
    },
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: String,
        role: &'static str,
    },
    StateSnapshot {
        snapshot: Value,
    },
    StateDelta {
        delta: Vec<Patch>,
    },
    MessagesSnapshot {
        messages: Vec<Message>,
    },
    ActivitySnapshot {
        message_id: String,
        activity_type: &'static str,
        content: Value,
    },
    ActivityDelta {
        message_id: String,
        activity_type: &'static str,
        patch: Vec<Patch>,
    },
    Custom {
        name: &'static str,
        value: Value,
    },
}

/// The outcome of a run without errors.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[schemars(rename = "AguiOutcome")]
pub(crate) enum Outcome {
    /// Done, except for calls that the client has to execute.
    Success {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<String>,
    },
    Interrupt {
        interrupts: Vec<Interrupt>,
    },
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AguiInterrupt")]
pub(crate) struct Interrupt {
    pub(crate) id: String,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_schema: Option<Value>,
    pub(crate) expires_at: String,
    pub(crate) metadata: Value,
}

/// A JSON Patch operation (RFC 6902).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AguiPatch")]
pub(crate) struct Patch {
    op: &'static str,
    path: String,
    value: Value,
}

impl Patch {
    pub(crate) fn add(path: impl Into<String>, value: Value) -> Self {
        Self { op: "add", path: path.into(), value }
    }

    pub(crate) fn replace(path: impl Into<String>, value: Value) -> Self {
        Self { op: "replace", path: path.into(), value }
    }
}

impl Event {
    /// Whether this is the last event of a run.
    pub(crate) const fn is_last(&self) -> bool {
        matches!(self, Self::RunFinished { .. } | Self::RunError { .. })
    }

    /// The server-sent event. `None` if it is too large.
    pub(crate) fn frame(&self) -> Option<String> {
        let json = serde_json::to_string(self).ok()?;
        (json.len() < EVENT_BYTES).then(|| format!("data: {json}\n\n"))
    }
}

/// Splits text into pieces that fit an event.
pub(crate) fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE_BYTES));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_fields_are_left_out_and_a_frame_is_one_line() {
        let started = Event::RunStarted { thread_id: "t".into(), run_id: "r".into(), protocol_version: None };
        assert_eq!(
            started.frame().unwrap(),
            "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n"
        );
        let finished = Event::RunFinished {
            thread_id: "t".into(),
            run_id: "r".into(),
            outcome: Some(Outcome::Success { pending_tool_call_ids: Vec::new() }),
            usage: Vec::new(),
        };
        assert!(finished.frame().unwrap().contains("\"outcome\":{\"type\":\"success\"}"));
        let said = Event::TextMessageContent { message_id: "m".into(), delta: "a\r\nb".into() };
        assert_eq!(said.frame().unwrap().matches('\n').count(), 2);
    }

    #[test]
    fn long_text_is_split_without_loss() {
        for text in ["", "short", &"ä".repeat(100_000), &"x".repeat(64 * 1024)] {
            let cut: Vec<&str> = pieces(text).collect();
            assert_eq!(cut.concat(), text);
            assert!(cut.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE_BYTES));
        }
    }

    #[test]
    fn a_too_large_event_is_not_sent() {
        let snapshot = Value::String("x".repeat(EVENT_BYTES));
        assert_eq!(Event::StateSnapshot { snapshot }.frame(), None);
    }
}
