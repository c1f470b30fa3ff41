//! Messages and what they are made of.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text_id::text_id;

text_id! {
    /// A model's own id of one of its calls. Only the conversation it stands in makes it unique.
    ModelCallId
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// A person's words.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::text(text)] }
    }

    /// A model's turn.
    #[must_use]
    pub fn assistant(blocks: Vec<Block>) -> Self {
        Self { role: Role::Assistant, blocks }
    }

    /// A result of a tool, in a history that a client brings.
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

    /// What its text blocks say, one after the other.
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
    /// Words.
    Text {
        /// The words.
        text: String,
        /// What the vendor wants back with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// A picture, from the person.
    Image(Image),
    /// What the model thought, as far as it is told.
    Reasoning {
        /// The thoughts, or a summary of them; may be empty where only the opaque part is sent.
        text: String,
        /// What the vendor wants back with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// The model wants a tool to be called.
    Call {
        /// The model's id of this call.
        id: ModelCallId,
        /// The tool's name on the wire.
        name: String,
        /// The arguments as the model wrote them, which need not be JSON.
        arguments: Arc<str>,
        /// What the vendor wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// What came of a call.
    Result {
        /// The call.
        id: ModelCallId,
        /// The tool's name on the wire; some vendors want to hear it again.
        name: String,
        /// The result, or `{"error", "hint"?}`.
        content: Arc<Value>,
        /// Whether it is an error.
        is_error: bool,
    },
    /// Something that has no meaning here and has to be given back all the same.
    Opaque(Opaque),
}

impl Block {
    /// Plain words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), opaque: None }
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub base64: Arc<str>,
}

/// What a vendor sent and wants back unchanged: signatures, encrypted thoughts, ids. Somebody else's is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Opaque {
    /// Who sent it and may have it back: a vendor and, where it matters, its model.
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
