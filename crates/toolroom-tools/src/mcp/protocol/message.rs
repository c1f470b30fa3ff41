//! JSON-RPC messages. Incoming ones are untrusted.

use std::borrow::Cow;

use memchr::memchr;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::mcp::protocol::error::McpError;
/// The largest message of a server.
pub(crate) const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// Messages per batch.
const MAX_BATCH: usize = 64;

/// Characters of an error message that are kept.
const MAX_ERROR_CHARS: usize = 600;

/// Bytes of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// A message of the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    /// A response. Without an id it concerns a message that the server could not parse.
    Response { id: Option<i64>, result: Result<Value, RpcFailure> },
    /// A response that cannot be parsed.
    Unreadable { id: i64, why: String },
    /// A request of the server. Its id is returned unchanged.
    Request { id: Value, method: String, params: Value },
    /// A notification of the server.
    Notification { method: String, params: Value },
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcFailure {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl From<RpcFailure> for McpError {
    fn from(RpcFailure { code, message, data }: RpcFailure) -> Self {
        Self::Rpc { code, message, data }
    }
}

impl Incoming {
    /// Parses a message or a batch.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Self>, McpError> {
        if bytes.len() > MAX_MESSAGE_BYTES {
            return Err(too_large());
        }
        let invalid = |why: &str| McpError::Protocol(why.to_owned());
        let read = serde_json::from_slice(bytes).or_else(|error| match without_lone_surrogates(bytes) {
            Some(bytes) => serde_json::from_slice(&bytes),
            None => Err(error),
        });
        match read {
            Ok(Value::Object(message)) => Ok(vec![Self::from_object(message)?]),
            Ok(Value::Array(messages)) if messages.len() <= MAX_BATCH => messages
                .into_iter()
                .map(|message| match message {
                    Value::Object(message) => Self::from_object(message),
                    _ => Err(invalid("a message is not an object")),
                })
                .collect(),
            Ok(_) => Err(invalid("a message is not an object")),
            Err(error) => match response_id(bytes) {
                Some(id) => {
                    let why = format!("a response cannot be parsed: {error}");
                    Ok(vec![Self::Unreadable { id, why }])
                }
                None => Err(invalid("a message is not JSON")),
            },
        }
    }

    fn from_object(mut message: Map<String, Value>) -> Result<Self, McpError> {
        let mut take = |name: &str| message.remove(name);
        if take("jsonrpc").as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err(McpError::Protocol("a message is not JSON-RPC 2.0".to_owned()));
        }
        let id = take("id");
        if let Some(method) = take("method") {
            let Value::String(method) = method else {
                return Err(McpError::Protocol("the method of a message is not a string".to_owned()));
            };
            let params = take("params").unwrap_or(Value::Null);
            return match id {
                None => Ok(Self::Notification { method, params }),
                Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Self::Request { id, method, params }),
                Some(_) => {
                    Err(McpError::Protocol("the id of a request is neither a string nor a number".to_owned()))
                }
            };
        }
        let id = match id {
            None | Some(Value::Null) => None,
            // Our ids are positive integers. Any other id belongs to no request.
            Some(id) => Some(id.as_i64().unwrap_or(-1)),
        };
        match (take("result"), take("error")) {
            (Some(result), None) => Ok(Self::Response { id, result: Ok(result) }),
            (None, Some(error)) => Ok(Self::Response { id, result: Err(RpcFailure::from_value(error)) }),
            _ => Err(McpError::Protocol("a response needs either a result or an error".to_owned())),
        }
    }
}

/// The id of a response whose content cannot be parsed.
fn response_id(bytes: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        jsonrpc: Cow<'a, str>,
        id: i64,
        method: Option<IgnoredAny>,
    }
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).ok()?;
    (envelope.jsonrpc == "2.0" && envelope.method.is_none()).then_some(envelope.id)
}

impl RpcFailure {
    fn from_value(mut error: Value) -> Self {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
        let message = shortened(message, MAX_ERROR_CHARS);
        let data = error.get_mut("data").map(Value::take).filter(|data| !data.is_null());
        Self { code, message, data }
    }
}

/// A request.
pub(crate) fn request(id: i64, method: &str, params: &Value) -> Vec<u8> {
    bytes(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// A notification.
pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (Some(message), false) = (message.as_object_mut(), params.is_null()) {
        message.insert("params".to_owned(), params.clone());
    }
    bytes(&message)
}

/// A response to a request of the server. `None`: the method is not supported.
pub(crate) fn response(id: &Value, result: Option<Value>) -> Vec<u8> {
    bytes(&match result {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}})
        }
    })
}

/// The notification that a request is cancelled.
pub(crate) fn cancelled(id: i64) -> Vec<u8> {
    notification("notifications/cancelled", &json!({"requestId": id, "reason": "the caller has gone"}))
}

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

pub(crate) fn too_large() -> McpError {
    McpError::LimitExceeded { what: "a message", limit: format!("{} MiB", MAX_MESSAGE_BYTES / 1024 / 1024) }
}

/// The beginning of a text without line breaks.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    let clean = |char: char| if char.is_control() { ' ' } else { char };
    let mut short: String = text.trim().chars().take(chars).map(clean).collect();
    if text.trim().chars().nth(chars).is_some() {
        short.push('…');
    }
    short
}

/// Replaces lone surrogates in JSON escapes by U+FFFD. `None` if there are none. Programs that cut a text in the middle of an
/// emoji write them; they are valid JSON but no valid text.
pub(crate) fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr(b'\\', json.get(at..).unwrap_or_default()) {
        at += found;
        at += match (code_unit(json, at), code_unit(json, at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                repaired.extend_from_slice(json.get(copied..at)?);
                repaired.extend_from_slice(br"\ufffd");
                copied = at + ESCAPE;
                ESCAPE
            }
            (Some(_), _) => ESCAPE,
            (None, _) => 2,
        };
    }
    repaired.extend_from_slice(json.get(copied..)?);
    (copied > 0).then_some(repaired)
}

/// The UTF-16 code unit of a `\u` escape.
fn code_unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        for (json, expected) in [
            (r#""a\ud83d""#, Some("a\u{fffd}")),
            (r#""\ude00a""#, Some("\u{fffd}a")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
            (r#""\ude00\ud83d\n""#, Some("\u{fffd}\u{fffd}\n")),
            (r#""\uD83D\u0041""#, Some("\u{fffd}A")),
            (r#""\ud83d\ude00 \u00e9 \" \\ud83d""#, None),
            (r#""\\\\ud83d""#, None),
            (r#""plain""#, None),
        ] {
            let repaired = without_lone_surrogates(json.as_bytes());
            let read = repaired.map(|json| serde_json::from_slice::<Value>(&json).unwrap());
            assert_eq!(read, expected.map(Value::from), "{json}");
        }
        // Truncated escapes are invalid JSON either way.
        for broken in [r#""\"#, r#""\u"#, r#""\ud83"#, r#""\ud83d\"#, r#""\ud83d\u"#] {
            let _repaired = without_lone_surrogates(broken.as_bytes());
        }
    }
}
