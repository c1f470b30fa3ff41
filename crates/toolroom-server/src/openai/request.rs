//! Chat completion requests.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom::model::{Block, Message, Role};
use toolroom::tool::{ClientTool, ClientToolError, ClientTools};

/// A request. Model parameters such as `temperature` are accepted and ignored: the agent sets them.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(
    rename = "ChatCompletionRequest",
    example = json!({"model": "default", "messages": [{"role": "user", "content": "What is 6*7?"}]})
)]
pub(crate) struct ChatRequest {
    /// The agent that answers, by its id.
    pub(crate) model: String,
    /// The conversation so far; the last message is answered.
    #[schemars(length(min = 1))]
    messages: Vec<ChatMessage>,
    /// Stream the answer.
    #[serde(default)]
    pub(crate) stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    /// Tools that the client executes.
    #[serde(default)]
    #[schemars(length(max = 128))]
    tools: Option<Vec<OfferedTool>>,
    /// Whether `tools` may be used; the agent chooses which one.
    #[serde(default)]
    #[schemars(extend("enum" = ["auto", "none", null]))]
    tool_choice: Option<Value>,
    /// The number of answers: one.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1))]
    n: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct OfferedTool {
    function: ToolFunction,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ToolFunction {
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    name: String,
    #[serde(default)]
    #[schemars(length(max = 4_096))]
    description: String,
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Value>>")]
    parameters: Value,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ChatMessage {
    role: ChatRole,
    #[serde(default)]
    content: Option<ChatContent>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ChatRole {
    System,
    Developer,
    User,
    Assistant,
    Tool,
    Function,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ChatContent {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ContentPart {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChatRequestError {
    #[error("`messages` is empty; the last one is answered")]
    Empty,
    #[error("the last message has the role `{0}`; it must be a user message or tool results")]
    LastRole(&'static str),
    #[error("a tool message has no `tool_call_id`")]
    NoCall,
    #[error("content parts of the type `{0}` are not supported; send text")]
    Part(String),
    #[error("`n` is {0}, but an agent gives one answer")]
    Several(u32),
    #[error("`tool_choice` may be `auto` or `none`; an agent chooses its tools itself")]
    ToolChoice,
    #[error(transparent)]
    Tool(#[from] ClientToolError),
}

/// The message or tool results to continue with.
#[derive(Debug)]
pub(crate) enum ChatInput {
    /// A user message and the conversation before it.
    Message { message: Message, history: Vec<Message>, instructions: Option<String> },
    /// Tool results by call id.
    Results(Vec<(String, String)>),
}

impl ChatRequest {
    /// Whether the stream ends with token usage.
    pub(crate) fn wants_usage(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage)
    }

    /// The tools that the client executes.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub(crate) fn tools(&self) -> Result<ClientTools, ChatRequestError> {
        match self.tool_choice.as_ref() {
            Some(Value::String(choice)) if choice == "none" => return Ok(ClientTools::default()),
            Some(Value::String(choice)) if choice == "auto" => {}
            None | Some(Value::Null) => {}
            Some(_) => return Err(ChatRequestError::ToolChoice),
        }
        let tools = self.tools.iter().flatten().map(|OfferedTool { function }| {
            ClientTool::new(&function.name, &function.description, function.parameters.clone())
        });
        Ok(ClientTools::new(tools.collect::<Result<_, _>>()?)?)
    }

    /// The message or tool results to continue with.
    ///
    /// # Errors
    /// When the request is invalid.
    pub(crate) fn input(&self) -> Result<ChatInput, ChatRequestError> {
        if let Some(several) = self.n.filter(|count| *count != 1) {
            return Err(ChatRequestError::Several(several));
        }
        let (last, before) = self.messages.split_last().ok_or(ChatRequestError::Empty)?;
        match last.role {
            ChatRole::User => {
                let (mut history, mut instructions) = (Vec::new(), Vec::new());
                for spoken in before {
                    let text = spoken.text()?;
                    match spoken.role {
                        ChatRole::System | ChatRole::Developer => instructions.push(text),
                        ChatRole::User => history.push(message(Role::User, text)),
                        ChatRole::Assistant if !text.is_empty() => {
                            history.push(message(Role::Assistant, text));
                        }
                        ChatRole::Tool | ChatRole::Function => history.push(Message::earlier_result(text)),
                        ChatRole::Assistant => {}
                    }
                }
                let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
                Ok(ChatInput::Message { message: message(Role::User, last.text()?), history, instructions })
            }
            ChatRole::Tool => {
                let results = self.messages.iter().rev().take_while(|spoken| spoken.role == ChatRole::Tool);
                let results = results.map(|spoken| {
                    let id = spoken.tool_call_id.clone().ok_or(ChatRequestError::NoCall)?;
                    Ok((id, spoken.text()?))
                });
                Ok(ChatInput::Results(results.collect::<Result<_, ChatRequestError>>()?))
            }
            ChatRole::System => Err(ChatRequestError::LastRole("system")),
            ChatRole::Developer => Err(ChatRequestError::LastRole("developer")),
            ChatRole::Assistant => Err(ChatRequestError::LastRole("assistant")),
            ChatRole::Function => Err(ChatRequestError::LastRole("function")),
        }
    }
}

impl ChatMessage {
    fn text(&self) -> Result<String, ChatRequestError> {
        match &self.content {
            None => Ok(String::new()),
            Some(ChatContent::Text(text)) => Ok(text.clone()),
            Some(ChatContent::Parts(parts)) => {
                let texts = parts.iter().map(|part| match (part.kind.as_str(), &part.text) {
                    ("text", Some(text)) => Ok(text.as_str()),
                    _ => Err(ChatRequestError::Part(part.kind.clone())),
                });
                Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
            }
        }
    }
}

fn message(role: Role, text: String) -> Message {
    Message { role, blocks: vec![Block::text(text)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(messages: &Value) -> ChatRequest {
        serde_json::from_value(json!({"model": "default", "messages": messages, "temperature": 0.2})).unwrap()
    }

    #[test]
    fn the_last_message_is_answered_and_what_came_before_is_history() {
        let asked = request(&json!([
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": null, "tool_calls": []},
            {"role": "tool", "content": "x", "tool_call_id": "1"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": [{"type": "text", "text": "And?"}]},
        ]));
        let ChatInput::Message { message, history, instructions } = asked.input().unwrap() else { panic!() };
        assert_eq!((message.text().as_str(), instructions.as_deref()), ("And?", Some("Be short.")));
        assert_eq!(history.iter().map(Message::text).collect::<Vec<_>>(), ["Hello", "", "Hi"]);
    }

    #[test]
    fn tool_results_at_the_end_are_the_input() {
        let asked = request(&json!([
            {"role": "user", "content": "Weather?"},
            {"role": "tool", "content": "12 C", "tool_call_id": "a"},
            {"role": "tool", "content": "14 C", "tool_call_id": "b"},
        ]));
        let ChatInput::Results(mut results) = asked.input().unwrap() else { panic!() };
        results.sort();
        assert_eq!(results, [("a".to_owned(), "12 C".to_owned()), ("b".to_owned(), "14 C".to_owned())]);
    }

    #[test]
    fn unsupported_requests_are_rejected() {
        for (messages, told) in [
            (json!([]), "empty"),
            (json!([{"role": "assistant", "content": "x"}]), "assistant"),
            (json!([{"role": "tool", "content": "x"}]), "tool_call_id"),
            (json!([{"role": "user", "content": [{"type": "input_audio"}]}]), "input_audio"),
        ] {
            let error = request(&messages).input().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        let choice = json!({"model": "x", "messages": [], "tool_choice": "required"});
        assert!(serde_json::from_value::<ChatRequest>(choice).unwrap().tools().is_err());
    }
}
