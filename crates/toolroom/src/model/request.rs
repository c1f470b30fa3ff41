//! What a model is asked.

use std::sync::Arc;

use serde_json::Value;

use super::message::Message;

/// One question to a model: a whole conversation so far, and what it may use.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Who the model is to be and what holds.
    pub system: SystemPrompt,
    /// The conversation, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer, in an order that stays the same from one request to the next, so that caches hit.
    pub tools: Arc<[Offered]>,
    /// Whether it may call them.
    pub tool_use: ToolUse,
    /// Most tokens of the answer; the vendor's own bound if absent.
    pub max_tokens: Option<u32>,
    /// How freely it chooses its words; the vendor's default if absent.
    pub temperature: Option<f64>,
}

/// The system prompt in two parts. What stays comes first: vendors keep what did not change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SystemPrompt {
    /// The same for the whole conversation.
    pub lasting: Arc<str>,
    /// Changes from turn to turn: the time, what was recalled.
    pub changing: Arc<str>,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Its name on the wire.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters: JSON Schema 2020-12. Wires weaken it where a vendor understands less; arguments are checked
    /// against the original.
    pub parameters: Arc<Value>,
}

/// Whether tools may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ToolUse {
    /// As the model sees fit.
    #[default]
    Free,
    /// Not any more: the answer is wanted. Tools stay on offer, since conversations that hold calls are refused
    /// without them by some vendors.
    Never,
}
