//! A tool tells a caller no more than the caller's own requests would.

use serde_json::{Value, json};

use super::Served;
use crate::mcp::place::{hello, modern, result};
use crate::scripted_model::Line;

/// What the report says of the machine, and nothing else does: the canary.
fn is_told(served: &Served, text: &str) -> bool {
    text.contains("master key") || text.contains(&served.home.path().display().to_string())
}

#[test]
fn the_tool_doctor_tells_a_caller_no_more_than_its_route() {
    let served = Served::new();
    served.project("shop");
    served.home.run_own(&["projects", "set", "shop", "--host-tools", "on"]).ended(0);
    for (project, scopes, is_manager) in [
        ("local", "call", false),
        ("local", "call,read,chat,mint", false),
        ("local", "call,approve", false),
        ("shop", "call,read,manage", false),
        ("local", "call,manage", true),
    ] {
        let key = served.key(project, scopes);
        let route = served.get("/v1/doctor", &key);
        assert_eq!(
            (route.status == 200, is_told(&served, &route.body)),
            (is_manager, is_manager),
            "{scopes}"
        );
        let call = served.call(&key, "doctor", &json!({}));
        assert_eq!(is_told(&served, &call.body), is_manager, "{project} {scopes}: {}", call.body);
        let arguments = json!({"manages_machine": true});
        let claimed = json!({"tool": "doctor", "arguments": {}, "context": arguments});
        let claimed = served.send("POST", "/v1/calls", &key, &claimed);
        assert_eq!(is_told(&served, &claimed.body), is_manager, "{project} {scopes}: {}", claimed.body);
        let asked = modern(&key, "tools/call", json!({"name": "doctor", "arguments": {}}));
        let modern = served.ask(&asked).is(200);
        let session = hello(&served, &key, &json!({}));
        let message =
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "doctor"}});
        let legacy = served.ask(&crate::mcp::place::legacy(&key, &session, &message)).is(200);
        for reply in [modern, legacy] {
            assert_eq!(is_told(&served, &reply.body), is_manager, "{project} {scopes}: {}", reply.body);
            assert_eq!(result(&reply)["isError"] == json!(true), !is_manager, "{}", reply.body);
        }
        if !is_manager {
            assert!(call.body.contains("GET /v1/doctor"), "it says what to do: {}", call.body);
        }
    }
}

#[test]
fn an_agent_does_not_examine_the_machine_for_callers_who_may_only_chat() {
    let script = [Line::Calls("builtin__doctor", json!({})), Line::says("That is all.")];
    let (served, model) = Served::over(script, "");
    let key = served.key("local", "chat");
    let run =
        served.send("POST", "/v1/runs", &key, &json!({"message": "Is all well?", "wait": true})).is(200);
    assert!(run.body.contains("That is all."), "{}", run.body);
    let asked: Vec<Value> = model.asked();
    assert_eq!(asked.len(), 2);
    let told = asked[1]["messages"].to_string();
    assert!(told.contains("does not manage"), "the tool was called: {told}");
    assert!(!is_told(&served, &told), "{told}");
}
