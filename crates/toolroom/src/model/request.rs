//! Requests to a model.

use std::sync::Arc;

use serde_json::Value;

use super::message::Message;

/// A request to a model: the conversation so far and the offered tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: SystemPrompt,
    /// The conversation, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The offered tools, in a stable order so that caches hit.
    pub tools: Arc<[OfferedTool]>,
    /// Whether it may call them.
    pub tool_use: ToolUse,
    /// The limit of output tokens; the vendor's own if absent.
    pub max_tokens: Option<u32>,
    /// The sampling temperature; the vendor's default if absent.
    pub temperature: Option<f64>,
}

/// The system prompt in two parts. The stable part comes first, because vendors cache unchanged prefixes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SystemPrompt {
    /// The same for the whole conversation.
    pub lasting: Arc<str>,
    /// Changes from turn to turn: the time, recalled memories.
    pub changing: Arc<str>,
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Its name on the wire.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters: JSON Schema 2020-12. Wires weaken it for vendors that support less; arguments are checked against the
    /// original.
    pub parameters: Arc<Value>,
}

/// Whether tools may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ToolUse {
    /// As the model sees fit.
    #[default]
    Free,
    /// Not at all: the model must answer. Tools are still sent, because some vendors reject conversations with calls but no
    /// tools.
    Never,
}
