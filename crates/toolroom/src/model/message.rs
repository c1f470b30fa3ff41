//! Messages and their blocks.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text_id::text_id;

text_id! {
    /// A model's own id of one of its calls. Unique only within its conversation.
    ModelCallId
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The content, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// A text of the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::text(text)] }
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(blocks: Vec<Block>) -> Self {
        Self { role: Role::Assistant, blocks }
    }

    /// A tool result in a history that a client sends.
    #[must_use]
    pub fn earlier_result(text: impl Into<String>) -> Self {
        let result = Block::Result {
            id: ModelCallId::new("earlier"),
            name: String::new(),
            content: Arc::new(Value::String(text.into())),
            is_error: false,
        };
        Self { role: Role::User, blocks: vec![result] }
    }

    /// The text of its text blocks, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        let text = |block: &Block| match block {
            Block::Text { text, .. } => Some(text.as_str().to_owned()),
            Block::Image(_)
            | Block::Reasoning { .. }
            | Block::Call { .. }
            | Block::Result { .. }
            | Block::Opaque(_) => None,
        };
        self.blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Data that the vendor wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// An image from the user.
    Image(Image),
    /// The model's reasoning, as far as the vendor sends it.
    Reasoning {
        /// The reasoning or a summary of it; may be empty if only the opaque part is sent.
        text: String,
        /// Data that the vendor wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// A tool call of the model.
    Call {
        /// The model's id of this call.
        id: ModelCallId,
        /// The tool's name on the wire.
        name: String,
        /// The arguments as the model wrote them, which need not be JSON.
        arguments: Arc<str>,
        /// Data that the vendor wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// The result of a call.
    Result {
        /// The call.
        id: ModelCallId,
        /// The tool's name on the wire, which some vendors require.
        name: String,
        /// The result, or `{"error", "hint"?}`.
        content: Arc<Value>,
        /// Whether it is an error.
        is_error: bool,
    },
    /// A vendor's own block, sent back unchanged.
    Opaque(Opaque),
}

impl Block {
    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), opaque: None }
    }
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub base64: Arc<str>,
}

/// Data that a vendor sent and wants back unchanged: signatures, encrypted reasoning, ids. Never sent to another vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opaque {
    /// The vendor that sent it, with the model where that matters.
    pub owner: Arc<str>,
    /// The part as it came.
    pub part: Arc<Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_stored_with_everything_that_has_to_be_given_back() {
        let opaque = Opaque { owner: "anthropic".into(), part: Arc::new(json!({"signature": "abc"})) };
        let message = Message::assistant(vec![
            Block::Reasoning { text: "hm".to_owned(), opaque: Some(opaque.clone()) },
            Block::text("Let me see."),
            Block::Call {
                id: ModelCallId::new("toolu_1"),
                name: "calculator".to_owned(),
                arguments: "{\"expression\": \"1+1\"}".into(),
                opaque: None,
            },
            Block::Opaque(opaque),
        ]);
        let stored = serde_json::to_value(&message).unwrap();
        assert_eq!(stored["blocks"][0]["type"], "reasoning");
        assert_eq!(stored["blocks"][2]["arguments"], "{\"expression\": \"1+1\"}");
        assert_eq!(serde_json::from_value::<Message>(stored).unwrap(), message);
        assert_eq!(message.text(), "Let me see.");
    }
}
