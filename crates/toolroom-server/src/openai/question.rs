//! What a program sends.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom::model::{Block, Message, Role};
use toolroom::tool::{ClientTool, ClientToolError, ClientTools};

/// A request. What models are told beside the conversation (temperature and the like) is the agent's business: it is
/// taken and not looked at.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(
    rename = "ChatCompletionRequest",
    example = json!({"model": "default", "messages": [{"role": "user", "content": "What is 6*7?"}]})
)]
pub(crate) struct ChatRequest {
    /// The agent that answers, by its id.
    pub(crate) model: String,
    /// The conversation until now; the last one is answered.
    #[schemars(length(min = 1))]
    messages: Vec<Spoken>,
    /// Send the answer in pieces.
    #[serde(default)]
    pub(crate) stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    /// Tools that the program runs itself.
    #[serde(default)]
    #[schemars(length(max = 128))]
    tools: Option<Vec<OfferedTool>>,
    /// Whether `tools` may be used; which one is the agent's choice.
    #[serde(default)]
    #[schemars(extend("enum" = ["auto", "none", null]))]
    tool_choice: Option<Value>,
    /// How many answers: one.
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
    function: Function,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Function {
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
struct Spoken {
    role: Speaker,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    System,
    Developer,
    User,
    Assistant,
    Tool,
    Function,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

/// Why a request cannot be answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WrongRequest {
    #[error("`messages` is empty; the last one is what is answered")]
    Empty,
    #[error("the last message is of the role `{0}`; a user's message or results of tools can be answered")]
    LastWord(&'static str),
    #[error("a result of a tool lacks its `tool_call_id`")]
    NoCall,
    #[error("parts of the kind `{0}` are not taken here; send text")]
    Part(String),
    #[error("`n` is {0}; an agent gives one answer")]
    Several(u32),
    #[error("`tool_choice` may be `auto` or `none`; an agent chooses its tools itself")]
    Choice,
    #[error(transparent)]
    Tool(#[from] ClientToolError),
}

/// What is to be answered.
#[derive(Debug)]
pub(crate) enum Said {
    /// A message, and what was said before it.
    Message { message: Message, history: Vec<Message>, instructions: Option<String> },
    /// What came of calls, by their ids.
    Results(Vec<(String, String)>),
}

impl ChatRequest {
    /// Whether the tokens are to be told at the end of a stream.
    pub(crate) fn wants_usage(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage)
    }

    /// The tools that the program runs itself.
    ///
    /// # Errors
    /// When one of them cannot be offered.
    pub(crate) fn tools(&self) -> Result<ClientTools, WrongRequest> {
        match self.tool_choice.as_ref() {
            Some(Value::String(choice)) if choice == "none" => return Ok(ClientTools::default()),
            Some(Value::String(choice)) if choice == "auto" => {}
            None | Some(Value::Null) => {}
            Some(_) => return Err(WrongRequest::Choice),
        }
        let tools = self.tools.iter().flatten().map(|OfferedTool { function }| {
            ClientTool::new(&function.name, &function.description, function.parameters.clone())
        });
        Ok(ClientTools::new(tools.collect::<Result<_, _>>()?)?)
    }

    /// What is to be answered.
    ///
    /// # Errors
    /// When nothing is.
    pub(crate) fn said(&self) -> Result<Said, WrongRequest> {
        if let Some(several) = self.n.filter(|count| *count != 1) {
            return Err(WrongRequest::Several(several));
        }
        let (last, before) = self.messages.split_last().ok_or(WrongRequest::Empty)?;
        match last.role {
            Speaker::User => {
                let (mut history, mut instructions) = (Vec::new(), Vec::new());
                for spoken in before {
                    let text = spoken.text()?;
                    match spoken.role {
                        Speaker::System | Speaker::Developer => instructions.push(text),
                        Speaker::User => history.push(message(Role::User, text)),
                        Speaker::Assistant if !text.is_empty() => {
                            history.push(message(Role::Assistant, text));
                        }
                        Speaker::Tool | Speaker::Function => history.push(Message::earlier_result(text)),
                        Speaker::Assistant => {}
                    }
                }
                let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
                Ok(Said::Message { message: message(Role::User, last.text()?), history, instructions })
            }
            Speaker::Tool => {
                let results = self.messages.iter().rev().take_while(|spoken| spoken.role == Speaker::Tool);
                let results = results.map(|spoken| {
                    let id = spoken.tool_call_id.clone().ok_or(WrongRequest::NoCall)?;
                    Ok((id, spoken.text()?))
                });
                Ok(Said::Results(results.collect::<Result<_, WrongRequest>>()?))
            }
            Speaker::System => Err(WrongRequest::LastWord("system")),
            Speaker::Developer => Err(WrongRequest::LastWord("developer")),
            Speaker::Assistant => Err(WrongRequest::LastWord("assistant")),
            Speaker::Function => Err(WrongRequest::LastWord("function")),
        }
    }
}

impl Spoken {
    fn text(&self) -> Result<String, WrongRequest> {
        match &self.content {
            None => Ok(String::new()),
            Some(Content::Text(text)) => Ok(text.clone()),
            Some(Content::Parts(parts)) => {
                let texts = parts.iter().map(|part| match (part.kind.as_str(), &part.text) {
                    ("text", Some(text)) => Ok(text.as_str()),
                    _ => Err(WrongRequest::Part(part.kind.clone())),
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
        let Said::Message { message, history, instructions } = asked.said().unwrap() else { panic!() };
        assert_eq!((message.text().as_str(), instructions.as_deref()), ("And?", Some("Be short.")));
        assert_eq!(history.iter().map(Message::text).collect::<Vec<_>>(), ["Hello", "", "Hi"]);
    }

    #[test]
    fn results_at_the_end_go_on_with_what_asked_for_them() {
        let asked = request(&json!([
            {"role": "user", "content": "Weather?"},
            {"role": "tool", "content": "12 C", "tool_call_id": "a"},
            {"role": "tool", "content": "14 C", "tool_call_id": "b"},
        ]));
        let Said::Results(mut results) = asked.said().unwrap() else { panic!() };
        results.sort();
        assert_eq!(results, [("a".to_owned(), "12 C".to_owned()), ("b".to_owned(), "14 C".to_owned())]);
    }

    #[test]
    fn what_an_agent_cannot_do_is_refused() {
        for (messages, told) in [
            (json!([]), "empty"),
            (json!([{"role": "assistant", "content": "x"}]), "assistant"),
            (json!([{"role": "tool", "content": "x"}]), "tool_call_id"),
            (json!([{"role": "user", "content": [{"type": "input_audio"}]}]), "input_audio"),
        ] {
            let error = request(&messages).said().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        let choice = json!({"model": "x", "messages": [], "tool_choice": "required"});
        assert!(serde_json::from_value::<ChatRequest>(choice).unwrap().tools().is_err());
    }
}
