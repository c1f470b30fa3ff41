//! A server for clients of MCP, and where their programs are.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::home::Home;
use crate::serve::Served;
use crate::serve::wire::{Asked, Reply};

/// The version in which every request stands for itself.
pub(super) const MODERN: &str = "2026-07-28";

/// The newest version with a handshake.
pub(super) const LEGACY: &str = "2025-11-25";

/// The folder of the official programs.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp")
}

/// The Node.js that the official programs need.
pub(super) fn node() -> Command {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let node = folder().join(format!("node_modules/node-linux-{machine}/bin/node"));
    assert!(node.is_file(), "{} is missing: run `make setup`", node.display());
    let mut command = Command::new(node);
    command.current_dir(folder()).stdin(Stdio::null());
    command
}

#[track_caller]
pub(super) fn succeeds(command: &mut Command) -> Output {
    let ended = command.output().unwrap();
    let (said, told) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{command:?}: {}\n{said}\n{told}", ended.status);
    ended
}

/// A server with what the suites look for.
pub(super) fn served() -> Served {
    Served::started(Home::new(), &["--fixtures"], Stdio::inherit(), &[("TOOLROOM_LOG_LEVEL", "warn")])
}

/// A request that stands for itself.
pub(crate) fn modern(key: &str, method: &str, params: Value) -> Asked {
    modern_with(key, method, params, &json!({}))
}

/// The same, from a client that can do this.
pub(super) fn modern_with(key: &str, method: &str, mut params: Value, capabilities: &Value) -> Asked {
    let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let asked = Asked::new("POST", "/mcp")
        .key(key)
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", method)
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    match name {
        Some(name) => asked.header("Mcp-Name", &name),
        None => asked,
    }
}

/// A message of a session.
pub(crate) fn legacy(key: &str, session: &str, message: &Value) -> Asked {
    Asked::new("POST", "/mcp")
        .key(key)
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", LEGACY)
        .header("Mcp-Session-Id", session)
        .json(message)
}

/// Begins a session.
pub(crate) fn hello(served: &Served, key: &str, capabilities: &Value) -> String {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": client});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let reply = served.send("POST", "/mcp", key, &message).is(200);
    reply.header("mcp-session-id").unwrap().to_owned()
}

/// What a request came to.
#[track_caller]
pub(crate) fn result(reply: &Reply) -> Value {
    let answer = reply.json();
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// The first text of a result.
#[track_caller]
pub(super) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
