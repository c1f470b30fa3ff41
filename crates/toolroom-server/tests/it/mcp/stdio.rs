//! `toolroom mcp serve`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::place::{LEGACY, MODERN};
use crate::home::Home;
use crate::processes::until;

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
fn a_client_that_starts_us_is_offered_no_answer_about_later_calls() {
    let mut started = Started::new();
    let notes = started.home.path().join("notes");
    let call = |id: u64, brought: Value| {
        let mut params = json!({
            "name": "app__publish_note",
            "arguments": {"path": notes, "text": "mine"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            },
        });
        params.as_object_mut().unwrap().extend(brought.as_object().unwrap().clone());
        line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    };
    let says = |answer: &str, asked: &Value| {
        json!({
            "inputResponses": {"approval": {"action": "accept", "content": {"answer": answer}}},
            "requestState": asked["requestState"],
        })
    };
    started.say(&call(1, json!({})));
    let mut asked = started.hear()["result"].clone();
    let form = &asked["inputRequests"]["approval"]["params"]["requestedSchema"];
    assert_eq!(form["properties"]["answer"]["enum"], json!(["once", "no", "edit"]), "{asked}");
    started.say(&call(2, says("always", &asked)));
    asked = started.hear()["result"].clone();
    assert!(!notes.exists() && asked["resultType"] == "input_required", "{asked}");
    started.say(&call(3, says("once", &asked)));
    assert!(started.hear()["result"]["isError"].is_null());
    assert_eq!(std::fs::read_to_string(&notes).unwrap().lines().count(), 1);
    started.say(&call(4, json!({})));
    assert_eq!(started.hear()["result"]["resultType"], "input_required", "the next one asks anew");
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
fn both_eras_share_a_connection_and_invalid_messages_do_no_harm() {
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
fn a_call_is_cancelled_by_what_comes_right_behind_it() {
    let mut started = Started::new();
    started.hello();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let call = line(&call(1, "app__countdown", &json!({"seconds": 60})));
    started.say(&format!("{call}{}", line(&cancel)));
    started.say(&line(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})));
    assert_eq!(started.hear()["id"], 2);
    until(|| matches!(started.home.journal().as_slice(), [row] if row["status"] == "cancelled"));
    assert_eq!(started.ends(), "");
}

#[test]
fn an_id_is_for_one_request_at_a_time() {
    let mut started = Started::new();
    started.hello();
    let count = |seconds: u32| line(&call(1, "app__countdown", &json!({"seconds": seconds})));
    started.say(&format!("{}{}", count(2), count(0)));
    let refused = started.hear();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)), "{refused}");
    assert_eq!(started.hear()["result"]["content"][0]["text"], "lift-off");
    started.say(&count(0));
    assert_eq!(started.hear()["result"]["content"][0]["text"], "lift-off");
}

#[test]
fn a_task_ends_before_we_do() {
    let mut started = Started::new();
    let mut call = call(1, "app__countdown", &json!({"seconds": 3}));
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    started.say(&line(&call));
    assert_eq!(started.hear()["result"]["resultType"], "task");
    drop(started.said.take());
    assert!(started.child.wait().unwrap().success());
    assert_eq!(started.home.journal()[0]["status"], "done");
}

#[test]
fn the_last_message_needs_no_line_break() {
    let mut started = Started::new();
    started.hello();
    started.say(line(&call(1, "echo", &json!({"text": "x"}))).trim_end());
    let rest = started.ends();
    assert!(rest.contains("\"id\":1") && rest.contains("\"text\":\"x\""), "{rest}");
}

#[test]
fn invalid_responses_are_not_answered_and_invalid_bytes_are() {
    let mut started = Started::new();
    started.hello();
    for answer in [
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}, "error": {}}),
        json!({"jsonrpc": "2.0", "id": 9}),
    ] {
        started.say(&line(&answer));
    }
    started
        .said
        .as_mut()
        .unwrap()
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n")
        .unwrap();
    assert_eq!(started.hear()["error"]["code"], -32700);
    // A line that is too long is refused, also when all of it comes at once.
    started.say(&format!("\"{}\"\n", "x".repeat(4 << 20)));
    assert_eq!(started.hear()["error"]["code"], -32600);
    started.say(&line(&call(5, "echo", &json!({"text": "y"}))));
    assert_eq!(started.hear()["id"], 5);
}

#[test]
fn a_second_initialize_ends_the_first_session() {
    let mut started = Started::new();
    for _ in 0..2 {
        started.hello();
        started.say(&line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})));
    }
    started.say(&line(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})));
    assert!(started.hear()["result"]["tools"].is_array());
    started.home.run_own(&["tools", "disable", "calculator"]).ended(0);
    assert_eq!(started.hear()["method"], "notifications/tools/list_changed");
    started.home.run_own(&["tools", "list"]).ended(0);
    started.say(&line(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})));
    assert_eq!(started.hear()["id"], 2);
}

#[test]
fn a_client_that_does_not_read_does_not_delay_the_end() {
    let mut started = Started::new();
    started.say(&"x\n".repeat(20_000));
    assert_eq!(started.hear()["error"]["code"], -32700);
    kill_process(Pid::from_child(&started.child), Signal::TERM).unwrap();
    assert!(started.child.wait().unwrap().success());
}

#[test]
fn streams_are_given_back_as_they_were() {
    let home = Home::new();
    let ((input, said), (_heard, output)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let mut command = home.own_tools(&["mcp", "serve"]);
    command.stdin(input.try_clone().unwrap()).stdout(output.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    let is_waited_for = |flags: OFlags| !flags.contains(OFlags::NONBLOCK);
    until(|| !is_waited_for(fcntl_getfl(&input).unwrap()) && !is_waited_for(fcntl_getfl(&output).unwrap()));
    drop(said);
    assert!(child.wait().unwrap().success());
    assert!(is_waited_for(fcntl_getfl(&input).unwrap()) && is_waited_for(fcntl_getfl(&output).unwrap()));
}

#[test]
fn pending_responses_are_sent_after_the_end_of_the_input() {
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
