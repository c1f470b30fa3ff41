//! Remote users: REST, AG-UI, and MCP over HTTP.

use std::process::Stdio;

use serde_json::{Value, json};

use super::stand_in::{CANARY, StandIn};
use crate::home::{Home, ran};
use crate::mcp::place::hello;
use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;
use crate::serve::stream::events;
use crate::serve::wire::Asked;

/// A server inside a desktop session, whose programs must not be called.
fn served(desk: &StandIn) -> Served {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("workspace")).unwrap();
    served_at(home, desk)
}

fn served_at(home: Home, desk: &StandIn) -> Served {
    let variables = desk.variables();
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .chain([("TOOLROOM_LOG_LEVEL", "warn")])
        .collect();
    Served::started(home, &[], Stdio::inherit(), &variables)
}

fn put(served: &Served, path: &str, content: &str) {
    let place = served.home.path().join("workspace").join(path);
    std::fs::write(place, content).unwrap();
}

#[test]
fn over_rest_everything_is_offered() {
    let desk = StandIn::new();
    let served = served(&desk);
    let key = served.key("local", "read,call");
    let done = served.call(&key, "open_url", &json!({"url": "https://example.com/x"})).is(200).json();
    assert_eq!(done["offers"], json!([{"type": "open_url", "url": "https://example.com/x"}]), "{done}");
    assert_eq!(
        (&done["result"]["success"], &done["result"]["url"]),
        (&json!(true), &json!("https://example.com/x"))
    );

    put(&served, "grüße, 一.html", "<script>alert(1)</script>");
    let done = served.call(&key, "open_file", &json!({"path": "grüße, 一.html"})).is(200).json();
    let offer = &done["offers"][0];
    assert_eq!(
        (&offer["type"], &offer["media_type"], &offer["bytes"]),
        (&json!("open_file"), &json!("text/html"), &json!(25))
    );
    assert_eq!(
        (&offer["name"], &offer["artifact"]),
        (&json!("grüße, 一.html"), &done["result"]["artifact"]),
        "{done}"
    );
    let content = served.get(offer["href"].as_str().unwrap(), &key).is(200);
    assert_eq!(content.body, "<script>alert(1)</script>");
    let named = "attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe%2C%20%E4%B8%80.html";
    assert_eq!(content.header("content-disposition"), Some(named));
    assert_eq!(content.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(content.header("content-security-policy"), Some("sandbox"));
    assert_eq!(content.header("content-type"), Some("text/html"));

    put(&served, "data.bin", "0123456789");
    let arguments = json!({"path": "data.bin", "caption": "the figures"});
    let done = served.call(&key, "send_file", &arguments).is(200).json();
    let (offer, result) = (&done["offers"][0], &done["result"]);
    assert_eq!((&offer["type"], &offer["caption"]), (&json!("save_file"), &json!("the figures")), "{done}");
    assert_eq!(
        (&result["size"], &result["sent"], &result["path"]),
        (&json!(10), &json!(true), &json!("data.bin"))
    );
    let part = Asked::new("GET", offer["href"].as_str().unwrap()).key(&key).header("Range", "bytes=2-4");
    assert_eq!(served.ask(&part).is(206).body, "234");

    // A key that may call and not read gets no content, and another project gets nothing.
    let href = offer["href"].as_str().unwrap();
    served.get(href, &served.key("local", "call")).refused(403, "forbidden");
    served.project("shop");
    served.get(href, &served.key("shop", "read")).refused(404, "not_found");
    desk.is_untouched();
}

#[test]
fn a_name_cannot_inject_headers_or_folders() {
    let desk = StandIn::new();
    let served = served(&desk);
    let key = served.key("local", "read,call");
    put(&served, "a.txt", "x");
    let done = served.call(&key, "send_file", &json!({"path": "a.txt"})).is(200).json();
    let artifact = done["result"]["artifact"].as_str().unwrap();
    for (name, told) in [
        ("a%0d%0aSet-Cookie:%20a=1", "aSet-Cookie%3A%20a%3D1"),
        ("..%2f..%2f.bashrc", "bashrc"),
        ("%22%3b%20filename=x.exe", "%22%3B%20filename%3Dx.exe"),
        ("", "file"),
    ] {
        let reply = served.get(&format!("/v1/artifacts/{artifact}/content?name={name}"), &key).is(200);
        let expected = format!("attachment; filename*=UTF-8''{told}");
        assert_eq!(reply.header("content-disposition"), Some(expected.as_str()), "{name}");
        assert_eq!(reply.header("set-cookie"), None);
    }
    served.get(&format!("/v1/artifacts/{artifact}/content?title=x"), &key).refused(400, "bad_request");
}

#[test]
fn no_file_outside_the_workspace_is_sent() {
    let desk = StandIn::new();
    let served = served(&desk);
    let key = served.key("local", "read,call");
    let secret = served.home.path().join("secret.html");
    std::fs::write(&secret, CANARY).unwrap();
    std::os::unix::fs::symlink(&secret, served.home.path().join("workspace/link.html")).unwrap();
    let big = std::fs::File::create(served.home.path().join("workspace/big.bin")).unwrap();
    big.set_len(50 * 1024 * 1024 + 1).unwrap();
    let calls = [
        ("open_file", json!({"path": "../secret.html"})),
        ("open_file", json!({"path": "link.html"})),
        ("open_file", json!({"path": secret.to_str().unwrap()})),
        ("open_url", json!({"url": format!("file://{}", secret.display())})),
        ("open_url", json!({"url": "javascript:alert(1)"})),
        ("send_file", json!({"path": "../toolroom.db"})),
        ("send_file", json!({"path": "link.html"})),
        ("send_file", json!({"path": "big.bin"})),
    ];
    for (tool, arguments) in calls {
        let failed = served.call(&key, tool, &arguments).is(200);
        assert!(!failed.body.contains(CANARY), "{failed:?}");
        let told = failed.json();
        assert_eq!((&told["outcome"], told.get("offers")), (&json!("failed"), None), "{told}");
    }
    let limit = served.call(&key, "send_file", &json!({"path": "big.bin"})).is(200).json();
    assert!(limit["error"]["message"].as_str().unwrap().contains("52428800"), "{limit}");
    desk.is_untouched();
}

#[test]
fn a_file_with_a_secret_is_sent_redacted() {
    let desk = StandIn::new();
    let served = served(&desk);
    let key = served.key("local", "read,call");
    put(&served, "notes.txt", &format!("the token is {CANARY}."));
    // The server has it in a variable with a secret's name.
    let done = served.call(&key, "send_file", &json!({"path": "notes.txt"})).is(200).json();
    let offer = &done["offers"][0];
    let content = served.get(offer["href"].as_str().unwrap(), &key).is(200);
    assert!(!content.body.contains(CANARY) && content.body.starts_with("the token is "), "{content:?}");
    assert_eq!(offer["bytes"], json!(content.body.len()));
    let url = format!("https://example.com/?t={CANARY}");
    let done = served.call(&key, "open_url", &json!({"url": url})).is(200);
    assert!(!done.body.contains(CANARY), "{done:?}");
}

#[test]
fn an_ag_ui_client_gets_an_offer_after_the_result_and_again_after_a_restart() {
    let home = Home::new();
    let script = [
        Line::CallsAll(vec![
            ("open_url", json!({"url": "https://example.com/"})),
            ("send_file", json!({"path": "a.txt", "caption": "here"})),
        ]),
        Line::says("There you are."),
    ];
    let model = ScriptedModel::starts(script);
    model.is_set_up_in(home.path(), "");
    let desk = StandIn::at(home);
    desk.file("a.txt", "hello");
    let other = StandIn::new();
    let mut served = served_at(desk.home, &other);
    let key = served.key("local", "read,chat,call");
    let said = json!([{"id": "u", "role": "user", "content": "open it, and send me the file"}]);
    let input = json!({"threadId": "t", "runId": "r", "messages": said});
    let told = served.send("POST", "/agui/default", &key, &input).is(200);
    let events: Vec<Value> = events(&told.body).into_iter().map(|told| told.event).collect();
    let places = |kind: &str, call: &str| {
        let is_it = |event: &&Value| {
            event["type"] == kind
                && [&event["toolCallId"], &event["value"]["toolCallId"]].contains(&&json!(call))
        };
        events.iter().position(|event| is_it(&event)).unwrap_or_else(|| panic!("{kind} {call}: {events:?}"))
    };
    for call in ["call_open_url", "call_send_file_1"] {
        assert_eq!(places("CUSTOM", call), places("TOOL_CALL_RESULT", call) + 1, "{events:?}");
    }
    let offer = &events[places("CUSTOM", "call_send_file_1")];
    assert_eq!((&offer["name"], &offer["value"]["type"]), (&json!("toolroom.offer"), &json!("save_file")));
    let href = offer["value"]["href"].as_str().unwrap().to_owned();
    assert_eq!(served.get(&href, &key).is(200).body, "hello");
    assert!(model.asked()[1].to_string().contains("offered to the client"));

    // It is stored with the run.
    served.ends();
    served.starts_again();
    let runs = served.get("/v1/runs", &key).is(200).json();
    let run = runs["runs"][0]["id"].as_str().unwrap();
    let again = served.get(&format!("/v1/runs/{run}/events"), &key).is(200).body;
    assert!(again.contains(&format!("\"href\":\"{href}\"")), "{again}");
    assert!(
        again.contains("\"offers\":[{\"type\":\"open_url\",\"url\":\"https://example.com/\"}]"),
        "{again}"
    );
    assert_eq!(served.get(&href, &key).is(200).body, "hello");
    other.is_untouched();
}

#[test]
fn an_end_user_gets_only_the_files_offered_to_them() {
    let home = Home::new();
    let script = [
        Line::CallsAll(vec![
            ("send_file", json!({"path": "a.txt"})),
            ("repeat", json!({"text": "a long result ", "times": 5_000})),
        ]),
        Line::says("There you are."),
    ];
    let model = ScriptedModel::starts(script);
    model.is_set_up_in(home.path(), "[agent.other]\n");
    let desk = StandIn::at(home);
    desk.file("a.txt", "hello");
    let other = StandIn::new();
    let served = served_at(desk.home, &other);
    let (minting, reading) = (served.key("local", "mint,chat"), served.key("local", "read"));
    let (ann, bob) = (served.token(&minting, "ann"), served.token(&minting, "bob"));
    let message = json!({"message": "send me the file", "stream": true});
    let told = served.send("POST", "/v1/runs", &ann, &message).is(200);
    let ended: Vec<Value> = events(&told.body).into_iter().map(|told| told.event).collect();
    let ended = |tool: &str| {
        let is_it = |event: &&Value| event["type"] == "call_ended" && event["tool"] == tool;
        ended.iter().find(is_it).unwrap_or_else(|| panic!("{tool} has not ended"))
    };
    let offer = &ended("builtin:send_file")["offers"][0];
    let href = offer["href"].as_str().unwrap_or_else(|| panic!("{offer}"));
    let reply = served.get(href, &ann).is(200);
    assert_eq!((reply.body.as_str(), reply.header("content-type")), ("hello", Some("text/plain")));

    // Other users do not, nor the same person with a token for another agent.
    served.get(href, &bob).refused(404, "not_found");
    served.get(href, &served.token_for(&minting, "ann", "other")).refused(404, "not_found");
    served.get(href, &minting).refused(403, "forbidden");
    // Other artifacts of their calls are for keys with read access.
    let whole = ended("app:repeat")["artifact"].as_str().unwrap();
    let whole = format!("/v1/artifacts/{whole}/content");
    served.get(&whole, &ann).refused(404, "not_found");
    served.get(&whole, &reading).is(200);
    served.get(href.split("/content").next().unwrap(), &ann).refused(403, "forbidden");
}

#[test]
fn an_mcp_client_over_http_is_remote() {
    let desk = StandIn::new();
    let served = served(&desk);
    let key = served.key("local", "read,call");
    let session = hello(&served, &key, &json!({}));
    put(&served, "a.txt", "hello");
    let call = |name: &str, arguments: Value| {
        let message = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments},
        });
        let asked =
            Asked::new("POST", "/mcp").key(&key).header("Accept", "application/json, text/event-stream");
        let asked = asked.header("MCP-Protocol-Version", "2025-11-25").header("Mcp-Session-Id", &session);
        served.ask(&asked.json(&message)).is(200).body
    };
    assert!(call("open_url", json!({"url": "https://example.com/"})).contains("offered to the client"));
    assert!(call("send_file", json!({"path": "a.txt"})).contains("art_"));
    desk.is_untouched();
}

#[test]
fn after_reading_the_web_it_asks_before_opening_or_sending() {
    let desk = StandIn::new();
    desk.file("a.txt", "x");
    for call in [&["open_url", "url=https://example.com/?q=1"][..], &["send_file", "path=a.txt"]] {
        let words = ["--no-input", "--provenance", "private,untrusted"];
        desk.run(&[&["call"], call, &words].concat()).ended(4);
    }
    desk.is_untouched();
}

#[test]
fn a_remote_request_stays_remote_when_it_is_resumed() {
    let (home, desk) = (Home::new(), StandIn::new());
    let rule = "[[rule]]\nid = \"see\"\neffect = \"ask\"\ntool = \"builtin:open_url\"\nreason = \"to see\"\n";
    std::fs::write(home.path().join("toolroom.toml"), rule).unwrap();
    let served = served_at(home, &desk);
    let key = served.key("local", "read,call");
    let parked = served.call(&key, "open_url", &json!({"url": "https://example.com/"})).is(202).json();
    let call = parked["call_id"].as_str().unwrap();
    served.home.run(&["approvals", "approve", call]).ended(0);
    // A local user resumes it, and it is still for the remote one.
    let mut command = served.home.command(&["call", "--resume", call, "--json"]);
    let done = ran(command.envs(desk.variables()).output().unwrap()).ended(0).json();
    assert_eq!(done["offers"], json!([{"type": "open_url", "url": "https://example.com/"}]), "{done}");
    desk.is_untouched();
}
