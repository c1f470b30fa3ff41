//! Results and errors of foreign tools as outputs and errors of a call.

use serde_json::{Map, Value};
use toolroom::schema::Schema;
use toolroom::tool::{ErrorKind, ToolError, ToolOutput};
use toolroom_host::net::NetError;

use crate::mcp::catalog::content::{MakeFile, output};
use crate::mcp::protocol::error::McpError;

/// The longest error text for a model.
const MAX_ERROR_CHARS: usize = 4_000;

/// The output of a call, or the error the result is marked as.
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
            if text.trim().is_empty() { "the tool failed and gave no reason".to_owned() } else { text };
        return Err(ToolError::tool(text));
    }
    Ok(output(make_file, promised, content, result.remove("structuredContent")))
}

fn texts(content: &[Value]) -> Vec<&str> {
    content.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// The error of a call that did not reach the tool. Only the server's own message is passed on; hosts and paths are for the
/// operator. A request that was never sent is not in doubt.
pub(crate) fn failed(server: &str, error: McpError, was_sent: bool) -> ToolError {
    let in_doubt = was_sent && error.is_in_doubt();
    let (kind, text, hint) = match &error {
        McpError::Rpc { code: -32602, message, .. } => (
            ErrorKind::InvalidArguments,
            format!("the server `{server}` rejected the arguments: {message}"),
            None,
        ),
        McpError::Rpc { message, .. } => {
            (ErrorKind::Upstream, format!("the server `{server}` returned an error: {message}"), None)
        }
        McpError::Timeout { .. } => {
            (ErrorKind::Timeout, format!("the server `{server}` did not answer in time"), None)
        }
        McpError::Unauthorized { .. } => (
            ErrorKind::PermissionDenied,
            format!("the server `{server}` requires signing in"),
            Some(format!("the user can sign in with `toolroom mcp login {server}`")),
        ),
        McpError::EntryChanged => (
            ErrorKind::Unreachable,
            format!("the configuration of the server `{server}` has just changed; try again"),
            None,
        ),
        McpError::InputRequired => (ErrorKind::Tool, error.to_string(), None),
        McpError::Net(NetError::Refused { .. }) => (
            ErrorKind::PermissionDenied,
            format!("the address of the server `{server}` is not open to network access"),
            None,
        ),
        McpError::TooManyFailures { .. }
        | McpError::Start(_)
        | McpError::Confinement { .. }
        | McpError::MissingSecret { .. }
        | McpError::StartTimeout { .. } => (
            ErrorKind::Unreachable,
            format!("the server `{server}` does not start"),
            Some(format!(
                "the user can see why with `toolroom mcp show {server}` and `toolroom mcp logs {server}`"
            )),
        ),
        McpError::LimitExceeded { what, limit } => (
            ErrorKind::Upstream,
            format!("{what} of the server `{server}` exceeds the limit of {limit}"),
            Some("ask for less".to_owned()),
        ),
        McpError::Protocol(_) | McpError::UnsupportedVersion { .. } => {
            (ErrorKind::Upstream, format!("the server `{server}` sent an invalid response"), None)
        }
        _ => (ErrorKind::Unreachable, format!("the server `{server}` cannot be reached"), None),
    };
    let mut failure = ToolError::new(kind, text).caused_by(error);
    if let Some(hint) = hint {
        failure = failure.with_hint(hint);
    }
    if in_doubt { failure.in_doubt() } else { failure }
}
