//! Messages in the format of AG-UI.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom::model::{Block, Image};

/// A message of a thread. Unknown fields are dropped.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AguiMessage")]
pub(crate) struct Message {
    #[schemars(length(min = 1, max = 512))]
    pub(crate) id: String,
    pub(crate) role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<Vec<ToolCall>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AguiRole")]
pub(crate) enum Role {
    Developer,
    System,
    Assistant,
    User,
    Tool,
    Activity,
    Reasoning,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "AguiContent")]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Value>),
    /// The content of an activity; ignored.
    Other(serde_json::Map<String, Value>),
}

/// A call of an assistant.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "AguiToolCall")]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) function: Function,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "AguiFunction")]
pub(crate) struct Function {
    pub(crate) name: String,
    /// As the model wrote them; may be invalid JSON.
    pub(crate) arguments: String,
}

impl ToolCall {
    pub(crate) fn new(id: &str, name: &str, arguments: String) -> Self {
        let function = Function { name: name.to_owned(), arguments };
        Self { id: id.to_owned(), kind: "function".to_owned(), function }
    }
}

impl Message {
    fn new(id: String, role: Role) -> Self {
        Self { id, role, content: None, name: None, tool_calls: None, tool_call_id: None, error: None }
    }

    pub(crate) fn user(id: String, content: Content) -> Self {
        Self { content: Some(content), ..Self::new(id, Role::User) }
    }

    pub(crate) fn assistant(id: String, text: &str, calls: Vec<ToolCall>) -> Self {
        Self {
            content: (!text.is_empty()).then(|| Content::Text(text.to_owned())),
            tool_calls: (!calls.is_empty()).then_some(calls),
            ..Self::new(id, Role::Assistant)
        }
    }

    pub(crate) fn tool(id: String, call: &str, content: String) -> Self {
        let content = Some(Content::Text(content));
        Self { content, tool_call_id: Some(call.to_owned()), ..Self::new(id, Role::Tool) }
    }

    pub(crate) fn text(&self) -> String {
        match &self.content {
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                texts.collect::<Vec<_>>().join("\n")
            }
            Some(Content::Other(_)) | None => String::new(),
        }
    }

    /// Whether clients keep it apart from the conversation.
    pub(crate) const fn is_aside(&self) -> bool {
        matches!(self.role, Role::Activity | Role::Reasoning)
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PartError {
    #[error(
        "the message `{0}` has an invalid part: text needs `text`, an image needs `source` with `value` and `mimeType`"
    )]
    Malformed(String),
    #[error("the message `{message}` has a part of the type `{kind}`; only text and images are supported")]
    Kind { message: String, kind: String },
    #[error(
        "the message `{message}` has an image of the source type `{kind}`; send it as `data`, because the server fetches nothing for clients"
    )]
    Elsewhere { message: String, kind: String },
}

/// The content of a user message, for the model.
pub(crate) fn blocks(message: &Message) -> Result<Vec<Block>, PartError> {
    match &message.content {
        Some(Content::Text(text)) => Ok(vec![Block::text(text)]),
        Some(Content::Parts(parts)) => parts.iter().map(|part| block(&message.id, part)).collect(),
        Some(Content::Other(_)) | None => Ok(Vec::new()),
    }
}

fn block(message: &str, part: &Value) -> Result<Block, PartError> {
    let malformed = || PartError::Malformed(message.to_owned());
    let field = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = field(part, "type").ok_or_else(malformed)?;
    match kind.as_str() {
        "text" => field(part, "text").map(Block::text).ok_or_else(malformed),
        "image" => {
            let source = part.get("source").ok_or_else(malformed)?;
            let place = field(source, "type").ok_or_else(malformed)?;
            if place != "data" {
                return Err(PartError::Elsewhere { message: message.to_owned(), kind: place });
            }
            let (value, media_type) = (field(source, "value"), field(source, "mimeType"));
            let (Some(value), Some(media_type)) = (value, media_type) else { return Err(malformed()) };
            is_picture(&value, &media_type)
                .then(|| Block::Image(Image { media_type, base64: value.into() }))
                .ok_or_else(malformed)
        }
        _ => Err(PartError::Kind { message: message.to_owned(), kind: kind.chars().take(40).collect() }),
    }
}

fn is_picture(base64: &str, media_type: &str) -> bool {
    let is_text =
        base64.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    !base64.is_empty() && is_text && media_type.starts_with("image/") && media_type.len() < 100
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(content: &Value) -> Message {
        serde_json::from_value(json!({"id": "u", "role": "user", "content": content})).unwrap()
    }

    #[test]
    fn text_and_images_are_accepted_and_nothing_is_fetched() {
        let picture =
            json!({"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}});
        let message = said(&json!([{"type": "text", "text": "look"}, picture]));
        assert_eq!(message.text(), "look");
        let taken = blocks(&message).unwrap();
        assert!(matches!(taken.as_slice(), [Block::Text { .. }, Block::Image(_)]), "{taken:?}");
        for (part, expected) in [
            (json!({"type": "image", "source": {"type": "url", "value": "http://x"}}), "fetches nothing"),
            (json!({"type": "audio", "source": {}}), "of the type `audio`"),
            (json!({"type": "image", "source": {"type": "data", "value": "aGk="}}), "has an invalid part"),
            (
                json!({"type": "image", "source": {"type": "data", "value": "<>", "mimeType": "image/png"}}),
                "has an invalid part",
            ),
            (json!({"type": "text"}), "has an invalid part"),
            (json!(3), "has an invalid part"),
        ] {
            let error = blocks(&said(&json!([part]))).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn null_fields_are_left_out_when_sent_back() {
        let kept = said(&Value::Null);
        assert_eq!(serde_json::to_value(kept).unwrap(), json!({"id": "u", "role": "user"}));
    }
}
