//! What a tool gives back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether the content of a result may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Made by the tool from what the caller gave it.
    #[default]
    Trusted,
    /// Written by somebody else: a web page, a mail, a foreign server.
    Untrusted,
}

/// A tool's result: a JSON value, and a sentence if the tool has one to add.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The result.
    pub value: Value,
    /// A sentence for people, beside the result.
    pub message: Option<String>,
}

impl ToolOutput {
    /// A result.
    #[must_use]
    pub fn new(value: impl Into<Value>) -> Self {
        Self { value: value.into(), message: None }
    }

    /// A result with a sentence beside it.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
