//! JSON-RPC messages: parsing and writing.

use std::borrow::Cow;
use std::error::Error;
use std::ops::Deref;

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use crate::mcp::protocol::id::RawId;
use crate::mcp::protocol::params::{Expected, Params};
use crate::mcp::protocol::rpc_error::RpcError;

pub(crate) use crate::mcp::protocol::id::Id;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Box<Params>,
}

/// A message of a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// A response to a request of the server: its result, or an error.
    Response {
        id: Id,
        outcome: Result<Value, Value>,
    },
}

/// An invalid message.
#[derive(Debug, PartialEq)]
pub(crate) struct InvalidMessage {
    /// The id of the request, if it could be parsed.
    pub(crate) id: Option<Id>,
    /// The error.
    pub(crate) refusal: RpcError,
    /// Whether to send the error. Invalid responses get none: two peers that answered each other's errors would never stop.
    pub(crate) wants_answer: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(default)]
    id: RawId,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Expected<Box<Params>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Message {
    /// Parses a message.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, InvalidMessage> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let strange = |refusal| InvalidMessage { id: None, refusal, wants_answer: true };
        let invalid = |text: &str| RpcError::new(RpcError::INVALID_REQUEST, text);
        if first == Some(&b'[') {
            return Err(strange(invalid("batches are not supported; send messages one by one")));
        }
        let no_json = |error: &dyn Error| RpcError::new(RpcError::PARSE, format!("invalid JSON: {error}"));
        // Checks UTF-8 once instead of for each string.
        let text = std::str::from_utf8(bytes).map_err(|error| strange(no_json(&error)))?;
        let envelope = serde_json::from_str::<Envelope<'_>>(text).map_err(|error| {
            strange(match error.is_data() {
                true => invalid("not a JSON-RPC message"),
                false => no_json(&error),
            })
        })?;
        let Envelope { jsonrpc, id, method, params, result, error } = envelope;
        let wants_answer = method.is_some();
        let wrong = |id, refusal| InvalidMessage { id, refusal, wants_answer };
        let id = match id {
            RawId::Missing => None,
            RawId::Id(id) => Some(id),
            RawId::Invalid => {
                return Err(wrong(None, invalid("`id` must be a string or an integer")));
            }
        };
        if jsonrpc.as_deref() != Some("2.0") {
            return Err(wrong(id, invalid("`jsonrpc` must be \"2.0\"")));
        }
        let Some(method) = method else {
            return match (id, result, error) {
                (Some(id), Some(result), None) => Ok(Self::Response { id, outcome: Ok(result) }),
                (Some(id), None, Some(error)) => Ok(Self::Response { id, outcome: Err(error) }),
                (id, ..) => {
                    let text = "a message needs a `method`, or an `id` with a `result` or an `error`";
                    Err(wrong(id, invalid(text)))
                }
            };
        };
        let params = match params {
            Expected::Missing => Box::default(),
            Expected::Object(params) => params,
            Expected::Invalid => {
                return Err(wrong(id, RpcError::invalid("`params` must be an object")));
            }
        };
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification { method, params: params.others },
        })
    }
}

/// A message to a client. A large one holds its share of the memory budget until it is written.
#[derive(Debug)]
pub(crate) struct OutgoingMessage {
    text: String,
    budget: Option<OwnedSemaphorePermit>,
}

impl OutgoingMessage {
    pub(in crate::mcp) const fn with_budget(text: String, budget: OwnedSemaphorePermit) -> Self {
        Self { text, budget: Some(budget) }
    }

    /// Wraps the text; the share of the budget stays.
    pub(crate) fn wrapped(self, wrap: impl FnOnce(&str) -> String) -> Self {
        Self { text: wrap(&self.text), budget: self.budget }
    }

    /// The bytes, which hold the share of the budget.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.budget {
            None => self.text.into(),
            Some(_) => Bytes::from_owner(self),
        }
    }
}

impl From<String> for OutgoingMessage {
    fn from(text: String) -> Self {
        Self { text, budget: None }
    }
}

impl Deref for OutgoingMessage {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<[u8]> for OutgoingMessage {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// A response. `result` is the text of an object.
pub(crate) fn result_text(id: &Id, result: &str) -> String {
    let mut text = String::with_capacity(result.len() + 64);
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    id.write(&mut text);
    text.extend([r#","result":"#, result, "}"]);
    text
}

/// An error response.
pub(crate) fn error_text(id: Option<&Id>, refusal: &RpcError) -> String {
    let mut text = String::from(r#"{"jsonrpc":"2.0","id":"#);
    match id {
        Some(id) => id.write(&mut text),
        None => text.push_str("null"),
    }
    text.push_str(r#","error":"#);
    // Serializing strings, numbers and JSON cannot fail.
    text.push_str(&serde_json::to_string(refusal).unwrap_or_else(|_| "null".to_owned()));
    text.push('}');
    text
}

/// A notification.
pub(crate) fn notification_text(method: &str, params: &Value) -> String {
    serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// A request of the server.
pub(in crate::mcp) fn request_text(id: &str, method: &str, params: &Value) -> String {
    serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Message, InvalidMessage> {
        Message::parse(value.to_string().as_bytes())
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let request = read(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})).unwrap();
        assert!(matches!(request, Message::Request(request) if request.id == Id::Text("a".to_owned())));
        let notification = read(&json!({"jsonrpc": "2.0", "method": "x", "params": {"a": 1}})).unwrap();
        assert!(matches!(notification, Message::Notification { method, .. } if method == "x"));
        let answer = read(&json!({"jsonrpc": "2.0", "id": 3, "result": null})).unwrap();
        assert_eq!(answer, Message::Response { id: Id::Number(3.into()), outcome: Ok(Value::Null) });
    }

    #[test]
    fn an_invalid_message_is_rejected_with_the_id_of_its_request() {
        for (text, code, id) in [
            ("{", RpcError::PARSE, None),
            ("[]", RpcError::INVALID_REQUEST, None),
            ("3", RpcError::INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, RpcError::INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, RpcError::INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, RpcError::INVALID_REQUEST, None),
            (
                r#"{"jsonrpc":"2.0","id":99999999999999999999999,"method":"x"}"#,
                RpcError::INVALID_REQUEST,
                None,
            ),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, RpcError::INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1}"#, RpcError::INVALID_REQUEST, Some(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#, RpcError::INVALID_PARAMS, Some(1)),
        ] {
            let wrong = Message::parse(text.as_bytes()).unwrap_err();
            assert_eq!(
                (wrong.refusal.code, wrong.id),
                (code, id.map(|id: i32| Id::Number(id.into()))),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_utf8_is_rejected() {
        let wrong = Message::parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}").unwrap_err();
        assert_eq!((wrong.refusal.code, wrong.id, wrong.wants_answer), (RpcError::PARSE, None, true));
    }

    #[test]
    fn an_invalid_response_is_not_answered() {
        let wants = |text: &str| Message::parse(text.as_bytes()).unwrap_err().wants_answer;
        for answer in [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":2}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"id":1,"result":{}}"#,
        ] {
            assert!(!wants(answer), "{answer}");
        }
        for request in
            ["{", "[]", "7", r#"{"id":1,"method":"x"}"#, r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#]
        {
            assert!(wants(request), "{request}");
        }
    }

    #[test]
    fn a_response_has_the_id_unchanged() {
        let id = Id::Text("a\"b".to_owned());
        let read: Value = serde_json::from_str(&result_text(&id, "{}")).unwrap();
        assert_eq!(read, json!({"jsonrpc": "2.0", "id": "a\"b", "result": {}}));
        let read: Value = serde_json::from_str(&error_text(None, &RpcError::new(-1, "no"))).unwrap();
        assert_eq!(read, json!({"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "no"}}));
    }
}
