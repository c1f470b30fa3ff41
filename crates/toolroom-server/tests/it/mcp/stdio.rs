//! `toolroom mcp serve` for whoever started it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::place::{LEGACY, MODERN};
use crate::afoot::until;
use crate::home::Home;

/// A server that we started.
struct Started {
    home: Home,
    child: Child,
    said: Option<ChildStdin>,
    heard: BufReader<ChildStdout>,
}

impl Started {
    fn new() -> Self {
        let home = Home::new();
        let mut command = home.own_tools(&["mcp", "serve", "--fixtures"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (said, heard) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { home, child, said, heard }
    }

    fn say(&mut self, text: &str) {
        self.said.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.heard.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn hello(&mut self) {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client});
        self.say(&line(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})));
        assert_eq!(self.hear()["result"]["protocolVersion"], LEGACY);
    }

    /// Says nothing more; gives what is still told.
    fn ends(mut self) -> String {
        drop(self.said.take());
        let mut rest = String::new();
        self.heard.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}

fn call(id: u32, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[test]
fn many_calls_at_once_are_each_answered_once() {
    let mut started = Started::new();
    started.hello();
    let calls: String =
        (1..=200).map(|id| line(&call(id, "echo", &json!({"text": format!("n{id}")})))).collect();
    started.say(&calls);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 1..=200 {
        let answer = started.hear();
        let id = answer["id"].as_u64().unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], format!("n{id}"), "{answer}");
        assert!(seen.insert(id), "{id} was answered twice");
    }
    assert_eq!(started.ends(), "");
}

#[test]
fn both_eras_are_spoken_on_one_line_and_what_is_no_message_harms_nobody() {
    let mut started = Started::new();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
    });
    started.say(&line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})));
    assert_eq!(started.hear()["error"]["code"], -32602);
    started.say("nonsense\n\n");
    assert_eq!(started.hear()["error"]["code"], -32700);
    started.say(&line(
        &json!({"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": {"_meta": meta}}),
    ));
    assert_eq!(started.hear()["result"]["supportedVersions"], json!([MODERN]));
    let mut modern = call(3, "echo", &json!({"text": "x"}));
    modern["params"]["_meta"] = meta;
    started.say(&line(&modern));
    assert_eq!(started.hear()["result"]["resultType"], "complete");
    started.hello();
    started.say(&line(&call(4, "echo", &json!({"text": "x"}))));
    assert_eq!(started.hear()["result"], json!({"content": [{"type": "text", "text": "x"}]}));
    let long = "x".repeat(5 << 20);
    started.say(&format!("{long}\n"));
    assert_eq!(started.hear()["error"]["code"], -32600);
    started.say(&line(&call(5, "echo", &json!({"text": "y"}))));
    assert_eq!(started.hear()["id"], 5);
}

#[test]
fn a_call_that_is_cancelled_is_not_answered() {
    let mut started = Started::new();
    started.hello();
    started.say(&line(&call(1, "app__countdown", &json!({"seconds": 60}))));
    until(|| started.home.journal().iter().any(|row| row["status"] == "begun"));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    started.say(&line(&cancel));
    until(|| started.home.journal()[0]["status"] == "cancelled");
    assert_eq!(started.ends(), "");
}

#[test]
fn what_was_asked_for_is_told_to_whoever_says_nothing_more() {
    let mut started = Started::new();
    started.hello();
    started.say(&line(&call(1, "app__countdown", &json!({"seconds": 1}))));
    let rest = started.ends();
    let answer: Value = serde_json::from_str(&rest).unwrap_or_else(|error| panic!("{error}: {rest:?}"));
    assert_eq!(answer["result"]["content"][0]["text"], "lift-off");
}

#[test]
fn a_client_hears_when_the_tools_change() {
    let mut started = Started::new();
    started.hello();
    started.say(&line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})));
    // What it is told from now on is a change.
    started.say(&line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})));
    assert!(started.hear()["result"]["tools"].is_array());
    started.home.run_own(&["tools", "disable", "calculator"]).ended(0);
    assert_eq!(started.hear()["method"], "notifications/tools/list_changed");
}
