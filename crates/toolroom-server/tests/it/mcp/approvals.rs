//! Parked calls: the client asks its user, and the answer counts once.

use serde_json::{Value, json};

use super::place::{hello, legacy, modern, modern_with, result, text};
use crate::processes::until;
use crate::serve::Served;
use crate::serve::stream::Stream;
use crate::serve::wire::Reply;

const NOTE: &str = "app__publish_note";

fn note(served: &Served, text: &str) -> Value {
    json!({"path": served.notes(), "text": text})
}

fn can_ask() -> Value {
    json!({"elicitation": {}})
}

/// Asks for a note with a client that can ask its user.
fn asks(served: &Served, key: &str, arguments: &Value, brought: &Value) -> Reply {
    let mut params = json!({"name": NOTE, "arguments": arguments});
    for (name, value) in brought.as_object().unwrap() {
        params[name] = value.clone();
    }
    served.ask(&modern_with(key, "tools/call", params, &can_ask()))
}

fn says(answer: &str, state: &str) -> Value {
    json!({
        "inputResponses": {"approval": {"action": "accept", "content": {"answer": answer}}},
        "requestState": state,
    })
}

fn state(result: &Value) -> String {
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["requestState"].as_str().unwrap().to_owned()
}

#[test]
fn a_yes_runs_the_call_once_and_no_second_time() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let arguments = note(&served, "mine");
    let asked = result(&asks(&served, &key, &arguments, &json!({})));
    let form = &asked["inputRequests"]["approval"];
    assert_eq!(form["method"], "elicitation/create");
    assert!(form["params"]["message"].as_str().unwrap().contains("app:publish_note"), "{form}");
    let state = state(&asked);
    assert_eq!(served.written(), "");
    let done = result(&asks(&served, &key, &arguments, &says("once", &state)));
    assert!(done["isError"].is_null() && done["resultType"] == "complete", "{done}");
    assert_eq!(served.written().lines().count(), 1);
    let again = result(&asks(&served, &key, &arguments, &says("once", &state)));
    assert!(again["isError"] == true && text(&again).contains("has run already"), "{again}");
    assert_eq!(served.written().lines().count(), 1);
}

#[test]
fn a_key_that_may_call_approves_nothing_by_claiming_to_ask_its_user() {
    let served = Served::new();
    let key = served.key("local", "call,read,chat,manage");
    let arguments = note(&served, "mine");
    let waits = result(&asks(&served, &key, &arguments, &json!({})));
    assert!(waits["isError"] == true && waits["requestState"].is_null(), "no input request: {waits}");
    assert!(
        text(&waits).contains("the operator can answer") && text(&waits).contains("scope `answer`"),
        "{waits}"
    );
    // In the earlier era neither.
    let session = hello(&served, &key, &can_ask());
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": NOTE, "arguments": note(&served, "again")}});
    let told = result(&served.ask(&legacy(&key, &session, &call)));
    assert!(told["isError"] == true && text(&told).contains("the operator can answer"), "{told}");
    assert_eq!(served.written(), "");
}

#[test]
fn a_key_that_may_answer_decides_about_no_later_call() {
    let served = Served::new();
    let (key, other) = (served.key("local", "call,answer"), served.key("local", "call,answer"));
    let arguments = note(&served, "mine");
    let mut asked = result(&asks(&served, &key, &arguments, &json!({})));
    let offered =
        asked["inputRequests"]["approval"]["params"]["requestedSchema"]["properties"]["answer"].clone();
    assert_eq!(offered["enum"], json!(["once", "no", "edit"]));
    for answer in ["always", "never"] {
        asked = result(&asks(&served, &key, &arguments, &says(answer, &state(&asked))));
        let message = asked["inputRequests"]["approval"]["params"]["message"].as_str().unwrap();
        assert!(message.contains("This was not taken") && message.contains("scope `approve`"), "{message}");
    }
    assert_eq!(served.written(), "");
    result(&asks(&served, &key, &arguments, &says("once", &state(&asked))));
    assert_eq!(served.written().lines().count(), 1);
    // Each call is asked about anew, of this key and of others.
    for key in [&key, &other] {
        state(&result(&asks(&served, key, &arguments, &json!({}))));
    }
}

#[test]
fn a_key_that_may_approve_decides_about_later_calls_too() {
    let served = Served::new();
    let key = served.key("local", "call,approve");
    let arguments = note(&served, "mine");
    let asked = result(&asks(&served, &key, &arguments, &json!({})));
    result(&asks(&served, &key, &arguments, &says("always", &state(&asked))));
    result(&asks(&served, &key, &arguments, &json!({})));
    assert_eq!(served.written().lines().count(), 2);
}

#[test]
fn an_edit_runs_the_call_with_the_other_arguments() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let (arguments, other) = (note(&served, "mine"), note(&served, "better"));
    let edits = |text: &str, state: &str| {
        let content = json!({"answer": "edit", "arguments": text});
        json!({
            "inputResponses": {"approval": {"action": "accept", "content": content}}, "requestState": state,
        })
    };
    let mut asked = result(&asks(&served, &key, &arguments, &json!({})));
    // What no tool takes is asked about again.
    for (wrong, why) in
        [("better", "as a JSON object"), ("{\"path\": 7}", "the edited arguments are refused")]
    {
        asked = result(&asks(&served, &key, &arguments, &edits(wrong, &state(&asked))));
        let message = asked["inputRequests"]["approval"]["params"]["message"].as_str().unwrap();
        assert!(message.contains("This was not taken") && message.contains(why), "{message}");
    }
    let done = result(&asks(&served, &key, &arguments, &edits(&other.to_string(), &state(&asked))));
    assert!(done["isError"].is_null() && done["resultType"] == "complete", "{done}");
    let written = served.written();
    assert!(written.contains("better") && !written.contains("mine"), "{written}");
}

#[test]
fn a_no_is_a_no_and_what_is_unclear_is_asked_again() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let arguments = note(&served, "mine");
    let first = state(&result(&asks(&served, &key, &arguments, &json!({}))));
    let unclear = result(&asks(&served, &key, &arguments, &says("perhaps", &first)));
    let message = unclear["inputRequests"]["approval"]["params"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("This was not taken"), "{message}");
    let denied = result(&asks(&served, &key, &arguments, &says("no", &state(&unclear))));
    assert!(denied["isError"] == true && text(&denied).starts_with("denied"), "{denied}");
    assert_eq!(served.written(), "");
}

#[test]
fn an_answer_is_for_its_caller_its_call_and_as_it_was_given() {
    let served = Served::new();
    let (key, other) = (served.key("local", "call,answer"), served.key("local", "call,answer"));
    let arguments = note(&served, "mine");
    let state = state(&result(&asks(&served, &key, &arguments, &json!({}))));
    let refused = |reply: &Reply| {
        let answer = reply.json();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    };
    refused(&asks(&served, &other, &arguments, &says("once", &state)));
    refused(&asks(&served, &key, &note(&served, "another"), &says("once", &state)));
    refused(&asks(&served, &key, &arguments, &says("once", &format!("{state}AAAA"))));
    refused(&asks(&served, &key, &arguments, &says("once", &state[..state.len() - 4])));
    let calculator = json!({"name": "calculator", "arguments": {"expression": "1"}, "requestState": state});
    refused(&served.ask(&modern_with(&key, "tools/call", calculator, &can_ask())));
    assert_eq!(served.written(), "");
}

#[test]
fn an_answer_about_one_value_is_none_about_the_default() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let url = "https://nowhere.invalid/";
    let ask = |arguments: Value, brought: &Value| {
        let mut params = json!({"name": "fetch_url", "arguments": arguments});
        for (name, value) in brought.as_object().unwrap() {
            params[name] = value.clone();
        }
        served.ask(&modern_with(&key, "tools/call", params, &can_ask()))
    };
    let posted = json!({"url": url, "method": "POST", "body": ""});
    let state = state(&result(&ask(posted.clone(), &json!({}))));
    for other in [json!({"url": url, "body": ""}), json!({"url": url, "method": "GET", "body": ""})] {
        let reply = ask(other, &says("once", &state));
        assert!(reply.body.contains("belongs to another call"), "{}", reply.body);
    }
    // What is left out is what it would be.
    let mut whole = posted;
    whole["content_type"] = "application/x-www-form-urlencoded".into();
    let denied = result(&ask(whole, &says("no", &state)));
    assert!(denied["resultType"] == "complete" && denied["isError"] == true, "{denied}");
}

#[test]
fn a_client_that_cannot_ask_is_told_who_can_approve_and_repeats_the_call() {
    let served = Served::new();
    let (key, operator) = (served.key("local", "call,answer"), served.key("local", "approve"));
    let params = json!({"name": NOTE, "arguments": note(&served, "mine")});
    let ask = || result(&served.ask(&modern(&key, "tools/call", params.clone())));
    let waits = ask();
    assert!(waits["isError"] == true && text(&waits).contains("toolroom approvals approve"), "{waits}");
    // The same call does not park a second one.
    assert_eq!(text(&ask()), text(&waits));
    let open = served.get("/v1/approvals", &operator).is(200).json();
    let [question] = open["approvals"].as_array().unwrap().as_slice() else { panic!("{open}") };
    let call = question["call_id"].as_str().unwrap();
    served.send("POST", &format!("/v1/approvals/{call}"), &operator, &json!({"answer": "once"})).is(200);
    let done = ask();
    assert!(done["isError"].is_null(), "{done}");
    assert_eq!(served.written().lines().count(), 1);
}

#[test]
fn an_approval_outlives_the_server_and_is_for_the_caller_only() {
    let mut served = Served::new();
    let (key, other) = (served.key("local", "call,answer"), served.key("local", "call,answer"));
    let params = json!({"name": NOTE, "arguments": note(&served, "mine")});
    let ask = |served: &Served, key: &str| result(&served.ask(&modern(key, "tools/call", params.clone())));
    let waits = text(&ask(&served, &key));
    served.ends();
    served.starts_again();
    assert_eq!(text(&ask(&served, &key)), waits, "no second question");
    let call = waits.split("approvals approve ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    served.home.run_own(&["approvals", "approve", call]).ended(0);
    // Another caller gets its own question.
    let others = text(&ask(&served, &other));
    assert!(others.contains("waits for approval") && !others.contains(call), "{others}");
    assert_eq!(served.written(), "");
    let done = ask(&served, &key);
    assert!(done["isError"].is_null(), "{done}");
    assert_eq!(served.written().lines().count(), 1);
}

#[test]
fn a_question_shows_all_that_would_run_or_says_that_it_does_not() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let message = |words: &str| {
        let asked = result(&asks(&served, &key, &note(&served, words), &json!({})));
        asked["inputRequests"]["approval"]["params"]["message"].as_str().unwrap().to_owned()
    };
    let long = format!("{}THE MIDDLE{}", "a".repeat(3_500), "b".repeat(3_500));
    assert!(message(&long).contains(&long));
    let longer = message(&"c".repeat(10_000));
    assert!(longer.contains("shortened: 8000 of 10") && longer.contains("approvals show"), "{longer}");
    assert!(message("a\u{202e}b").contains("a\\u{202e}b"));
}

#[test]
fn a_client_of_the_earlier_era_is_asked_while_it_waits() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let session = hello(&served, &key, &can_ask());
    let params = json!({"name": NOTE, "arguments": note(&served, "mine")});
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
    let mut stream = Stream::open(served.wire(), &legacy(&key, &session, &call));
    let question = stream.next().unwrap().event;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let answer = json!({"action": "accept", "content": {"answer": "once"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
    // No other caller can answer.
    let other = served.key("local", "call,answer");
    served.ask(&legacy(&other, &session, &answer)).is(404);
    served.ask(&legacy(&key, &session, &answer)).is(202);
    let done = stream.next().unwrap().event;
    assert!(done["id"] == "a" && done["result"]["isError"].is_null(), "{done}");
    assert_eq!(served.written().lines().count(), 1);
    assert!(stream.next().is_none());
}

/// A call that asks its client, and the stream on which it does.
fn asked(served: &Served, key: &str, session: &str) -> (String, Stream) {
    let params = json!({"name": NOTE, "arguments": note(served, "mine")});
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
    let mut stream = Stream::open(served.wire(), &legacy(key, session, &call));
    assert_eq!(stream.next().unwrap().event["method"], "elicitation/create");
    (served.home.journal()[0]["id"].as_str().unwrap().to_owned(), stream)
}

#[test]
fn an_answer_given_elsewhere_counts_and_the_form_is_cancelled() {
    let served = Served::new();
    let key = served.key("local", "call,answer");
    let session = hello(&served, &key, &can_ask());
    for (answer, is_denied) in [("approve", false), ("deny", true)] {
        let (call, mut stream) = asked(&served, &key, &session);
        served.home.run_own(&["approvals", answer, &call]).ended(0);
        let over = stream.next().unwrap().event;
        assert_eq!(over["method"], "notifications/cancelled", "{over}");
        let done = stream.next().unwrap().event;
        assert_eq!(done["result"]["isError"] == true, is_denied, "{done}");
    }
    assert_eq!(served.written().lines().count(), 1);
}

#[test]
fn a_client_that_leaves_its_form_holds_no_permit() {
    let served = Served::configured("[server]\nat_once = 4\n");
    let key = served.key("local", "call,answer");
    let session = hello(&served, &key, &can_ask());
    for _ in 0..8 {
        let params = json!({"name": NOTE, "arguments": note(&served, "mine")});
        let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params});
        // The one before needs a moment to notice.
        until(|| {
            let mut wire = served.wire();
            wire.send(&legacy(&key, &session, &call));
            wire.head().status == 200
        });
    }
}
