//! Calls over HTTP: made, listed, stopped, parked, answered and gone on with.

use std::time::Instant;

use serde_json::{Value, json};

use super::served::Served;
use super::wire::Asked;
use crate::approvals::OPERATORS;
use crate::processes::until;

#[test]
fn a_call_ends_as_on_the_command_line() {
    let served = Served::new();
    let key = served.key("local", "read,call");
    let done = served.call(&key, "calculator", &json!({"expression": "17*23"})).is(200).json();
    assert_eq!((&done["outcome"], &done["result"]), (&json!("done"), &json!(391)), "{done}");
    let printed = served.home.run(&["call", "calculator", "expression=17*23", "--json"]).ended(0).json();
    let names = |document: &Value| document.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&done), names(&printed));
    let failed = served.call(&key, "calculator", &json!({"expression": "1/0"})).is(200).json();
    assert_eq!(failed["outcome"], "failed");
    let invalid = served.call(&key, "calculator", &json!({"expresion": "1"})).is(200).json();
    assert_eq!(invalid["error"]["kind"], "invalid_arguments");
    let unknown = served.call(&key, "calculater", &json!({})).is(404).json();
    assert_eq!((&unknown["outcome"], &unknown["error"]["kind"]), (&json!("failed"), &json!("not_found")));
    let body = json!({"tool": "countdown", "arguments": {"seconds": 30}, "timeout_ms": 20});
    let late = served.send("POST", "/v1/calls", &key, &body).is(200).json();
    assert_eq!(late["error"]["kind"], "timeout");
    for _ in 0..3 {
        served.call(&key, "lottery", &json!({})).is(200);
    }
    let often = served.call(&key, "lottery", &json!({})).is(429);
    assert_eq!(often.json()["error"]["kind"], "rate_limited");
    assert!(often.header("retry-after").unwrap().parse::<u64>().unwrap() > 60, "{often:?}");
    served.home.run(&["tools", "disable", "calculator"]).ended(0);
    assert_eq!(
        served.call(&key, "calculator", &json!({"expression": "1"})).is(200).json()["outcome"],
        "denied"
    );
}

#[test]
fn bodies_that_make_no_sense_are_refused_and_call_nothing() {
    let served = Served::new();
    let key = served.key("local", "call");
    let post = || Asked::new("POST", "/v1/calls").key(&key);
    served.ask(&post().text("{}")).refused(415, "unsupported_media_type");
    let as_json = || post().header("Content-Type", "application/json");
    for body in ["", "{", "[]", "{}", "{\"tool\": 1}", "{\"tool\": \"a\", \"arguments\": []}", "\u{0}"] {
        served.ask(&as_json().text(body)).refused(400, "bad_request");
    }
    let with = |name: &str, value: Value| {
        let mut body = json!({"tool": "calculator", "arguments": {"expression": "1"}});
        body[name] = value;
        served.send("POST", "/v1/calls", &key, &body)
    };
    with("timeout_ms", json!(0)).refused(400, "bad_request");
    with("timeout_ms", json!(86_400_001)).refused(400, "bad_request");
    with("context", json!({"note": "x".repeat(64 * 1024)})).refused(413, "too_large");
    with("arguments", json!({"expression": "1".repeat(4 * 1024 * 1024)})).refused(413, "too_large");
    served.ask(&Asked::new("PATCH", "/v1/calls").key(&key)).refused(405, "method_not_allowed");
    served.ask(&Asked::new("GET", "/v1/nothing").key(&key)).refused(404, "not_found");
    assert!(served.home.journal().is_empty());
}

#[test]
fn calls_are_listed_page_by_page() {
    let served = Served::new();
    let key = served.key("local", "read,call");
    let mut made: Vec<String> = (0..7)
        .map(|number| {
            let reply = served.call(&key, "calculator", &json!({"expression": number.to_string()}));
            reply.is(200).json()["call_id"].as_str().unwrap().to_owned()
        })
        .collect();
    made.reverse();
    served.call(&key, "repeat", &json!({"text": "a", "times": 1})).is(200);
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = served.get(&format!("/v1/calls?tool=calculator&limit=3{cursor}"), &key).is(200).json();
        let calls = page["calls"].as_array().unwrap();
        assert!(calls.len() <= 3);
        listed.extend(calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(listed, made);
    assert_eq!(served.get("/v1/calls?status=failed", &key).is(200).json()["calls"], json!([]));
    for query in ["limit=0", "limit=201", "limit=x", "cursor=%25", "status=odd", "since=now", "odd=1"] {
        served.get(&format!("/v1/calls?{query}"), &key).refused(400, "bad_request");
    }
}

#[test]
fn a_call_is_cancelled_by_request_and_when_its_client_disconnects() {
    let served = Served::new();
    let key = served.key("local", "read,call");
    let wait = Asked::new("POST", "/v1/calls").key(&key);
    let wait =
        wait.json(&json!({"tool": "countdown", "arguments": {"seconds": 3_000}, "timeout_ms": 3_000_000}));
    let begun = || {
        let list = served.get("/v1/calls?status=begun", &key).is(200).json();
        list["calls"].as_array().unwrap().first().map(|call| call["id"].as_str().unwrap().to_owned())
    };
    let mut wire = served.wire();
    wire.send(&wait);
    until(|| begun().is_some());
    let id = begun().unwrap();
    served.project("shop");
    let stranger = served.key("shop", "call");
    let cancel = |key: &str| served.send("POST", &format!("/v1/calls/{id}/cancel"), key, &json!({}));
    cancel(&stranger).refused(404, "not_found");
    assert_eq!(begun(), Some(id.clone()));
    cancel(&key).is(202);
    assert_eq!(wire.reply().is(200).json()["outcome"], "cancelled");
    cancel(&key).refused(409, "conflict");
    let mut wire = served.wire();
    wire.send(&wait);
    until(|| begun().is_some());
    let id = begun().unwrap();
    drop(wire);
    until(|| begun().is_none());
    assert_eq!(served.get(&format!("/v1/calls/{id}"), &key).is(200).json()["status"], "cancelled");
}

#[test]
fn an_answer_is_given_by_those_who_may_and_runs_nothing() {
    let served = Served::configured(OPERATORS);
    let (key, operator) = (served.key("local", "read,call"), served.key("local", "approve,call"));
    let (yes, no) = (served.park(&key, "yes"), served.park(&key, "no"));
    let place = |id: &str| format!("/v1/approvals/{id}");
    let answer = |key: &str, id: &str, body: Value| served.send("POST", &place(id), key, &body);
    let every = served.key("local", "read,call,chat,mint,manage");
    answer(&every, &yes, json!({"answer": "once"})).refused(403, "forbidden");
    let minting = served.key("local", "mint");
    let token = served.token(&minting, "ann");
    answer(&token, &yes, json!({"answer": "once"})).refused(404, "not_found");
    assert_eq!(served.get("/v1/approvals", &token).is(200).json()["approvals"], json!([]));
    let listed = served.get("/v1/approvals", &operator).is(200).json();
    let ids: Vec<&str> =
        listed["approvals"].as_array().unwrap().iter().map(|one| one["call_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&yes, &no]);
    let shown = served.get(&place(&yes), &operator).is(200).json();
    assert_eq!((&shown["by"], &shown["arguments"]["text"]), (&json!("operator"), &json!("yes")));
    let resume = |id: &str| served.ask(&Asked::new("POST", &format!("/v1/calls/{id}/resume")).key(&key));
    assert_eq!(resume(&yes).is(202).json()["outcome"], "pending");
    for odd in [
        json!({"answer": "maybe"}),
        json!({"answer": "edit"}),
        json!({"answer": "once", "arguments": {}}),
        json!({"answer": "once", "by": "operator"}),
        json!({"answer": "always", "when": "args.text =="}),
    ] {
        answer(&operator, &yes, odd).refused(400, "bad_request");
    }
    assert_eq!(served.written(), "");
    let given = answer(&operator, &yes, json!({"answer": "once"})).is(200).json();
    assert_eq!((&given["call_id"], &given["answer"]), (&json!(yes), &json!("once")));
    answer(&operator, &yes, json!({"answer": "no"})).refused(409, "conflict");
    answer(&operator, &no, json!({"answer": "no"})).is(200);
    assert_eq!(served.written(), "", "an answer runs nothing");
    assert_eq!(resume(&yes).is(200).json()["outcome"], "done");
    assert_eq!(resume(&no).is(200).json()["outcome"], "denied");
    resume(&yes).refused(409, "conflict");
    assert!(served.written().lines().count() == 1 && served.written().contains(&yes), "{}", served.written());
    let edited = served.park(&key, "draft");
    let arguments = json!({"path": served.notes(), "text": "final"});
    let edit = answer(&operator, &edited, json!({"answer": "edit", "arguments": arguments})).is(200).json();
    assert_eq!(edit["waits_for"], Value::Null, "{edit}");
    assert_eq!(resume(&edited).is(200).json()["call_id"], edit["replaced_by"]);
    assert!(served.written().contains("final") && !served.written().contains("draft"));
    let always = served.park(&key, "always");
    let given = answer(&operator, &always, json!({"answer": "always"})).is(200).json();
    assert!(given["standing"]["id"].is_string() && given["reach"]["of"].is_u64(), "{given}");
}

#[test]
fn fifty_calls_on_one_connection_do_not_stall() {
    let served = Served::new();
    let key = served.key("local", "call");
    let body = json!({"tool": "calculator", "arguments": {"expression": "1"}});
    let asked = Asked::new("POST", "/v1/calls").key(&key).json(&body);
    let mut wire = served.wire();
    wire.ask(&asked).is(200);
    let began = Instant::now();
    for _ in 0..50 {
        wire.ask(&asked).is(200);
    }
    // A stall of 40 ms for each would be two seconds beside everything else. It runs alone.
    assert!(began.elapsed().as_millis() < 2_000, "{:?}", began.elapsed());
}
