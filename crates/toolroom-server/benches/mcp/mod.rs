//! What `echo {text}` costs over MCP, with key, schema check, guards and a durable journal: against the limit, and
//! against bare servers made with what others offer. All take turns.

mod http;
mod peers;
mod stdio;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::tool::{Effect, Risk, tool_fn};

use crate::Done;
use crate::lived_in::{folder, grow_old};
use crate::measure::{Bar, Measure, report};
use crate::served::seen::Seen;
use crate::served::{key, pin};

/// Rounds per figure; odd, so that there is a median round.
const ROUNDS: usize = 7;

/// The versions that clients speak: the newest one, and the newest one with a handshake.
const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// What is said, again and again.
const TEXT: &str = "the quick brown fox";

pub(crate) fn figures() -> Done {
    let measure = Measure::from_arguments();
    if !measure.wants("mcp", "http") && !measure.wants("mcp", "stdio") {
        return Ok(());
    }
    // Inherited by the servers until they are moved.
    pin(std::process::id(), 1);
    let home = folder()?;
    grow_old(home.path())?;
    if measure.wants("mcp", "http") {
        http::figures(home.path(), &key(home.path())?)?;
    }
    if measure.wants("mcp", "stdio") {
        stdio::figures(home.path())?;
    }
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct Said {
    #[schemars(length(max = 1000))]
    text: String,
}

/// The tool, for everybody's clients by the same name.
pub(crate) fn register(catalog: &Catalog) -> Result<(), RegisterError> {
    let echo = tool_fn("builtin:echo", "Say it again", |_, said: Said| async move { Ok(said.text) })?;
    catalog.register(echo.with(|spec| spec.effect(Effect::Pure).capabilities(&[]).risk(Risk::Low)))
}

/// What the limit answers: it says again what it was told.
pub(crate) fn say_again(said: &Value) -> Value {
    let text = said.pointer("/params/arguments/text");
    json!({
        "jsonrpc": "2.0",
        "id": said.get("id"),
        "result": {"content": [{"type": "text", "text": text}], "isError": false}
    })
}

/// How a client of the earlier era begins.
fn hello() -> [Value; 2] {
    let client = json!({"name": "bench", "version": "1"});
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client});
    [
        json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

/// A call in an era.
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

/// A fast answer that is none is no achievement.
fn check(name: &str, answer: &str) -> Done {
    match answer.contains(TEXT) && answer.contains("\"result\"") && !answer.contains("\"isError\":true") {
        true => Ok(()),
        false => Err(format!("{name} does not say it again: {answer}").into()),
    }
}

/// Whom ours is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It does what has to be done, and nothing else.
    Limit,
    Ours,
    /// The best of the others, in the way it does best.
    Rmcp,
    /// Others, one or two orders of magnitude behind: they are asked less.
    Slow,
}

impl Role {
    /// How often it is asked where others are asked `n` times, so many at once.
    const fn share(self, n: usize, at_once: usize) -> usize {
        match (self, at_once) {
            (Self::Slow, 1) => n / 50,
            (Self::Slow, _) => n / 10,
            (Self::Limit | Self::Ours | Self::Rmcp, _) => n,
        }
    }

    const fn bar(self) -> Bar {
        match self {
            Self::Ours => Bar::aim(20.0),
            Self::Limit | Self::Rmcp | Self::Slow => Bar::NONE,
        }
    }
}

/// Prints what was seen of everybody, and how ours stands among them. `way` is how they were asked, `at_once` how many.
fn compare(way: &str, at_once: usize, seen: &mut [(Role, String, Seen)]) {
    for (role, name, seen) in &mut *seen {
        seen.report("mcp", &format!("{way}_{name}_by_{at_once}"), role.bar());
    }
    let least = |wanted: Role| {
        let of_role = seen.iter().filter(|(role, ..)| *role == wanted);
        of_role.map(|(_, _, seen)| seen.processor_time()).min_by(f64::total_cmp)
    };
    let Some(ours) = least(Role::Ours) else { return };
    let bars =
        [(Role::Limit, "the_limit", Bar::aim(2.2)), (Role::Rmcp, "rmcp", Bar::floor_and_aim(1.0, 0.4))];
    for (role, name, bar) in bars {
        if let Some(theirs) = least(role) {
            let case = format!("{way}_processor_time_by_{at_once}_against_{name}");
            report("mcp", &case, ours / theirs, "times", bar, ROUNDS);
        }
    }
}
