//! The value of a stored secret, sent in every place where a caller may write something: it is kept and told nowhere. Names
//! that the owner gives to keys, projects and users are the owner's own words.

use serde_json::{Value, json};

use super::Served;
use super::served::SCOPES;
use super::wire::Asked;
use crate::canary::{Canary, files_below};
use crate::home::{Home, ran};
use crate::mcp::place::{hello, legacy, modern};
use crate::scripted_model::{Line, ScriptedModel};

#[test]
fn a_stored_secret_that_a_client_sends_is_kept_and_told_nowhere() {
    let (home, model) = (Home::new(), ScriptedModel::answers(|_| Line::says("Hello.")));
    model.is_set_up_in(home.path(), "");
    let served = Served::logged(home, &[]);
    let canary = Canary::new("sent");
    let value = canary.value.as_str();
    let key = served.key("local", &SCOPES.join(","));
    let parked = served.park(&key, "text");
    served.home.run_with_stdin(&["secrets", "set", "STORED"], value).ended(0);
    let encoded: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let ask = |method: &str, path: &str, body: Value| Asked::new(method, path).key(&key).json(&body);
    let calculator =
        || ask("POST", "/v1/calls", json!({"tool": "calculator", "arguments": {"expression": "1"}}));
    let note = json!({"path": served.notes(), "text": value});
    let condition = format!("args.text == '{value}'");
    let message = json!([{"id": value, "role": "user", "content": value}]);
    let client_tool = json!({"name": "paint", "description": value, "parameters": {"type": "object"}});
    let function = json!({"type": "function", "function": {"name": "paint", "description": value}});
    let mut requests = vec![
        ask("PUT", "/v1/agents/cook", json!({"prompt": value})),
        ask("PUT", "/v1/agents/cook", json!({"prompt": "x", "name": value})),
        ask("PUT", &format!("/v1/agents/{encoded}"), json!({"prompt": "x"})),
        ask("POST", "/v1/tokens", json!({"user": "ann", "agent": value})),
        ask("POST", "/v1/calls", json!({"tool": value})),
        ask("POST", "/v1/calls", json!({"tool": "calculator", "arguments": {"expression": value, value: 1}})),
        ask("POST", "/v1/calls", json!({"tool": "publish_note", "arguments": note})),
        ask("POST", "/v1/calls", json!({"tool": "calculator", "context": {value: value}})),
        calculator().header("Idempotency-Key", value),
        calculator().header("X-Request-Id", value),
        calculator().header("X-Request-Id", "cAnary.sent"),
        calculator().header("User-Agent", value),
        ask("POST", "/v1/runs", json!({"message": value, "wait": true})),
        ask("POST", "/v1/runs", json!({"message": "Hello", "agent": value, "wait": true})),
        ask("POST", "/v1/runs", json!({"message": "Hello", "model": format!("lab/{value}"), "wait": true})),
        ask("POST", "/v1/runs", json!({"message": "Hello", "conversation": value, "wait": true})),
        ask("POST", &format!("/v1/approvals/{parked}"), json!({"answer": "edit", "arguments": note})),
        ask("POST", &format!("/v1/approvals/{parked}"), json!({"answer": "never", "when": condition})),
        ask("POST", &format!("/v1/approvals/{encoded}"), json!({"answer": "no"})),
        ask("PUT", &format!("/v1/switches/{encoded}"), json!({"state": "off"})),
        ask("PUT", &format!("/v1/tools/{encoded}/state"), json!({"state": "off"})),
        ask("POST", "/v1/policy/explain", json!({"tool": value, "arguments": {"x": value}})),
        ask("GET", &format!("/v1/calls?tool={encoded}"), json!({})),
        ask("GET", &format!("/{encoded}"), json!({})),
        ask("POST", "/agui/default", json!({"threadId": value, "runId": value, "messages": message})),
        ask(
            "POST",
            "/agui/default",
            json!({"threadId": "u", "runId": "s", "messages": message, "tools": [client_tool]}),
        ),
        ask(
            "POST",
            "/v1/chat/completions",
            json!({"model": "default", "user": value, "messages": [{"role": "user", "content": value}], "tools": [function]}),
        ),
        modern(&key, "tools/call", json!({"name": value, "arguments": {}})),
        modern(&key, "tools/call", json!({"name": "calculator", "arguments": {"expression": value}})),
        modern(&key, "resources/read", json!({"uri": format!("toolroom://{encoded}")})),
    ];
    let session = hello(&served, &key, &json!({}));
    let params =
        json!({"name": "calculator", "arguments": {"expression": "1"}, "_meta": {"progressToken": value}});
    let call = json!({"jsonrpc": "2.0", "id": value, "method": "tools/call", "params": params});
    requests.push(legacy(&key, &session, &call));
    let client = json!({"name": value, "version": value});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    requests.push(ask(
        "POST",
        "/mcp",
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
    ));
    for request in &requests {
        assert!(served.ask(request).status < 500);
    }
    let mut told: Vec<(String, Vec<u8>)> = Vec::new();
    let paths = ["agents", "keys", "calls", "runs", "conversations", "approvals"];
    for path in paths.map(|path| format!("/v1/{path}")).into_iter().chain(["/metrics".to_owned()]) {
        let body = served.get(&path, &key).body;
        told.push((path, body.into_bytes()));
    }
    for words in
        [&["export", "-"][..], &["log", "--json"], &["keys", "--json"], &["backup", "create"], &["doctor"]]
    {
        let mut command = served.home.command(words);
        let ran = ran(command.current_dir(served.home.path()).output().unwrap());
        told.push((words.join(" "), [ran.out, ran.err].concat().into_bytes()));
    }
    let asked =
        model.asked().into_iter().map(|asked| ("the model".to_owned(), asked.to_string().into_bytes()));
    told.extend(asked);
    for file in files_below(served.home.path()) {
        told.push((file.display().to_string(), std::fs::read(&file).unwrap()));
    }
    let hits: Vec<String> = told.iter().filter_map(|(place, text)| canary.seen_in(place, text)).collect();
    assert!(hits.is_empty(), "{hits:#?}");
}
