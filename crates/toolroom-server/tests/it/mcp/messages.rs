//! MCP over plain HTTP requests, and authentication.

use serde_json::{Value, json};

use super::place::{hello, legacy, modern, result, text};
use crate::home::Home;
use crate::processes::until;
use crate::serve::Served;
use crate::serve::stream::Stream;
use crate::serve::wire::Asked;

#[test]
fn a_client_without_a_key_is_referred_to_the_resource_metadata() {
    let served = Served::new();
    let reply = served.send("POST", "/mcp", "trk_prod_nothing", &json!({})).is(401);
    let challenge = reply.header("www-authenticate").unwrap();
    let url = format!("{}/.well-known/oauth-protected-resource/mcp", served.origin());
    assert!(challenge.contains(&format!("resource_metadata=\"{url}\"")), "{challenge}");
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let told = served.ask(&Asked::new("GET", path)).is(200).json();
        assert_eq!(told["resource"], format!("{}/mcp", served.origin()));
    }
    // Other paths have no such header.
    let reply = served.get("/v1/tools", "trk_prod_nothing").is(401);
    assert!(!reply.header("www-authenticate").unwrap().contains("resource_metadata"));
}

#[test]
fn a_page_of_another_origin_is_refused() {
    let served = Served::new();
    let key = served.key("local", "call");
    let asked = modern(&key, "tools/list", json!({})).header("Origin", "https://evil.example");
    served.ask(&asked).is(403);
}

#[test]
fn a_session_belongs_to_its_key_and_ends_when_it_is_ended() {
    let served = Served::new();
    let (key, other) = (served.key("local", "call"), served.key("local", "call"));
    let session = hello(&served, &key, &json!({}));
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    served.ask(&legacy(&key, &session, &ping)).is(200);
    served.ask(&legacy(&other, &session, &ping)).is(404);
    let end = |key: &str| Asked::new("DELETE", "/mcp").key(key).header("Mcp-Session-Id", &session);
    served.ask(&end(&other)).is(404);
    served.ask(&end(&key)).is(204);
    let reply = served.ask(&legacy(&key, &session, &ping)).is(404);
    assert_eq!(reply.json()["id"], 7);
    served.ask(&Asked::new("GET", "/mcp").key(&key).header("Mcp-Session-Id", &session)).is(404);
}

#[test]
fn results_and_agents_of_other_projects_are_not_there() {
    let served = Served::new();
    served.project("shop");
    let (ours, theirs) = (served.key("local", "call,read,manage"), served.key("shop", "call,read"));
    served.send("PUT", "/v1/agents/cook", &ours, &json!({"prompt": "You cook."})).is(200);
    let arguments = json!({"text": "a long result ", "times": 5_000});
    let long = modern(&ours, "tools/call", json!({"name": "app__repeat", "arguments": arguments}));
    let long = result(&served.ask(&long));
    let uri = long["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{long}")).to_owned();
    let read = |key: &str| served.ask(&modern(key, "resources/read", json!({"uri": uri})));
    let whole = result(&read(&ours));
    assert_eq!(whole["contents"][0]["text"].as_str().unwrap().len(), 70_000);
    assert_eq!(read(&theirs).json()["error"]["code"], -32602);
    // A key that may only call reads nothing that was kept.
    assert_eq!(read(&served.key("local", "call")).json()["error"]["code"], -32602);
    let listed = |key: &str, method: &str| result(&served.ask(&modern(key, method, json!({})))).to_string();
    assert!(
        listed(&ours, "resources/list").contains(&uri) && !listed(&theirs, "resources/list").contains(&uri)
    );
    assert!(
        listed(&ours, "prompts/list").contains("cook") && !listed(&theirs, "prompts/list").contains("cook")
    );
    let prompt = json!({"name": "cook", "arguments": {"message": "What is for dinner?"}});
    let prompt = result(&served.ask(&modern(&ours, "prompts/get", prompt)));
    assert_eq!(prompt["messages"][0]["content"]["text"], "You cook.\n\nWhat is for dinner?");
}

#[test]
fn a_whole_result_is_listed_however_much_came_after_it() {
    let served = Served::new();
    let key = served.key("local", "call,read");
    let call = |times: u32| {
        let arguments = json!({"text": "a long result ", "times": times});
        modern(&key, "tools/call", json!({"name": "app__repeat", "arguments": arguments}))
    };
    let long = result(&served.ask(&call(5_000)));
    let uri = long["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{long}")).to_owned();
    let mut wire = served.wire();
    for _ in 0..250 {
        wire.ask(&call(1)).is(200);
    }
    let listed = result(&served.ask(&modern(&key, "resources/list", json!({}))));
    assert!(listed.to_string().contains(&uri), "{listed}");
}

#[test]
fn a_tool_that_is_switched_off_is_not_offered_and_says_why_it_does_not_run() {
    let served = Served::new();
    let key = served.key("local", "call");
    let names = || {
        let listed = result(&served.ask(&modern(&key, "tools/list", json!({}))));
        let tools = listed["tools"].as_array().unwrap().clone();
        tools.into_iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Of a family one is offered.
    assert!(names().contains(&"read_file".to_owned()) && !names().contains(&"fs-read".to_owned()));
    served.home.run_own(&["tools", "disable", "calculator"]).ended(0);
    assert!(!names().contains(&"calculator".to_owned()));
    let call = modern(&key, "tools/call", json!({"name": "calculator", "arguments": {"expression": "1"}}));
    let denied = result(&served.ask(&call));
    assert!(denied["isError"] == true && text(&denied).starts_with("denied"), "{denied}");
}

#[test]
fn closing_the_stream_cancels_the_request() {
    let served = Served::new();
    let key = served.key("local", "call");
    let params = json!({"name": "app__countdown", "arguments": {"seconds": 60}});
    let mut wire = served.wire();
    wire.send(&modern(&key, "tools/call", params));
    served.has_begun(1);
    drop(wire);
    until(|| served.home.journal()[0]["status"] == "cancelled");
}

#[test]
fn a_notification_cancels_in_the_earlier_era_and_leaving_does_not() {
    let served = Served::new();
    let key = served.key("local", "call");
    let session = hello(&served, &key, &json!({}));
    let params =
        json!({"name": "app__countdown", "arguments": {"seconds": 60}, "_meta": {"progressToken": 3}});
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
    let mut stream = Stream::open(served.wire(), &legacy(&key, &session, &call));
    let sign = stream.next().unwrap().event;
    assert_eq!(sign["params"]["progressToken"], 3, "{sign}");
    drop(stream);
    let cancel = |id: Value| {
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        served.ask(&legacy(&key, &session, &message)).is(202);
    };
    served.has_begun(1);
    cancel(json!("b"));
    assert_eq!(served.home.journal()[0]["status"], "begun");
    cancel(json!("a"));
    until(|| served.home.journal()[0]["status"] == "cancelled");
}

#[test]
fn a_client_with_a_session_gets_notifications_before_the_response() {
    let served = Served::new();
    let key = served.key("local", "call");
    let session = hello(&served, &key, &json!({}));
    let params = json!({"name": "app__countdown", "arguments": {"seconds": 1}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    assert!(result(&served.ask(&legacy(&key, &session, &call)))["isError"].is_null());
    let level = json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": "info"}});
    served.ask(&legacy(&key, &session, &level)).is(200);
    let told = Stream::open(served.wire(), &legacy(&key, &session, &call)).rest();
    let methods: Vec<_> = told.iter().map(|told| told.event["method"].as_str()).collect();
    assert_eq!(methods.first(), Some(&Some("notifications/message")), "{methods:?}");
    assert!(told.last().unwrap().event["result"].is_object(), "{methods:?}");
}

#[test]
fn duplicate_headers_are_rejected() {
    let served = Served::new();
    let key = served.key("local", "call");
    let call = || modern(&key, "tools/call", json!({"name": "calculator", "arguments": {"expression": "1"}}));
    served.ask(&call()).is(200);
    for (name, value) in [
        ("Mcp-Name", "fs-write"),
        ("Mcp-Method", "tools/list"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Authorization", "Bearer trk_prod_other"),
        ("Content-Type", "application/json"),
    ] {
        let detail = served.ask(&call().header(name, value)).is(400).json()["detail"].clone();
        assert!(detail.as_str().unwrap().contains("more than once"), "{name}: {detail}");
    }
    served.ask(&call().header("X-Mine", "1").header("X-Mine", "2")).is(200);
}

#[test]
fn a_call_of_a_missing_servers_tool_gets_a_hint() {
    let home = Home::new();
    home.run_own(&["mcp", "add", "calm", "--no-start", "--", "true"]).ended(0);
    let served = Served::at(home);
    let key = served.key("local", "call");
    let call = modern(&key, "tools/call", json!({"name": "mcp__calm__work", "arguments": {}}));
    let message = served.ask(&call).json()["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains("toolroom mcp show calm"), "{message}");
}

#[test]
fn an_invalid_message_is_rejected() {
    let served = Served::new();
    let key = served.key("local", "call");
    for (body, code) in [("{", -32700), ("[]", -32600), ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600)] {
        let asked =
            Asked::new("POST", "/mcp").key(&key).header("Content-Type", "application/json").text(body);
        let reply = served.ask(&asked).is(400).json();
        assert_eq!(reply["error"]["code"], code, "{reply}");
    }
    served.ask(&Asked::new("POST", "/mcp").key(&key).text("{}")).is(415);
    // Before `initialize`.
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    served.send("POST", "/mcp", &key, &ping).is(400);
}
