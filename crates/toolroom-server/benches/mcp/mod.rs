//! Cost of `echo {text}` over MCP, with key, schema check, guards and a durable journal, compared in alternating rounds
//! with a baseline and with minimal servers on other SDKs.

mod http;
mod peers;
mod stdio;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::tool::{Effect, Risk, tool_fn};

use crate::Done;
use crate::fixture::{fill_journal, folder};
use crate::measure::{Bar, Measure, report};
use crate::server_process::samples::Samples;
use crate::server_process::{create_key, pin};

/// Rounds per figure; odd, so that there is a median round.
const ROUNDS: usize = 7;

/// Protocol versions: the newest, and the newest with a handshake.
const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

const TEXT: &str = "the quick brown fox";

pub(crate) fn figures() -> Done {
    let measure = Measure::from_arguments();
    if !measure.selects("mcp", "http") && !measure.selects("mcp", "stdio") {
        return Ok(());
    }
    // Server processes inherit it until they are pinned themselves.
    pin(std::process::id(), 1);
    let home = folder()?;
    fill_journal(home.path())?;
    if measure.selects("mcp", "http") {
        http::figures(home.path(), &create_key(home.path())?)?;
    }
    if measure.selects("mcp", "stdio") {
        stdio::figures(home.path())?;
    }
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct EchoArgs {
    #[schemars(length(max = 1000))]
    text: String,
}

/// The tool, under the same name as in the other servers.
pub(crate) fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    let echo = tool_fn("builtin:echo", "Return the text", |_, args: EchoArgs| async move { Ok(args.text) })?;
    catalog.register(echo.with(|spec| spec.effect(Effect::Pure).capabilities(&[]).risk(Risk::Low)))
}

/// The baseline's response: returns the text.
pub(crate) fn echo_result(request: &Value) -> Value {
    let text = request.pointer("/params/arguments/text");
    json!({
        "jsonrpc": "2.0",
        "id": request.get("id"),
        "result": {"content": [{"type": "text", "text": text}], "isError": false}
    })
}

/// The handshake of a legacy client.
fn handshake() -> [Value; 2] {
    let client = json!({"name": "bench", "version": "1"});
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client});
    [
        json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

/// A call in a protocol version.
fn call(version: &str, id: usize) -> Value {
    let arguments = json!({"text": TEXT});
    let params = match version {
        MODERN => json!({"name": "echo", "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        }}),
        _ => json!({"name": "echo", "arguments": arguments}),
    };
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Checks that a response has the echoed text.
fn check(name: &str, response: &str) -> Done {
    match response.contains(TEXT) && response.contains("\"result\"") && !response.contains("\"isError\":true")
    {
        true => Ok(()),
        false => Err(format!("{name} does not return the text: {response}").into()),
    }
}

/// The kinds of servers that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The baseline.
    Limit,
    Toolroom,
    /// Tuned servers on rmcp.
    Rmcp,
    /// One or two orders of magnitude slower, so they get fewer calls.
    Slow,
}

impl Role {
    /// The number of calls it gets where fast servers get `n`.
    const fn calls(self, n: usize, concurrency: usize) -> usize {
        match (self, concurrency) {
            (Self::Slow, 1) => n / 50,
            (Self::Slow, _) => n / 10,
            (Self::Limit | Self::Toolroom | Self::Rmcp, _) => n,
        }
    }

    const fn bar(self) -> Bar {
        match self {
            Self::Toolroom => Bar::aim(20.0),
            Self::Limit | Self::Rmcp | Self::Slow => Bar::NONE,
        }
    }
}

/// Prints the figures of all servers, and ratios between Toolroom and the others.
fn compare(transport: &str, concurrency: usize, servers: &mut [(Role, String, Samples)]) {
    for (role, name, samples) in &mut *servers {
        samples.report("mcp", &format!("{transport}_{name}_by_{concurrency}"), role.bar());
    }
    let least = |wanted_role: Role| {
        let of_role = servers.iter().filter(|(role, ..)| *role == wanted_role);
        of_role.map(|(_, _, samples)| samples.processor_time()).min_by(f64::total_cmp)
    };
    let Some(toolroom) = least(Role::Toolroom) else { return };
    let bars =
        [(Role::Limit, "the_limit", Bar::aim(2.2)), (Role::Rmcp, "rmcp", Bar::floor_and_aim(1.0, 0.4))];
    for (role, name, bar) in bars {
        if let Some(other) = least(role) {
            let case = format!("{transport}_processor_time_by_{concurrency}_against_{name}");
            report("mcp", &case, toolroom / other, "times", bar, ROUNDS);
        }
    }
}
