//! What a client says of its user and situation is kept and told like arguments: without anything secret.

use serde_json::{Value, json};

use super::Served;
use crate::canary::files_below;
use crate::home::{Home, ran};
use crate::scripted_model::{Line, ScriptedModel};

/// What looks like a secret in the context of a client: the canaries.
const TOKEN: &str = "ghp_k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5tA1b2";
const PASSWORD: &str = "Tr0ub4dor-3x9";
const STORED: &str = "correct/horse/battery";

fn context() -> Value {
    json!({
        "user": {"name": "Ann of Context", "token": TOKEN},
        "password": PASSWORD,
        "note": format!("the stored one is {STORED}"),
        "dsn": format!("postgres://ann:{PASSWORD}@db.example/shop"),
    })
}

#[test]
fn nothing_secret_of_the_context_of_a_run_is_kept_or_told() {
    let script = (0..3).map(|_| Line::says("Hello Ann."));
    let (home, model) = (Home::new(), ScriptedModel::starts(script));
    model.is_set_up_in(home.path(), "");
    let served = Served::logged(home, &[]);
    served.home.run_with_stdin(&["secrets", "set", "STORED"], STORED).ended(0);
    let key = served.key("local", "chat,call,read");
    let mut told = Vec::new();
    let message = json!({"message": "Hello", "wait": true, "context": context()});
    let run = served.send("POST", "/v1/runs", &key, &message).is(200);
    let id = run.json()["id"].as_str().unwrap().to_owned();
    told.push(run.body);
    let input = json!({
        "threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "Hello"}],
        "state": context(), "tools": [], "forwardedProps": context(),
        "context": [{"description": "who", "value": context().to_string()}],
    });
    served.send("POST", "/agui/default", &key, &input).is(200);
    let system = format!("password: {PASSWORD}, token {TOKEN}, {STORED}");
    let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": "Hello"}]);
    let completion = json!({"model": "default", "messages": messages});
    told.push(served.send("POST", "/v1/chat/completions", &key, &completion).is(200).body);
    let call = |tool: &str, arguments: Value| {
        let body = json!({"tool": tool, "arguments": arguments, "context": context()});
        served.send("POST", "/v1/calls", &key, &body).body
    };
    told.push(call("calculator", json!({"expression": "6*7"})));
    told.push(call("publish_note", json!({"path": served.notes(), "text": "x"})));
    let paths = ["/v1/runs", "/v1/calls", "/v1/conversations", "/v1/approvals"].map(str::to_owned);
    for path in paths.into_iter().chain([format!("/v1/runs/{id}"), format!("/v1/runs/{id}/events")]) {
        told.push(served.get(&path, &key).body);
    }
    for words in [
        &["runs", "--json"][..],
        &["runs", "show", &id, "--json"],
        &["log", "--json", "--limit", "1000"],
        &["conversations", "--json"],
        &["export", "-"],
        &["backup", "create"],
    ] {
        let mut command = served.home.command(words);
        let ran = ran(command.current_dir(served.home.path()).output().unwrap());
        told.extend([ran.out, ran.err]);
    }
    told.extend(model.asked().iter().map(Value::to_string));
    for file in files_below(served.home.path()) {
        told.push(String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned());
    }
    assert!(told.iter().filter(|text| text.contains("Ann of Context")).count() >= 2, "the context is kept");
    for secret in [TOKEN, PASSWORD, STORED] {
        let hit = told.iter().find(|text| text.contains(secret));
        assert!(hit.is_none(), "{secret} in {}", hit.map_or("", |text| &text[..text.len().min(2_000)]));
    }
}
