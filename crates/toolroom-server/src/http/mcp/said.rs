//! In which era a request is made, and what its client says of itself.
//!
//! In the later era the headers repeat what is in the body, so that whoever stands in between can go by them. They must
//! not say something else.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::mcp::{MODERN, McpClient, Request, RpcError, Version};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers that repeat the body.
pub(super) const NAME_HEADERS: [&str; 3] = [VERSION_HEADER, "Mcp-Method", "Mcp-Name"];

/// The header that says which version is spoken, as it is written down.
pub(super) const VERSION_HEADER: &str = "MCP-Protocol-Version";

/// How a value is written that no header can hold as it is.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// What a request is.
#[derive(Debug)]
pub(super) enum RequestKind {
    /// One that stands for itself.
    Modern(McpClient),
    /// The beginning of a session.
    Hello,
    /// One of a session.
    InSession,
}

/// The version that headers name.
pub(super) fn version(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    text(headers, VERSION)
}

/// What a request is, by its headers and its body.
pub(super) fn said(headers: &HeaderMap, request: &Request) -> Result<RequestKind, RpcError> {
    let version = version(headers);
    let in_body = request.params.meta.version.as_ref();
    match version.as_deref() {
        Some(version) if Version::known(version).is_none() => modern(headers, version, request),
        Some(_) if in_body.is_some_and(|version| version == MODERN) => {
            Err(RpcError::headers("`MCP-Protocol-Version` and the body name different versions"))
        }
        None if in_body.is_some() => Err(RpcError::headers("`MCP-Protocol-Version` is missing")),
        Some(_) | None => Ok(match request.method.as_str() {
            "initialize" => RequestKind::Hello,
            _ => RequestKind::InSession,
        }),
    }
}

fn modern(headers: &HeaderMap, version: &str, request: &Request) -> Result<RequestKind, RpcError> {
    let (client, in_body) = McpClient::described(&request.params.meta)?;
    if in_body != version {
        return Err(RpcError::headers("`MCP-Protocol-Version` and the body name different versions"));
    }
    if version != MODERN {
        return Err(RpcError::version(version));
    }
    repeats(headers, METHOD, "Mcp-Method", Some(&request.method))?;
    let named = match request.method.as_str() {
        "tools/call" | "prompts/get" => request.params.name.as_ref(),
        "resources/read" => request.params.others.get("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => request.params.others.get("taskId"),
        _ => return Ok(RequestKind::Modern(client)),
    };
    repeats(headers, NAME, "Mcp-Name", named.and_then(Value::as_str))?;
    Ok(RequestKind::Modern(client))
}

/// Whether a header repeats what the body says.
fn repeats(headers: &HeaderMap, name: HeaderName, shown: &str, body: Option<&str>) -> Result<(), RpcError> {
    // What is missing in the body is refused for that.
    let Some(body) = body else { return Ok(()) };
    match text(headers, name) {
        Some(said) if said == body => Ok(()),
        Some(_) => Err(RpcError::headers(format!("`{shown}` and the body do not say the same"))),
        None => Err(RpcError::headers(format!("`{shown}` is missing"))),
    }
}

/// What a header says.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<Cow<'_, str>> {
    let bytes = headers.get(name)?.as_bytes();
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let (before, behind) = ENCODED;
    let encoded = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
    match encoded {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(text)),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;
    use crate::mcp::Message;

    fn told(headers: &[(HeaderName, &str)], method: &str, params: Value) -> Result<RequestKind, RpcError> {
        let headers =
            headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        message["params"] = params;
        let read = Message::read(message.to_string().as_bytes());
        let Ok(Message::Request(request)) = read else { panic!("no request") };
        said(&headers.collect(), &request)
    }

    fn meta(version: &str) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    }

    #[test]
    fn a_request_that_stands_for_itself_says_everything_twice() {
        let call = json!({"name": "größe", "_meta": meta(MODERN)});
        let encoded = format!("=?base64?{}?=", STANDARD.encode("größe"));
        let headers = [(VERSION, MODERN), (METHOD, "tools/call"), (NAME, encoded.as_str())];
        assert!(matches!(told(&headers, "tools/call", call.clone()), Ok(RequestKind::Modern(_))));
        for headers in [
            vec![(VERSION, MODERN), (METHOD, "tools/call")],
            vec![(VERSION, MODERN), (NAME, encoded.as_str())],
            vec![(VERSION, MODERN), (METHOD, "tools/list"), (NAME, encoded.as_str())],
            vec![(VERSION, MODERN), (METHOD, "tools/call"), (NAME, "other")],
            vec![(VERSION, MODERN), (METHOD, "tools/call"), (NAME, "=?base64?%?=")],
            vec![(METHOD, "tools/call"), (NAME, encoded.as_str())],
            vec![(VERSION, "2025-11-25"), (METHOD, "tools/call"), (NAME, encoded.as_str())],
        ] {
            let refusal = told(&headers, "tools/call", call.clone()).unwrap_err();
            assert_eq!(refusal.code, RpcError::HEADERS, "{headers:?}");
        }
    }

    #[test]
    fn a_version_of_the_future_is_refused_and_those_of_the_past_have_sessions() {
        let refusal =
            told(&[(VERSION, "2031-01-01")], "ping", json!({"_meta": meta("2031-01-01")})).unwrap_err();
        assert_eq!(
            (refusal.code, &refusal.data.unwrap()["requested"]),
            (RpcError::VERSION, &json!("2031-01-01"))
        );
        assert!(matches!(told(&[], "initialize", json!({})), Ok(RequestKind::Hello)));
        assert!(matches!(
            told(&[(VERSION, "2025-06-18")], "tools/list", json!({})),
            Ok(RequestKind::InSession)
        ));
        let refusal = told(&[(VERSION, MODERN)], "initialize", json!({})).unwrap_err();
        assert_eq!(refusal.code, RpcError::INVALID_PARAMS);
    }
}
