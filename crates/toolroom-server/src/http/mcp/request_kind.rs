//! The era of a request, by its headers and body.
//!
//! Modern requests repeat fields of the body as headers for proxies. The two must not differ.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::mcp::{MODERN, McpClient, Request, RpcError, Version};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Headers that repeat the body.
pub(super) const NAME_HEADERS: [&str; 3] = [VERSION_HEADER, "Mcp-Method", "Mcp-Name"];

/// The header with the protocol version, as documented.
pub(super) const VERSION_HEADER: &str = "MCP-Protocol-Version";

/// Prefix and suffix of encoded header values.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// The kind of a request.
#[derive(Debug)]
pub(super) enum RequestKind {
    /// A modern request, without a session.
    Modern(McpClient),
    /// `initialize`, which opens a session.
    Initialize,
    /// Another request of a session.
    InSession,
}

/// The version in the headers.
pub(super) fn version(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    text(headers, VERSION)
}

/// The kind of a request.
pub(super) fn request_kind(headers: &HeaderMap, request: &Request) -> Result<RequestKind, RpcError> {
    let version = version(headers);
    let in_body = request.params.meta.version.as_ref();
    match version.as_deref() {
        Some(version) if Version::known(version).is_none() => modern(headers, version, request),
        Some(_) if in_body.is_some_and(|version| version == MODERN) => {
            Err(RpcError::headers("`MCP-Protocol-Version` and the body name different versions"))
        }
        None if in_body.is_some() => Err(RpcError::headers("`MCP-Protocol-Version` is missing")),
        Some(_) | None => Ok(match request.method.as_str() {
            "initialize" => RequestKind::Initialize,
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

/// Checks that a header repeats the body.
fn repeats(headers: &HeaderMap, name: HeaderName, shown: &str, body: Option<&str>) -> Result<(), RpcError> {
    // A missing field of the body is reported later.
    let Some(body) = body else { return Ok(()) };
    match text(headers, name) {
        Some(header) if header == body => Ok(()),
        Some(_) => Err(RpcError::headers(format!("`{shown}` and the body differ"))),
        None => Err(RpcError::headers(format!("`{shown}` is missing"))),
    }
}

/// The decoded value of a header.
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

    fn kind(headers: &[(HeaderName, &str)], method: &str, params: Value) -> Result<RequestKind, RpcError> {
        let headers =
            headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        message["params"] = params;
        let read = Message::parse(message.to_string().as_bytes());
        let Ok(Message::Request(request)) = read else { panic!("no request") };
        request_kind(&headers.collect(), &request)
    }

    fn meta(version: &str) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    }

    #[test]
    fn a_modern_request_repeats_its_body_in_headers() {
        let call = json!({"name": "größe", "_meta": meta(MODERN)});
        let encoded = format!("=?base64?{}?=", STANDARD.encode("größe"));
        let headers = [(VERSION, MODERN), (METHOD, "tools/call"), (NAME, encoded.as_str())];
        assert!(matches!(kind(&headers, "tools/call", call.clone()), Ok(RequestKind::Modern(_))));
        for headers in [
            vec![(VERSION, MODERN), (METHOD, "tools/call")],
            vec![(VERSION, MODERN), (NAME, encoded.as_str())],
            vec![(VERSION, MODERN), (METHOD, "tools/list"), (NAME, encoded.as_str())],
            vec![(VERSION, MODERN), (METHOD, "tools/call"), (NAME, "other")],
            vec![(VERSION, MODERN), (METHOD, "tools/call"), (NAME, "=?base64?%?=")],
            vec![(METHOD, "tools/call"), (NAME, encoded.as_str())],
            vec![(VERSION, "2025-11-25"), (METHOD, "tools/call"), (NAME, encoded.as_str())],
        ] {
            let refusal = kind(&headers, "tools/call", call.clone()).unwrap_err();
            assert_eq!(refusal.code, RpcError::HEADERS, "{headers:?}");
        }
    }

    #[test]
    fn a_future_version_is_refused_and_earlier_versions_have_sessions() {
        let refusal =
            kind(&[(VERSION, "2031-01-01")], "ping", json!({"_meta": meta("2031-01-01")})).unwrap_err();
        assert_eq!(
            (refusal.code, &refusal.data.unwrap()["requested"]),
            (RpcError::VERSION, &json!("2031-01-01"))
        );
        assert!(matches!(kind(&[], "initialize", json!({})), Ok(RequestKind::Initialize)));
        assert!(matches!(
            kind(&[(VERSION, "2025-06-18")], "tools/list", json!({})),
            Ok(RequestKind::InSession)
        ));
        let refusal = kind(&[(VERSION, MODERN)], "initialize", json!({})).unwrap_err();
        assert_eq!(refusal.code, RpcError::INVALID_PARAMS);
    }
}
