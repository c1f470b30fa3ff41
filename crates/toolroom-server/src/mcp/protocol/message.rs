//! Messages of JSON-RPC, as they come and as they are written.

use std::borrow::Cow;
use std::error::Error;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::mcp::protocol::id::RawId;
use crate::mcp::protocol::params::{Expected, Params};
use crate::mcp::protocol::rpc_error::RpcError;

pub(crate) use crate::mcp::protocol::id::Id;

/// Something that wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Box<Params>,
}

/// What a client sends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// The answer to a request of ours: its result, or an error.
    Response {
        id: Id,
        outcome: Result<Value, Value>,
    },
}

/// What was sent instead of a message.
#[derive(Debug, PartialEq)]
pub(crate) struct InvalidMessage {
    /// The id of the request it was meant to be, as far as that can be told.
    pub(crate) id: Option<Id>,
    /// What is wrong with it.
    pub(crate) refusal: RpcError,
    /// Whether its sender wants to know. Whoever answered something does not: two who told each other what is wrong with
    /// their answers would never end.
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
    /// Reads one message.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, InvalidMessage> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let strange = |refusal| InvalidMessage { id: None, refusal, wants_answer: true };
        let invalid = |text: &str| RpcError::new(RpcError::INVALID_REQUEST, text);
        if first == Some(&b'[') {
            return Err(strange(invalid("several messages at once are not taken; send them one by one")));
        }
        let no_json = |error: &dyn Error| RpcError::new(RpcError::PARSE, format!("this is no JSON: {error}"));
        // At once, and not text by text.
        let text = std::str::from_utf8(bytes).map_err(|error| strange(no_json(&error)))?;
        let envelope = serde_json::from_str::<Envelope<'_>>(text).map_err(|error| {
            strange(match error.is_data() {
                true => invalid("this is no message of JSON-RPC"),
                false => no_json(&error),
            })
        })?;
        let Envelope { jsonrpc, id, method, params, result, error } = envelope;
        let wants_answer = method.is_some();
        let wrong = |id, refusal| InvalidMessage { id, refusal, wants_answer };
        let id = match id {
            RawId::Missing => None,
            RawId::Id(id) => Some(id),
            RawId::SomethingElse => {
                return Err(wrong(None, invalid("`id` has to be a text or a whole number")));
            }
        };
        if jsonrpc.as_deref() != Some("2.0") {
            return Err(wrong(id, invalid("`jsonrpc` has to be \"2.0\"")));
        }
        let Some(method) = method else {
            return match (id, result, error) {
                (Some(id), Some(result), None) => Ok(Self::Response { id, outcome: Ok(result) }),
                (Some(id), None, Some(error)) => Ok(Self::Response { id, outcome: Err(error) }),
                (id, ..) => {
                    let text = "a message has a `method`, or an `id` and a `result` or an `error`";
                    Err(wrong(id, invalid(text)))
                }
            };
        };
        let params = match params {
            Expected::Nothing => Box::default(),
            Expected::Object(params) => params,
            Expected::SomethingElse => {
                return Err(wrong(id, RpcError::invalid("`params` has to be an object")));
            }
        };
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification { method, params: params.others },
        })
    }
}

/// The answer to a request: `result` is the text of an object.
pub(crate) fn result_text(id: &Id, result: &str) -> String {
    let mut text = String::with_capacity(result.len() + 64);
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    id.write(&mut text);
    text.extend([r#","result":"#, result, "}"]);
    text
}

/// The answer to a request that is refused.
pub(crate) fn error_text(id: Option<&Id>, refusal: &RpcError) -> String {
    let mut text = String::from(r#"{"jsonrpc":"2.0","id":"#);
    match id {
        Some(id) => id.write(&mut text),
        None => text.push_str("null"),
    }
    text.push_str(r#","error":"#);
    // Texts, numbers and JSON: nothing in it can fail to be written.
    text.push_str(&serde_json::to_string(refusal).unwrap_or_else(|_| "null".to_owned()));
    text.push('}');
    text
}

/// Something that is told and wants no answer.
pub(crate) fn notification_text(method: &str, params: &Value) -> String {
    serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// A request of ours.
pub(in crate::mcp) fn request_text(id: &str, method: &str, params: &Value) -> String {
    serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Message, InvalidMessage> {
        Message::read(value.to_string().as_bytes())
    }

    #[test]
    fn requests_notifications_and_answers_are_told_apart() {
        let request = read(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})).unwrap();
        assert!(matches!(request, Message::Request(request) if request.id == Id::Text("a".to_owned())));
        let told = read(&json!({"jsonrpc": "2.0", "method": "x", "params": {"a": 1}})).unwrap();
        assert!(matches!(told, Message::Notification { method, .. } if method == "x"));
        let answer = read(&json!({"jsonrpc": "2.0", "id": 3, "result": null})).unwrap();
        assert_eq!(answer, Message::Response { id: Id::Number(3.into()), outcome: Ok(Value::Null) });
    }

    #[test]
    fn what_is_no_message_is_refused_and_names_its_request() {
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
            let wrong = Message::read(text.as_bytes()).unwrap_err();
            assert_eq!(
                (wrong.refusal.code, wrong.id),
                (code, id.map(|id: i32| Id::Number(id.into()))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_text_is_no_message() {
        let wrong = Message::read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}").unwrap_err();
        assert_eq!((wrong.refusal.code, wrong.id, wrong.wants_answer), (RpcError::PARSE, None, true));
    }

    #[test]
    fn whoever_answers_something_does_not_want_to_be_answered() {
        let wants = |text: &str| Message::read(text.as_bytes()).unwrap_err().wants_answer;
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
    fn an_answer_carries_the_id_as_it_came() {
        let id = Id::Text("a\"b".to_owned());
        let read: Value = serde_json::from_str(&result_text(&id, "{}")).unwrap();
        assert_eq!(read, json!({"jsonrpc": "2.0", "id": "a\"b", "result": {}}));
        let read: Value = serde_json::from_str(&error_text(None, &RpcError::new(-1, "no"))).unwrap();
        assert_eq!(read, json!({"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "no"}}));
    }
}
