//! Requests that are sent twice and done once.

use serde_json::{Value, json};

use super::served::{SCOPES, Served};
use super::wire::{Asked, Reply};
use crate::processes::until;
use crate::scripted_model::Line;

fn append(served: &Served, key: &str, name: &str, text: &str) -> Asked {
    let arguments = json!({"path": served.notes(), "text": text});
    let asked = Asked::new("POST", "/v1/calls").key(key).header("Idempotency-Key", name);
    asked.json(&json!({"tool": "append_note", "arguments": arguments}))
}

/// A toolroom in which notes are appended unasked.
fn served() -> Served {
    Served::configured("[policy]\npreset = 'open'\n")
}

#[test]
fn the_same_request_under_the_same_name_is_done_once() {
    let served = served();
    let (key, other) = (served.key("local", "call"), served.key("local", "call,read"));
    let ask = |key: &str, name: &str, text: &str| served.ask(&append(&served, key, name, text));
    let first = ask(&key, "n1", "one").is(200);
    assert_eq!((first.header("idempotent-replayed"), &first.json()["outcome"]), (None, &json!("done")));
    let again = ask(&key, "n1", "one").is(200);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    ask(&key, "n1", "two").refused(422, "name_taken");
    assert_eq!(served.written().lines().count(), 1);
    // Each caller has its own keys, and a request without one is never replayed.
    ask(&other, "n1", "three").is(200);
    ask(&key, "n2", "one").is(200);
    assert_eq!(served.written().lines().count(), 3);
    for odd in ["", &"x".repeat(201), "ü"] {
        ask(&key, odd, "odd").refused(400, "bad_request");
    }
    // What was refused may be mended and sent again under its name.
    let refused = Asked::new("POST", "/v1/calls").key(&key).header("Idempotency-Key", "n3").json(&json!({}));
    served.ask(&refused).refused(400, "bad_request");
    ask(&key, "n3", "four").is(200);
    assert_eq!(served.written().lines().count(), 4);
}

#[test]
fn a_message_that_is_sent_twice_is_one_run() {
    let served = served();
    let key = served.key("local", "chat");
    let ask = |name: &str, body: Value| {
        served.ask(&Asked::new("POST", "/v1/runs").key(&key).header("Idempotency-Key", name).json(&body))
    };
    let message = |more: Value| {
        let mut body = json!({"message": "What is 6*7?"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (name, more, status) in [("begun", json!({}), 202), ("waited-for", json!({"wait": true}), 200)] {
        let first = ask(name, message(more.clone())).is(status);
        let again = ask(name, message(more)).is(status);
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    }
    let streamed = ask("streamed", message(json!({"stream": true}))).refused(400, "bad_request");
    let detail = streamed.json()["detail"].to_string();
    assert!(detail.contains("Idempotency-Key"), "{detail}");
    let runs = served.get("/v1/runs", &key).is(200).json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{runs}");
}

#[test]
fn one_key_for_two_agents_is_two_requests() {
    let (served, _model) = Served::over((1..=4).map(|n| Line::says(&format!("Answer {n}."))), "");
    let manager = served.key("local", "manage,mint,chat");
    for agent in ["cook", "bank"] {
        served.send("PUT", &format!("/v1/agents/{agent}"), &manager, &json!({"prompt": "You help."})).is(200);
    }
    // One user with a token for each of two agents sends both the same message with the same key.
    let tokens = ["cook", "bank"].map(|agent| (agent, served.token_for(&manager, "ann", agent)));
    let ask = |key: &str, body: Value| {
        served
            .ask(&Asked::new("POST", "/v1/runs").key(key).header("Idempotency-Key", "n1").json(&body))
            .is(200)
    };
    let hello = json!({"message": "Hello", "wait": true});
    let replies = tokens.map(|(agent, token)| {
        let (first, again) = (ask(&token, hello.clone()), ask(&token, hello.clone()));
        assert_eq!(
            (first.header("idempotent-replayed"), first.json()["agent"].as_str()),
            (None, Some(agent))
        );
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
        first.body
    });
    assert_ne!(replies[0], replies[1]);
    let mut answers = Vec::new();
    for agent in ["cook", "bank"] {
        let reply = ask(&manager, json!({"message": "Hello", "wait": true, "agent": agent}));
        assert_eq!(
            (reply.header("idempotent-replayed"), reply.json()["agent"].as_str()),
            (None, Some(agent))
        );
        answers.push(reply.json()["id"].clone());
    }
    assert_ne!(answers[0], answers[1]);
}

#[test]
fn of_requests_with_one_key_at_once_one_runs() {
    let served = served();
    let key = served.key("local", "call");
    for round in 0..5 {
        let asked = append(&served, &key, &format!("round {round}").replace(' ', "-"), "once");
        let mut wires: Vec<_> = (0..4).map(|_| served.wire()).collect();
        wires.iter_mut().for_each(|wire| wire.send(&asked));
        let replies: Vec<Reply> = wires.iter_mut().map(super::wire::Wire::reply).collect();
        for reply in &replies {
            match reply.status {
                200 => assert_eq!(reply.json()["outcome"], "done"),
                _ => drop(reply.clone().refused(409, "in_progress")),
            }
        }
        assert!(replies.iter().any(|reply| reply.status == 200), "{replies:?}");
        assert_eq!(served.written().lines().count(), round + 1);
    }
}

#[test]
fn a_request_with_a_key_continues_when_its_client_disconnects() {
    let served = served();
    let key = served.key("local", "read,call");
    let wait = Asked::new("POST", "/v1/calls").key(&key).header("Idempotency-Key", "slow");
    let wait = wait.json(&json!({"tool": "countdown", "arguments": {"seconds": 1}}));
    let with_status = |status: &str| {
        let list = served.get(&format!("/v1/calls?status={status}"), &key).is(200).json();
        list["calls"].as_array().unwrap().len()
    };
    let mut wire = served.wire();
    wire.send(&wait);
    until(|| with_status("begun") == 1);
    drop(wire);
    until(|| with_status("done") == 1);
    until(|| served.ask(&wait).status == 200);
    let again = served.ask(&wait).is(200);
    assert_eq!(
        (again.header("idempotent-replayed"), &again.json()["result"]),
        (Some("true"), &json!("lift-off"))
    );
}

#[test]
fn a_claimed_key_is_worked_on_however_early_its_client_disconnects() {
    let served = served();
    let key = served.key("local", "call");
    for number in 0..20 {
        let asked = append(&served, &key, &format!("early-{number}"), "one");
        let mut wire = served.wire();
        wire.send(&asked);
        drop(wire);
        until(|| served.ask(&asked).status == 200);
    }
    assert_eq!(served.written().lines().count(), 20);
}

#[test]
fn a_request_with_a_key_ends_in_order_before_the_server_does() {
    let mut served = served();
    let key = served.key("local", "call");
    let wait = Asked::new("POST", "/v1/calls").key(&key).header("Idempotency-Key", "slow");
    let mut wire = served.wire();
    wire.send(&wait.json(&json!({"tool": "countdown", "arguments": {"seconds": 2}})));
    served.has_begun(1);
    drop(wire);
    served.ends();
    assert_eq!(served.home.journal()[0]["status"], "done");
}

#[test]
fn an_api_key_that_was_replayed_is_stored_nowhere() {
    let served = served();
    let manager = served.key("local", &SCOPES.join(","));
    let make = || {
        let asked = Asked::new("POST", "/v1/keys").key(&manager).header("Idempotency-Key", "k");
        served.ask(&asked.json(&json!({"name": "twice"}))).is(201)
    };
    let key = make().json()["key"].clone();
    assert_eq!(make().json()["key"], key);
    let names =
        |list: Value| list["keys"].as_array().unwrap().iter().filter(|key| key["name"] == "twice").count();
    assert_eq!(names(served.get("/v1/keys", &manager).is(200).json()), 1);
    let key = key.as_str().unwrap().as_bytes();
    for file in ["toolroom.db", "toolroom.db-wal"] {
        let bytes = std::fs::read(served.home.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(key.len()).any(|window| window == key), "{file}");
    }
}
