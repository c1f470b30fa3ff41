//! Messages of JSON-RPC, as they come from somebody who may mean harm.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::surrogates::mended;

/// No message of a server may be larger.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// Messages that come together in one.
const MAX_BATCH: usize = 64;

/// What is kept of a text of the server in an error.
const MAX_ERROR_CHARS: usize = 600;

/// A message of the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    /// The answer to a request of ours; without an id it is about something that could not be read.
    Answer { id: Option<i64>, result: Result<Value, Refusal> },
    /// The answer to a request of ours, which cannot be read.
    Unreadable { id: i64, why: String },
    /// A question to us. Its id goes back as it is.
    Question { id: Value, method: String, params: Value },
    /// Something it tells.
    Note { method: String, params: Value },
}

/// An error in the words of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl From<Refusal> for McpError {
    fn from(Refusal { code, message, data }: Refusal) -> Self {
        Self::Refused { code, message, data }
    }
}

impl Incoming {
    /// Reads a message, or several in one.
    pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Self>, McpError> {
        if bytes.len() > MAX_MESSAGE_BYTES {
            return Err(too_large());
        }
        let nonsense = |why: &str| McpError::Nonsense(why.to_owned());
        let read = serde_json::from_slice(bytes).or_else(|error| match mended(bytes) {
            Some(bytes) => serde_json::from_slice(&bytes),
            None => Err(error),
        });
        match read {
            Ok(Value::Object(message)) => Ok(vec![Self::of(message)?]),
            Ok(Value::Array(messages)) if messages.len() <= MAX_BATCH => messages
                .into_iter()
                .map(|message| match message {
                    Value::Object(message) => Self::of(message),
                    _ => Err(nonsense("a message is no object")),
                })
                .collect(),
            Ok(_) => Err(nonsense("a message is no object")),
            Err(error) => match Answered::of(bytes) {
                Some(id) => {
                    let why = format!("its answer cannot be read: {error}");
                    Ok(vec![Self::Unreadable { id, why }])
                }
                None => Err(nonsense("a message is no JSON")),
            },
        }
    }

    fn of(mut message: Map<String, Value>) -> Result<Self, McpError> {
        let mut take = |name: &str| message.remove(name);
        if take("jsonrpc").as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err(McpError::Nonsense("a message is not JSON-RPC 2.0".to_owned()));
        }
        let id = take("id");
        if let Some(method) = take("method") {
            let Value::String(method) = method else {
                return Err(McpError::Nonsense("the method of a message is no text".to_owned()));
            };
            let params = take("params").unwrap_or(Value::Null);
            return match id {
                None => Ok(Self::Note { method, params }),
                Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Self::Question { id, method, params }),
                Some(_) => {
                    Err(McpError::Nonsense("the id of a question is no text and no number".to_owned()))
                }
            };
        }
        let id = match id {
            None | Some(Value::Null) => None,
            // Ours are whole numbers: any other id is the answer to nothing, and so is this one.
            Some(id) => Some(id.as_i64().unwrap_or(-1)),
        };
        match (take("result"), take("error")) {
            (Some(result), None) => Ok(Self::Answer { id, result: Ok(result) }),
            (None, Some(error)) => Ok(Self::Answer { id, result: Err(Refusal::of(error)) }),
            _ => Err(McpError::Nonsense("an answer has no result, or an error beside it".to_owned())),
        }
    }
}

/// What an answer is the answer to, whatever is in it.
#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    id: i64,
    method: Option<IgnoredAny>,
}

impl Answered<'_> {
    fn of(bytes: &[u8]) -> Option<i64> {
        let answered: Answered<'_> = serde_json::from_slice(bytes).ok()?;
        (answered.jsonrpc == "2.0" && answered.method.is_none()).then_some(answered.id)
    }
}

impl Refusal {
    fn of(mut error: Value) -> Self {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason is given");
        let message = shortened(message, MAX_ERROR_CHARS);
        let data = error.get_mut("data").map(Value::take).filter(|data| !data.is_null());
        Self { code, message, data }
    }
}

/// A request of ours.
pub(crate) fn request(id: i64, method: &str, params: &Value) -> Vec<u8> {
    bytes(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Something we tell.
pub(crate) fn note(method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (Some(message), false) = (message.as_object_mut(), params.is_null()) {
        message.insert("params".to_owned(), params.clone());
    }
    bytes(&message)
}

/// What we answer: the result, or that nobody here does such a thing.
pub(crate) fn reply(id: &Value, result: Option<Value>) -> Vec<u8> {
    bytes(&match result {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "nobody here does that"}})
        }
    })
}

/// That a request is not waited for any more.
pub(crate) fn cancelled(id: i64) -> Vec<u8> {
    note("notifications/cancelled", &json!({"requestId": id, "reason": "the caller has gone"}))
}

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

pub(crate) fn too_large() -> McpError {
    McpError::TooMuch { what: "a message", limit: format!("{} MiB", MAX_MESSAGE_BYTES / 1024 / 1024) }
}

/// The beginning of a text, on one line.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    let clean = |char: char| if char.is_control() { ' ' } else { char };
    let mut short: String = text.trim().chars().take(chars).map(clean).collect();
    if text.trim().chars().nth(chars).is_some() {
        short.push('…');
    }
    short
}
