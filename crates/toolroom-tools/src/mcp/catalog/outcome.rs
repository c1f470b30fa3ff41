//! What a foreign tool gives back, as results are given back here.

use serde_json::{Map, Value};
use toolroom::schema::Schema;
use toolroom::tool::{ErrorKind, ToolError, ToolOutput};
use toolroom_host::net::NetError;

use crate::mcp::catalog::content::{MakeFile, output};
use crate::mcp::protocol::error::McpError;

/// What a model is told of an error of the tool.
const MAX_ERROR_CHARS: usize = 4_000;

/// The whole result of a call as an output, or as the error it says it is.
pub(crate) fn outcome(
    make_file: &MakeFile<'_>,
    promised: Option<&Schema>,
    mut result: Map<String, Value>,
) -> Result<ToolOutput, ToolError> {
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
    Ok(output(make_file, promised, content, result.remove("structuredContent")))
}

fn texts(content: &[Value]) -> Vec<&str> {
    content.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// A failure on the way to the tool. What a server says for itself is told; hosts and paths are for the operator. A call
/// that was never sent is in no doubt.
pub(crate) fn failed(server: &str, error: McpError, was_sent: bool) -> ToolError {
    let in_doubt = was_sent && error.is_in_doubt();
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
        McpError::Replaced => (
            ErrorKind::Unreachable,
            format!("what is said about the server `{server}` has just changed; try again"),
            None,
        ),
        McpError::WantsInput => (ErrorKind::Tool, error.to_string(), None),
        McpError::Net(NetError::Refused { .. }) => (
            ErrorKind::PermissionDenied,
            format!("the server `{server}` leads to a place that is not open"),
            None,
        ),
        McpError::GivenUp { .. }
        | McpError::Start(_)
        | McpError::Confinement { .. }
        | McpError::MissingSecret { .. }
        | McpError::TooSlow { .. } => (
            ErrorKind::Unreachable,
            format!("the server `{server}` does not start"),
            Some(format!("`toolroom mcp show {server}` and `toolroom mcp logs {server}` tell a person why")),
        ),
        McpError::TooMuch { what, limit } => (
            ErrorKind::Upstream,
            format!("{what} of the server `{server}` is longer than is taken: {limit}"),
            Some("ask for less".to_owned()),
        ),
        McpError::Nonsense(_) | McpError::Version { .. } => {
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
