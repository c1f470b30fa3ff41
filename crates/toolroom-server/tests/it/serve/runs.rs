//! Runs over HTTP: begun, watched, broken off, gone on with.

use serde_json::json;

use super::served::Served;
use super::stream::{Stream, Told, events};
use super::wire::Asked;
use crate::home::Home;
use crate::processes::until;
use crate::scripted_model::{Line, ScriptedModel};

fn kinds(events: &[Told]) -> Vec<&str> {
    events.iter().map(Told::kind).collect()
}

#[test]
fn a_run_is_watched_from_any_place() {
    let (served, _model) =
        Served::over([Line::Calls("calculator", json!({"expression": "6*7"})), Line::says("It is 42.")], "");
    let key = served.key("local", "chat");
    let body = json!({"message": "What is 6*7?", "wait": true});
    let run = served.send("POST", "/v1/runs", &key, &body).is(200).json();
    assert_eq!((&run["state"], &run["text"]), (&json!("done"), &json!("It is 42.")), "{run}");
    let path = format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
    let whole = events(&served.get(&path, &key).is(200).body);
    let kinds_told = kinds(&whole);
    assert_eq!((kinds_told[0], *kinds_told.last().unwrap()), ("started", "done"), "{kinds_told:?}");
    for seen in 0..whole.len() {
        let after = Asked::new("GET", &path).key(&key).header("Last-Event-ID", &whole[seen].id);
        let rest = events(&served.ask(&after).is(200).body);
        assert_eq!(rest, whole[seen + 1..], "after {}", whole[seen].id);
    }
    served.ask(&Asked::new("GET", &path).key(&key).header("Last-Event-ID", "x")).refused(400, "bad_request");
    served.get("/v1/runs/run_of_nobody/events", &key).refused(404, "not_found");
    let messages = format!("/v1/conversations/{}/messages", run["conversation"].as_str().unwrap());
    let said = served.get(&messages, &key).is(200).json();
    assert_eq!(said["entries"].as_array().unwrap().len(), 4, "{said}");
}

#[test]
fn a_stream_tells_what_happens_and_leaving_it_stops_nothing() {
    let (served, model) = Served::over([Line::says("one two three four")], "");
    let key = served.key("local", "chat");
    let body = json!({"message": "Count.", "stream": true});
    let told = events(&served.send("POST", "/v1/runs", &key, &body).is(200).body);
    let text: String = told
        .iter()
        .filter(|told| told.kind() == "text")
        .map(|told| told.event["text"].as_str().unwrap())
        .collect();
    assert_eq!(text, "one two three four");
    let mut wire = served.wire();
    wire.send(&Asked::new("POST", "/v1/runs").key(&key).json(&body));
    model.is_asked(2);
    drop(wire);
    until(|| {
        let runs = served.get("/v1/runs?state=done", &key).is(200).json();
        runs["runs"].as_array().unwrap().len() == 2
    });
}

#[test]
fn a_run_that_asks_goes_on_when_the_operator_has_answered() {
    let home = Home::new();
    let notes = home.path().join("notes");
    let note = json!({"path": notes, "text": "yes"});
    let model = ScriptedModel::starts([Line::Calls("publish_note", note), Line::says("Done.")]);
    model.is_set_up_in(home.path(), "");
    let served = Served::at(home);
    let (key, operator) = (served.key("local", "chat"), served.key("local", "read,approve"));
    let run =
        served.send("POST", "/v1/runs", &key, &json!({"message": "Note it.", "wait": true})).is(200).json();
    assert_eq!(run["state"], "waiting", "{run}");
    let call = run["waiting"][0].as_str().unwrap();
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    served
        .send("POST", &format!("/v1/approvals/{call}"), &key, &json!({"answer": "once"}))
        .refused(403, "forbidden");
    served.send("POST", &format!("/v1/approvals/{call}"), &operator, &json!({"answer": "once"})).is(200);
    until(|| served.get(&path, &key).is(200).json()["state"] == "done");
    assert!(served.written().contains("yes"), "it was done");
    let told = events(&served.get(&format!("{path}/events"), &key).is(200).body);
    let kinds = kinds(&told);
    assert!(kinds.contains(&"asks") && kinds.contains(&"waiting") && kinds.ends_with(&["done"]), "{kinds:?}");
}

#[test]
fn a_run_is_stopped() {
    let (served, model) = Served::over([Line::stalls("Well")], "");
    let key = served.key("local", "chat");
    let run = served.send("POST", "/v1/runs", &key, &json!({"message": "Hello"})).is(202).json();
    model.is_asked(1);
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    let again = json!({"message": "And?", "conversation": run["conversation"]});
    served.send("POST", "/v1/runs", &key, &again).refused(409, "conflict");
    let stopped = served.send("POST", &format!("{path}/cancel"), &key, &json!({})).is(200).json();
    assert_eq!(stopped["state"], "cancelled", "{stopped}");
    served.send("POST", &format!("{path}/resume"), &key, &json!({})).refused(409, "conflict");
}

#[test]
fn resuming_an_active_run_changes_nothing() {
    let (served, model) = Served::over([Line::stalls("Well")], "");
    let key = served.key("local", "chat");
    let run = served.send("POST", "/v1/runs", &key, &json!({"message": "Hello"})).is(202).json();
    model.is_asked(1);
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    for _ in 0..3 {
        served.send("POST", &format!("{path}/resume"), &key, &json!({})).refused(409, "conflict");
    }
    // A new subscriber gets the text so far, and not only stored events.
    let mut watcher = Stream::open(served.wire(), &Asked::new("GET", &format!("{path}/events")).key(&key));
    watcher.until(|told| told.kind() == "text");
    let stopped = served.send("POST", &format!("{path}/cancel"), &key, &json!({})).is(200).json();
    assert_eq!(stopped["state"], "cancelled", "{stopped}");
}

#[test]
fn a_token_reaches_its_own_agent_and_its_own_runs() {
    let (served, _model) = Served::over([Line::says("Hello.")], "[agent.other]\n");
    let (key, mint) = (served.key("local", "chat"), served.key("local", "mint,chat"));
    let (ana, ben) = (served.token(&mint, "ana"), served.token(&mint, "ben"));
    let body = json!({"message": "Hi", "wait": true});
    let run = served.send("POST", "/v1/runs", &ana, &body).is(200).json();
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    served.get(&path, &ana).is(200);
    served.get(&path, &key).is(200);
    served.get(&path, &ben).refused(404, "not_found");
    let other = json!({"message": "Hi", "agent": "other"});
    served.send("POST", "/v1/runs", &ana, &other).refused(403, "forbidden");
    let declared = json!({"message": "Hi", "user": "ben"});
    served.send("POST", "/v1/runs", &ana, &declared).refused(400, "bad_request");
    assert_eq!(served.get("/v1/runs", &ben).is(200).json()["runs"], json!([]));
    let large = json!({"message": "Hi", "context": {"text": "x".repeat(65 * 1024)}});
    served.send("POST", "/v1/runs", &ana, &large).refused(413, "too_large");
}

#[test]
fn runs_and_conversations_are_listed_page_by_page() {
    let (served, _model) = Served::over((0..5).map(|_| Line::says("Hello.")).collect::<Vec<_>>(), "");
    let key = served.key("local", "chat");
    for _ in 0..5 {
        served.send("POST", "/v1/runs", &key, &json!({"message": "Hi", "wait": true})).is(200);
    }
    for list in ["runs", "conversations"] {
        let whole = served.get(&format!("/v1/{list}"), &key).is(200).json();
        let (mut seen, mut next) = (Vec::new(), format!("/v1/{list}?limit=2"));
        loop {
            let page = served.get(&next, &key).is(200).json();
            seen.extend(page[list].as_array().unwrap().clone());
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            assert_eq!(page[list].as_array().unwrap().len(), 2);
            next = format!("/v1/{list}?limit=2&cursor={cursor}");
        }
        assert_eq!((json!(seen), whole.get("next_cursor")), (whole[list].clone(), None), "{list}");
        served.get(&format!("/v1/{list}?cursor=bm9uZQ"), &key).refused(400, "bad_request");
    }
}

#[test]
fn a_token_for_another_agent_reaches_nothing_of_the_same_user() {
    let home = Home::new();
    let note = json!({"path": home.path().join("notes"), "text": "yes"});
    let model = ScriptedModel::starts([
        Line::Calls("publish_note", note.clone()),
        Line::Calls("publish_note", note),
        Line::says("Hello."),
    ]);
    model.is_set_up_in(home.path(), "[agent.other]\n");
    let served = Served::at(home);
    let mint = served.key("local", "mint,chat");
    let (ana, elsewhere) = (served.token(&mint, "ana"), served.token_for(&mint, "ana", "other"));
    let run = served.send("POST", "/v1/runs", &ana, &json!({"message": "Hi", "wait": true})).is(200).json();
    assert_eq!(run["state"], "waiting", "{run}");
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    served.get(&path, &elsewhere).refused(404, "not_found");
    served.get(&format!("{path}/events"), &elsewhere).refused(404, "not_found");
    for deed in ["resume", "cancel"] {
        served.send("POST", &format!("{path}/{deed}"), &elsewhere, &json!({})).refused(404, "not_found");
    }
    assert_eq!(served.get("/v1/runs", &elsewhere).is(200).json()["runs"], json!([]));
    let conversations = served.get("/v1/conversations", &elsewhere).is(200).json();
    assert_eq!(conversations["conversations"], json!([]));
    served.get("/v1/conversations?agent=default", &elsewhere).refused(403, "forbidden");
    let conversation = format!("/v1/conversations/{}", run["conversation"].as_str().unwrap());
    served.get(&conversation, &elsewhere).refused(404, "not_found");
    served.ask(&Asked::new("DELETE", &conversation).key(&elsewhere)).refused(404, "not_found");
    served.get(&conversation, &ana).is(200);

    // The id of a thread gives no access to another agent.
    let said = json!([{"id": "u", "role": "user", "content": "Hi"}]);
    let input = json!({"threadId": "t", "runId": "r", "messages": said});
    served.send("POST", "/agui/default", &ana, &input).is(200);
    served.send("POST", "/agui/other", &elsewhere, &input).refused(409, "conflict");
    served.send("POST", "/agui/other", &mint, &input).is(200);
}

#[test]
fn what_a_server_left_in_the_middle_the_next_one_goes_on_with() {
    let script = [
        Line::Calls("calculator", json!({"expression": "6*7"})),
        Line::stalls("It"),
        Line::says("It is 42."),
    ];
    let (mut served, model) = Served::over(script, "");
    let key = served.key("local", "chat");
    let run = served.send("POST", "/v1/runs", &key, &json!({"message": "6*7?"})).is(202).json();
    model.is_asked(2);
    served.dies();
    served.starts_again();
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    until(|| served.get(&path, &key).is(200).json()["state"] == "done");
    // A subscriber that received events which were not stored gets everything again.
    let after = Asked::new("GET", &format!("{path}/events")).key(&key).header("Last-Event-ID", "0-1-1000");
    let told = events(&served.ask(&after).is(200).body);
    let kinds = kinds(&told);
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("started", "done"), "{kinds:?}");
    let calls = served.home.run(&["log", "--json"]).ended(0).json();
    assert_eq!(calls.as_array().unwrap().len(), 1, "nothing was done twice: {calls}");
}

#[test]
fn metrics_count_and_name_no_users() {
    let (served, _model) =
        Served::over([Line::Calls("calculator", json!({"expression": "6*7"})), Line::says("It is 42.")], "");
    let key = served.key("local", "call,chat");
    served.send("POST", "/v1/runs", &key, &json!({"message": "What is 6*7?", "wait": true})).is(200);
    served.call(&key, "no_such_tool_4711", &json!({})).is(404);
    let page = served.ask(&Asked::new("GET", "/metrics")).is(200).body;
    for line in [
        "toolroom_calls_total{tool=\"builtin:calculator\",outcome=\"done\"} 1",
        "toolroom_calls_total{tool=\"unknown\",outcome=\"failed\"} 1",
        "toolroom_runs_total{state=\"done\"} 1",
        "toolroom_http_requests_total{method=\"POST\",route=\"/v1/runs\",status=\"200\"} 1",
        "toolroom_runs_live 0",
        "toolroom_approvals_waiting 0",
        "# EOF",
    ] {
        assert!(page.lines().any(|told| told == line), "{line}\n{page}");
    }
    assert!(!page.contains("4711") && !page.contains(&key), "{page}");
}
