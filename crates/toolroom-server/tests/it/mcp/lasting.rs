//! Detached calls: they keep their permit, and shutdown waits for them.

use serde_json::{Value, json};

use super::place::{LEGACY, hello, legacy, modern_with, result};
use crate::processes::until;
use crate::serve::Served;
use crate::serve::wire::Asked;

fn count(seconds: u32) -> Value {
    json!({"name": "app__countdown", "arguments": {"seconds": seconds}})
}

/// Asks as a client of the earlier era, and leaves.
fn asks_and_leaves(served: &Served, key: &str, session: &str, seconds: u32) {
    let call = json!({"jsonrpc": "2.0", "id": seconds, "method": "tools/call", "params": count(seconds)});
    let mut wire = served.wire();
    wire.send(&legacy(key, session, &call));
    until(|| served.home.journal().iter().any(|row| row["arguments"]["seconds"] == seconds));
}

fn becomes_a_task(served: &Served, key: &str, seconds: u32) {
    let able = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let task = result(&served.ask(&modern_with(key, "tools/call", count(seconds), &able)));
    assert_eq!(task["resultType"], "task", "{task}");
}

#[test]
fn a_call_keeps_its_place_when_its_sender_has_left() {
    let served = Served::configured("[server]\nat_once = 1\n");
    let key = served.key("local", "call,read");
    let session = hello(&served, &key, &json!({}));
    asks_and_leaves(&served, &key, &session, 60);
    until(|| served.connections() == 0);
    served.get("/v1/tools", &key).is(429);
}

#[test]
fn a_task_keeps_the_place_of_its_request() {
    let served = Served::configured("[server]\nat_once = 1\n");
    let key = served.key("local", "call,read");
    becomes_a_task(&served, &key, 60);
    until(|| served.connections() == 0);
    served.get("/v1/tools", &key).is(429);
}

#[test]
fn detached_calls_end_before_the_server() {
    let mut served = Served::new();
    let key = served.key("local", "call");
    let session = hello(&served, &key, &json!({}));
    asks_and_leaves(&served, &key, &session, 2);
    asks_and_leaves(&served, &key, &session, 3_000);
    becomes_a_task(&served, &key, 3_001);
    served.ends();
    let journal = served.home.journal();
    let ended = |seconds: u32| {
        let row = journal.iter().find(|row| row["arguments"]["seconds"] == seconds);
        row.unwrap_or_else(|| panic!("{journal:?}"))["status"].clone()
    };
    assert_eq!([ended(2), ended(3_000), ended(3_001)], ["done", "cancelled", "cancelled"]);
}

#[test]
fn client_descriptions_are_not_kept_in_memory() {
    let served = Served::new();
    let key = served.key("local", "call");
    let before = served.footprint().now;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {"numbers": "MANY"}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let many = format!("[{}1]", "1,".repeat(500_000));
    let hello = hello.to_string().replace("\"MANY\"", &many);
    let asked = Asked::new("POST", "/mcp").key(&key).header("Content-Type", "application/json").text(&hello);
    for _ in 0..10 {
        served.ask(&asked).is(200);
    }
    let after = served.footprint().now;
    // As JSON that was read a number takes many times its text: all of them would be 160 MB and more.
    assert!(after < before + 100, "{before} MiB, then {after} MiB");
}

#[test]
fn streams_are_for_sessions_and_say_what_is_missing() {
    let served = Served::new();
    let key = served.key("local", "call");
    let session = hello(&served, &key, &json!({}));
    for method in ["GET", "DELETE"] {
        let asked = || Asked::new(method, "/mcp").key(&key);
        served.ask(&asked()).is(400);
        served.ask(&asked().header("Mcp-Session-Id", "mcp_nobody")).is(404);
        let modern = asked().header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Session-Id", &session);
        served.ask(&modern).is(405);
    }
    let get = Asked::new("GET", "/mcp").key(&key).header("Mcp-Session-Id", &session);
    served.ask(&get.header("Accept", "application/json")).is(406);
}
