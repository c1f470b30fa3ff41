//! Which answers are taken from whom: attacks by keys that would approve their own calls, or those of others.

use serde_json::{Value, json};

use super::served::Served;
use super::wire::{Asked, Reply};
use crate::home::Home;
use crate::processes::until;
use crate::scripted_model::{Line, ScriptedModel};

fn answer(served: &Served, key: &str, call: &str, answer: &str) -> Reply {
    served.send("POST", &format!("/v1/approvals/{call}"), key, &json!({"answer": answer}))
}

/// Runs a call if it was approved.
fn resume(served: &Served, key: &str, call: &str) -> Value {
    served.ask(&Asked::new("POST", &format!("/v1/calls/{call}/resume")).key(key)).json()
}

fn listed(served: &Served, key: &str) -> Vec<Value> {
    let page = served.get("/v1/approvals", key).is(200).json();
    page["approvals"].as_array().unwrap().iter().map(|question| question["call_id"].clone()).collect()
}

#[test]
fn a_key_that_may_call_approves_no_call_over_rest() {
    let served = Served::new();
    let key = served.key("local", "read,call,chat,mint,manage");
    let call =
        served.call(&key, "publish_note", &json!({"path": served.notes(), "text": "mine"})).is(202).json();
    let hint = call["pending"]["hint"].as_str().unwrap();
    assert!(hint.contains("the operator approves") && hint.contains("scope `answer`"), "{hint}");
    assert!(!hint.contains("POST /v1/approvals"), "it names nothing that is refused: {hint}");
    let call = call["call_id"].as_str().unwrap();
    for said in ["once", "session", "always", "no", "never", "stop"] {
        answer(&served, &key, call, said).refused(403, "forbidden");
    }
    assert_eq!(resume(&served, &key, call)["outcome"], "pending");
    assert_eq!(served.written(), "");
}

#[test]
fn a_key_that_may_answer_answers_its_own_calls_alone_and_each_for_itself() {
    let served = Served::new();
    let (key, other) = (served.key("local", "call,answer"), served.key("local", "call,answer"));
    let owners = served
        .home
        .run_own(&["call", "publish_note", &format!("path={}", served.notes()), "text=the owner's", "--json"])
        .ended(4)
        .call_id();
    let (own, others) = (served.park(&key, "mine"), served.park(&other, "another's"));
    assert_eq!(listed(&served, &key), [json!(own)], "it sees its own alone");
    for (call, status) in [(&others, 403), (&owners, 403)] {
        served.get(&format!("/v1/approvals/{call}"), &key).refused(404, "not_found");
        for said in ["once", "always", "no"] {
            answer(&served, &key, call, said).is(status);
        }
    }
    for said in ["session", "always", "never"] {
        let refused = answer(&served, &key, &own, said).refused(403, "forbidden").json();
        assert!(refused["detail"].as_str().unwrap().contains("scope `approve`"), "{refused}");
    }
    assert_eq!(resume(&served, &key, &own)["outcome"], "pending");
    for call in [&others, &owners] {
        served.send("POST", &format!("/v1/calls/{call}/resume"), &key, &json!({})).refused(403, "forbidden");
    }
    assert_eq!(served.written(), "");
    let hint = resume(&served, &key, &own)["pending"]["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains(&format!("POST /v1/approvals/{own}` (once, no, edit, stop)")), "{hint}");
    answer(&served, &key, &own, "once").is(200);
    assert_eq!(resume(&served, &key, &own)["outcome"], "done");
    assert_eq!(served.written().lines().count(), 1);
    served.park(&key, "the next one asks anew");
}

#[test]
fn what_the_operator_has_to_answer_no_caller_answers() {
    let rule = "[[rule]]\nid = 'op'\neffect = 'ask'\ntool = 'app:publish_note'\nby = 'operator'\n";
    let served = Served::configured(rule);
    let (key, operator) = (served.key("local", "call,answer"), served.key("local", "approve"));
    let call = served.park(&key, "mine");
    answer(&served, &key, &call, "once").refused(403, "forbidden");
    let hint = resume(&served, &key, &call)["pending"]["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("the operator approves") && !hint.contains("POST /v1/approvals"), "{hint}");
    assert_eq!(served.written(), "");
    answer(&served, &operator, &call, "once").is(200);
    assert_eq!(resume(&served, &key, &call)["outcome"], "done");
}

#[test]
fn a_rotated_key_gains_a_scope_only_where_it_is_named() {
    let served = Served::new();
    let made = served.make_key("local", "call");
    let rotate = |words: &[&str]| {
        let id = made["id"].as_str().unwrap();
        let words = [&["keys", "rotate", id, "--json"], words].concat();
        served.home.run_own(&words).ended(0).json()
    };
    assert_eq!(rotate(&[])["scopes"], json!(["call"]));
    let new = rotate(&["--scope", "answer"]);
    assert_eq!(new["scopes"], json!(["call", "answer"]));
    let key = new["key"].as_str().unwrap();
    let call = served.park(key, "mine");
    answer(&served, key, &call, "once").is(200);
    assert_eq!(resume(&served, key, &call)["outcome"], "done");
    // Over HTTP a key grants only scopes it has.
    let (managing, path) =
        (served.key("local", "call,manage"), format!("/v1/keys/{}/rotate", made["id"].as_str().unwrap()));
    served.send("POST", &path, &managing, &json!({"scopes": ["answer"]})).refused(403, "forbidden");
    assert_eq!(served.send("POST", &path, &managing, &json!({})).is(201).json()["scopes"], json!(["call"]));
}

/// A server whose model wants to write a note, and says that it is done once it has.
fn notes(times: usize) -> (Served, ScriptedModel) {
    let home = Home::new();
    let note = |number: usize| {
        let arguments = json!({"path": home.path().join("notes"), "text": format!("note {number}")});
        [Line::Calls("publish_note", arguments), Line::says("Done.")]
    };
    let model = ScriptedModel::starts((0..times).flat_map(note).collect::<Vec<_>>());
    // One user looks often.
    model.is_set_up_in(home.path(), "[server]\nsession_rate = 1000000\n");
    (Served::at(home), model)
}

/// The events that AG-UI tells a key that sends this.
fn agui(served: &Served, key: &str, input: &Value) -> Vec<Value> {
    let body = served.send("POST", "/agui/default", key, input).is(200).body;
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events.map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn begins(thread: &str) -> Value {
    json!({"threadId": thread, "runId": "r", "messages": [{"id": "u", "role": "user", "content": "Note it."}]})
}

/// The question with which a run ended.
fn interrupt(events: &[Value]) -> Value {
    let last = events.last().unwrap();
    last["outcome"]["interrupts"][0].clone()
}

fn replies(thread: &str, interrupt: &Value, payload: &Value) -> Value {
    let answer = json!({"interruptId": interrupt["id"], "status": "resolved", "payload": payload});
    let mut input = begins(thread);
    input["resume"] = json!([answer]);
    input
}

#[test]
fn a_key_that_may_chat_approves_no_call_over_agui() {
    let (served, _model) = notes(1);
    let key = served.key("local", "chat,read,call");
    let asked = interrupt(&agui(&served, &key, &begins("t")));
    assert_eq!((&asked["reason"], &asked["responseSchema"]), (&json!("toolroom:operator"), &Value::Null));
    for payload in [json!({"approved": true}), json!({"approved": true, "remember": "always"})] {
        let refused = agui(&served, &key, &replies("t", &asked, &payload));
        assert_eq!(refused.last().unwrap()["code"], "operator", "{refused:?}");
    }
    // Nor does one that may answer, as the run is not its own.
    let other = served.key("local", "chat,answer");
    let refused = agui(&served, &other, &replies("t", &asked, &json!({"approved": true})));
    assert_eq!(refused.last().unwrap()["code"], "operator", "{refused:?}");
    assert_eq!(served.written(), "");
}

#[test]
fn a_key_that_may_answer_approves_a_call_of_its_run_for_once_over_agui() {
    let (served, _model) = notes(1);
    let key = served.key("local", "chat,answer");
    let asked = interrupt(&agui(&served, &key, &begins("t")));
    let properties = &asked["responseSchema"]["properties"];
    assert!(properties["approved"].is_object() && properties["remember"].is_null(), "{asked}");
    for remember in ["session", "always"] {
        let payload = json!({"approved": true, "remember": remember});
        let refused = agui(&served, &key, &replies("t", &asked, &payload));
        assert_eq!(refused.last().unwrap()["code"], "answer_refused", "{refused:?}");
    }
    assert_eq!(served.written(), "");
    let done = agui(&served, &key, &replies("t", &asked, &json!({"approved": true})));
    assert_eq!(done.last().unwrap()["type"], "RUN_FINISHED", "{done:?}");
    assert_eq!(served.written().lines().count(), 1);
}

#[test]
fn a_user_of_an_app_answers_the_calls_of_their_runs_alone() {
    let (served, _model) = notes(2);
    let minting = served.key("local", "mint,chat,read");
    let (ann, bob) = (served.token(&minting, "ann"), served.token(&minting, "bob"));
    let body = json!({"message": "Note it.", "wait": true});
    let run = served.send("POST", "/v1/runs", &ann, &body).is(200).json();
    let call = run["waiting"][0].as_str().unwrap();
    answer(&served, &bob, call, "once").refused(404, "not_found");
    answer(&served, &minting, call, "once").refused(403, "forbidden");
    for said in ["session", "always", "never"] {
        answer(&served, &ann, call, said).refused(403, "forbidden");
    }
    assert_eq!(served.written(), "");
    // A newer token of the same user is as good.
    answer(&served, &served.token(&minting, "ann"), call, "once").is(200);
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    until(|| served.get(&path, &ann).is(200).json()["state"] == "done");
    assert_eq!(served.written().lines().count(), 1);
    let run = served.send("POST", "/v1/runs", &minting, &body).is(200).json();
    answer(&served, &ann, run["waiting"][0].as_str().unwrap(), "once").refused(404, "not_found");
    assert_eq!(served.written().lines().count(), 1);
}
