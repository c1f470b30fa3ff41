//! What a foreign tool gives back, as results are given back here.

use serde_json::{Map, Value, json};
use toolroom::tool::{ErrorKind, ToolError, ToolOutput};
use toolroom_host::net::NetError;

use super::error::McpError;

/// What a model is told of an error of the tool.
const MAX_ERROR_CHARS: usize = 4_000;

/// The whole result of a call as an output, or as the error it says it is.
pub(super) fn outcome(mut result: Map<String, Value>) -> Result<ToolOutput, ToolError> {
    let content = match result.remove("content") {
        Some(Value::Array(content)) => content,
        _ => Vec::new(),
    };
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        let text = texts(&content).join("\n");
        let text: String = text.chars().take(MAX_ERROR_CHARS).collect();
        let text =
            if text.trim().is_empty() { "the tool failed and does not say why".to_owned() } else { text };
        return Err(ToolError::tool(text));
    }
    let parts: Vec<Value> = content.into_iter().map(part).collect();
    let is_text = |part: &Value| part.get("type").and_then(Value::as_str) == Some("text");
    let structured = result.remove("structuredContent").filter(|structured| !structured.is_null());
    let value = match (structured, parts.iter().all(is_text)) {
        // Texts beside it say the same once more.
        (Some(structured), true) => structured,
        (Some(structured), false) => json!({"structured": structured, "content": parts}),
        (None, true) if parts.len() <= 1 => {
            let text = parts.into_iter().next().and_then(|mut part| part.get_mut("text").map(Value::take));
            text.unwrap_or_else(|| json!(""))
        }
        (None, _) => Value::Array(parts),
    };
    Ok(ToolOutput::new(value))
}

fn texts(content: &[Value]) -> Vec<&str> {
    content.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// One part of a result, with nothing in it but what its kind has.
fn part(mut part: Value) -> Value {
    let mut take = |name: &str| part.get_mut(name).map_or(Value::Null, Value::take);
    let kind = take("type");
    match kind.as_str() {
        Some("text") => json!({"type": "text", "text": take("text")}),
        Some("image" | "audio") => {
            let data = take("data");
            let bytes = data.as_str().map_or(0, |data| data.trim_end_matches('=').len() * 3 / 4);
            json!({"type": kind, "mime_type": take("mimeType"), "bytes": bytes, "data": data})
        }
        Some("resource") => {
            let mut resource = take("resource");
            let mut take = |name: &str| resource.get_mut(name).map_or(Value::Null, Value::take);
            let mut shown = json!({"type": "resource", "uri": take("uri"), "mime_type": take("mimeType")});
            for (name, value) in [("text", take("text")), ("blob", take("blob"))] {
                if let (Some(shown), false) = (shown.as_object_mut(), value.is_null()) {
                    shown.insert(name.to_owned(), value);
                }
            }
            shown
        }
        Some("resource_link") => {
            let (uri, name, mime) = (take("uri"), take("name"), take("mimeType"));
            json!({"type": "resource_link", "uri": uri, "name": name, "mime_type": mime})
        }
        _ => json!({"type": "unknown"}),
    }
}

/// A failure on the way to the tool. What a server says for itself is told; hosts and paths are for the operator.
pub(super) fn failed(server: &str, error: McpError) -> ToolError {
    let in_doubt = error.is_in_doubt();
    let (kind, text, hint) = match &error {
        McpError::Refused { code: -32602, message, .. } => (
            ErrorKind::InvalidArguments,
            format!("the server `{server}` refuses the arguments: {message}"),
            None,
        ),
        McpError::Refused { message, .. } => {
            (ErrorKind::Upstream, format!("the server `{server}` refuses: {message}"), None)
        }
        McpError::Silent { .. } => {
            (ErrorKind::Timeout, format!("the server `{server}` did not answer in time"), None)
        }
        McpError::Unauthorized { .. } => (
            ErrorKind::PermissionDenied,
            format!("the server `{server}` lets nobody in without signing in"),
            Some(format!("a person signs in with `toolroom mcp login {server}`")),
        ),
        McpError::WantsInput => (ErrorKind::Tool, error.to_string(), None),
        McpError::Net(NetError::Refused { .. }) => (
            ErrorKind::PermissionDenied,
            format!("the server `{server}` leads to a place that is not open"),
            None,
        ),
        McpError::GivenUp { .. } | McpError::Start(_) | McpError::Confinement { .. } => (
            ErrorKind::Unreachable,
            format!("the server `{server}` does not start"),
            Some(format!("`toolroom mcp show {server}` and `toolroom mcp logs {server}` tell a person why")),
        ),
        McpError::Nonsense(_) | McpError::TooMuch { .. } | McpError::Version { .. } => {
            (ErrorKind::Upstream, format!("the server `{server}` gave no usable answer"), None)
        }
        _ => (ErrorKind::Unreachable, format!("the server `{server}` cannot be reached"), None),
    };
    let mut told = ToolError::new(kind, text).caused_by(error);
    if let Some(hint) = hint {
        told = told.with_hint(hint);
    }
    if in_doubt { told.in_doubt() } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: &Value) -> Result<Value, String> {
        let result = outcome(result.as_object().unwrap().clone());
        result.map(|output| output.value).map_err(|error| error.for_model().to_owned())
    }

    #[test]
    fn results_keep_what_they_are() {
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(of(&json!({"content": [text("a")]})), Ok(json!("a")));
        assert_eq!(of(&json!({"content": [text("a"), text("b")]})), Ok(json!([text("a"), text("b")])));
        assert_eq!(of(&json!({"content": [text("{}")], "structuredContent": {"x": 1}})), Ok(json!({"x": 1})));
        assert_eq!(of(&json!({"content": []})), Ok(json!("")));
        assert_eq!(of(&json!({})), Ok(json!("")));
        let image = json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8=", "_meta": {"x": 1}});
        let kept = json!({"type": "image", "mime_type": "image/png", "bytes": 5, "data": "aGVsbG8="});
        assert_eq!(of(&json!({"content": [image.clone()]})), Ok(json!([kept])));
        let both = of(&json!({"content": [image], "structuredContent": [1]})).unwrap();
        assert_eq!(both, json!({"structured": [1], "content": [kept]}));
        let resource = json!({"type": "resource", "resource": {"uri": "x://y", "text": "t"}});
        let kept = json!({"type": "resource", "uri": "x://y", "mime_type": null, "text": "t"});
        assert_eq!(of(&json!({"content": [resource]})), Ok(json!([kept])));
        assert_eq!(
            of(&json!({"content": [3, {"type": "novel"}]})),
            Ok(json!([{"type": "unknown"}, {"type": "unknown"}]))
        );
    }

    #[test]
    fn what_says_it_is_an_error_is_one() {
        let told = of(&json!({"content": [{"type": "text", "text": "no such city"}], "isError": true}));
        assert_eq!(told, Err("no such city".to_owned()));
        assert!(of(&json!({"isError": true})).unwrap_err().contains("does not say why"));
        let long = of(&json!({"content": [{"type": "text", "text": "x".repeat(10_000)}], "isError": true}));
        assert_eq!(long.unwrap_err().len(), MAX_ERROR_CHARS);
    }
}
