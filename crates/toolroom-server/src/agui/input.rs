//! `RunAgentInput`, parsed and checked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom::call::MAX_CONTEXT_BYTES;
use toolroom::model::{Block, Message as ModelMessage, Role as ModelRole};
use toolroom::tool::{ClientTool, ClientTools};

use super::message::{Message, PartError, Role, blocks};
use super::state::OWN_KEY;

/// Longest id of a thread, run, message or call.
const ID_BYTES: usize = 512;

const MESSAGES: usize = 10_000;

const ANSWERS: usize = 1_000;

/// `RunAgentInput`, as it stands on the wire. What the protocol knows and we do not is passed over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({
    "threadId": "t1", "runId": "r1", "messages": [{"id": "m1", "role": "user", "content": "What is 6*7?"}],
}))]
pub(crate) struct RunAgentInput {
    /// The conversation, as the client names it.
    #[schemars(length(min = 1, max = 512))]
    pub(crate) thread_id: String,
    /// This run, as the client names it.
    #[schemars(length(min = 1, max = 512))]
    pub(crate) run_id: String,
    /// The conversation as the client has it.
    #[schemars(length(max = 10_000))]
    pub(crate) messages: Vec<Message>,
    /// Absent for clients from before 1.0.
    #[serde(default)]
    pub(crate) protocol_version: Option<String>,
    /// What client and agent share.
    #[serde(default)]
    pub(crate) state: Value,
    /// The tools the client runs itself.
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub(crate) tools: Option<Vec<InputTool>>,
    /// What the agent should know of the client's situation.
    #[serde(default)]
    pub(crate) context: Option<Vec<ContextItem>>,
    /// What the client's host adds.
    #[serde(default)]
    pub(crate) forwarded_props: Value,
    /// Answers to the questions of the last run.
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub(crate) resume: Option<Vec<Resume>>,
}

/// A tool of the client.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub(crate) struct InputTool {
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    name: String,
    #[serde(default)]
    #[schemars(length(max = 4_096))]
    description: Option<String>,
    /// A JSON Schema.
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Value>>")]
    parameters: Value,
}

/// Something the agent should know.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ContextItem {
    description: String,
    value: Value,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resume {
    /// The question.
    pub(crate) interrupt_id: String,
    /// Whether it was answered, or is taken back.
    pub(crate) status: ResumeStatus,
    /// The answer.
    #[serde(default)]
    pub(crate) payload: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResumeStatus {
    Resolved,
    Cancelled,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error("`{name}` has {bytes} bytes; ids have 1 to {ID_BYTES}")]
    Id { name: &'static str, bytes: usize },
    #[error(
        "too many messages ({count}, limit {MESSAGES}); the server stores the thread, so send only the last ones"
    )]
    Messages { count: usize },
    #[error("too many answers in `resume` ({count}, limit {ANSWERS})")]
    Answers { count: usize },
    #[error("`{0}` is answered twice in `resume`")]
    Twice(String),
    #[error(
        "`context`, `forwardedProps` and `state` have {bytes} bytes together, at most {MAX_CONTEXT_BYTES} are taken"
    )]
    Context { bytes: usize },
    #[error("the tool message `{0}` has no `toolCallId`")]
    NoCall(String),
    #[error(transparent)]
    Part(#[from] PartError),
    #[error(transparent)]
    Tool(#[from] toolroom::tool::ClientToolError),
}

/// A valid input.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) thread: String,
    pub(crate) run: String,
    /// Whether the client knows 1.0.
    pub(crate) modern: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) state: Value,
    pub(crate) tools: ClientTools,
    pub(crate) context: Map<String, Value>,
    pub(crate) resume: Option<Vec<Resume>>,
}

/// The result of a client tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientResult {
    /// The model's id of the call.
    pub(crate) call: String,
    pub(crate) outcome: Result<Value, String>,
}

impl TryFrom<RunAgentInput> for Input {
    type Error = InputError;

    fn try_from(input: RunAgentInput) -> Result<Self, InputError> {
        check(&input)?;
        let tools = input.tools.unwrap_or_default().into_iter().map(|tool| {
            ClientTool::new(&tool.name, tool.description.as_deref().unwrap_or_default(), tool.parameters)
        });
        let tools = ClientTools::new(tools.collect::<Result<_, _>>()?)?;
        let context =
            context(&input.messages, input.context.unwrap_or_default(), input.forwarded_props, &input.state)?;
        Ok(Self {
            thread: input.thread_id,
            run: input.run_id,
            modern: input.protocol_version.is_some(),
            messages: input.messages,
            state: input.state,
            tools,
            context,
            resume: input.resume,
        })
    }
}

fn check(input: &RunAgentInput) -> Result<(), InputError> {
    let id = |name: &'static str, id: &str| match id.len() {
        1..=ID_BYTES => Ok(()),
        bytes => Err(InputError::Id { name, bytes }),
    };
    id("threadId", &input.thread_id)?;
    id("runId", &input.run_id)?;
    if input.messages.len() > MESSAGES {
        return Err(InputError::Messages { count: input.messages.len() });
    }
    for message in &input.messages {
        id("the id of a message", &message.id)?;
        match (message.role, &message.tool_call_id) {
            (Role::Tool, None) => return Err(InputError::NoCall(message.id.clone())),
            (Role::Tool, Some(call)) => id("toolCallId", call)?,
            (Role::User, _) => drop(blocks(message)?),
            _ => {}
        }
    }
    let answers = input.resume.as_deref().unwrap_or_default();
    if answers.len() > ANSWERS {
        return Err(InputError::Answers { count: answers.len() });
    }
    let mut seen = std::collections::HashSet::new();
    match answers.iter().find(|answer| !seen.insert(&answer.interrupt_id)) {
        Some(twice) => Err(InputError::Twice(twice.interrupt_id.clone())),
        None => Ok(()),
    }
}

/// The client context as one object. Fields of the host go to the top level, where tools look for them.
fn context(
    messages: &[Message],
    items: Vec<ContextItem>,
    forwarded: Value,
    state: &Value,
) -> Result<Map<String, Value>, InputError> {
    let mut context = match forwarded {
        Value::Object(forwarded) => forwarded,
        Value::Null => Map::new(),
        other => Map::from_iter([("forwardedProps".to_owned(), other)]),
    };
    if !items.is_empty() {
        let items =
            items.into_iter().map(|item| json!({"description": item.description, "value": item.value}));
        context.insert("context".to_owned(), items.collect());
    }
    let instructions =
        messages.iter().filter(|message| matches!(message.role, Role::System | Role::Developer));
    let instructions: Vec<Value> = instructions.map(|message| message.text().into()).collect();
    if !instructions.is_empty() {
        context.insert("instructions".to_owned(), instructions.into());
    }
    let mut state = state.clone();
    if let Some(state) = state.as_object_mut() {
        state.remove(OWN_KEY);
    }
    let is_empty = state.is_null() || state.as_object().is_some_and(Map::is_empty);
    if !is_empty {
        context.insert("state".to_owned(), state);
    }
    let bytes = serde_json::to_vec(&context).map_or(usize::MAX, |text| text.len());
    if bytes > MAX_CONTEXT_BYTES { Err(InputError::Context { bytes }) } else { Ok(context) }
}

impl Input {
    /// The last user message and its index.
    pub(crate) fn last_words(&self) -> Option<(usize, &Message)> {
        self.messages.iter().enumerate().rev().find(|(_, message)| message.role == Role::User)
    }

    /// The messages before an index: text, images and tool results.
    pub(crate) fn history(&self, before: usize) -> Vec<ModelMessage> {
        let earlier = self.messages.get(..before).unwrap_or_default();
        let said = earlier.iter().filter_map(|message| match message.role {
            Role::User => {
                Some(ModelMessage { role: ModelRole::User, blocks: blocks(message).unwrap_or_default() })
            }
            Role::Assistant => Some(ModelMessage::assistant(vec![Block::text(message.text())])),
            Role::Tool => Some(ModelMessage::earlier_result(message.text())),
            Role::Developer | Role::System | Role::Activity | Role::Reasoning => None,
        });
        said.collect()
    }

    /// The results of client tools, the last one of each call.
    pub(crate) fn client_results(&self) -> Vec<ClientResult> {
        let mut brought: Vec<ClientResult> = Vec::new();
        for message in self.messages.iter().filter(|message| message.role == Role::Tool) {
            let Some(call) = message.tool_call_id.clone() else { continue };
            brought.retain(|other| other.call != call);
            brought.push(ClientResult { call, outcome: outcome(message) });
        }
        brought
    }
}

/// A failure has an error, or a result with `success: false`.
fn outcome(message: &Message) -> Result<Value, String> {
    let text = message.text();
    if let Some(error) = &message.error {
        return Err(if error.trim().is_empty() { text } else { error.clone() });
    }
    let value = serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text));
    let Value::Object(fields) = &value else { return Ok(value) };
    let is_executors = fields.keys().all(|key| matches!(key.as_str(), "success" | "result" | "message"));
    match fields.get("success").and_then(Value::as_bool) {
        Some(true) if is_executors => Ok(fields.get("result").cloned().unwrap_or_default()),
        Some(false) if is_executors => {
            let said = fields.get("message").or_else(|| fields.get("result"));
            let said = said.and_then(Value::as_str).unwrap_or("the client's tool failed");
            Err(said.to_owned())
        }
        Some(_) | None => Ok(value),
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
