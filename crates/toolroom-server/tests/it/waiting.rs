//! `call --wait`: one process waits, another one answers.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::approvals::Desk;
use crate::home::{Home, finished};

/// A call that waits, once it is parked, and its id.
fn waiter(desk: &Desk, text: &str) -> (Child, String) {
    let (path, word) = (desk.path(), format!("text={text}"));
    let child =
        desk.home.own_tools(&["call", "publish_note", &path, &word, "--wait", "--json"]).spawn().unwrap();
    (child, parked(&desk.home, text))
}

/// Waits until a call with this text is parked.
fn parked(home: &Home, text: &str) -> String {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        assert!(std::time::Instant::now() < deadline, "`{text}` is not parked");
        let is_it = |row: &&serde_json::Value| row["status"] == "pending" && row["arguments"]["text"] == text;
        if let Some(row) = home.journal().iter().find(is_it) {
            return row["id"].as_str().unwrap().to_owned();
        }
    }
}

#[test]
fn several_wait_at_once_and_each_gets_its_own_answer() {
    let desk = Desk::new();
    let (approved, one) = waiter(&desk, "one");
    let (denied, two) = waiter(&desk, "two");
    let (edited, three) = waiter(&desk, "three");
    let (stopped, four) = waiter(&desk, "four");
    assert!(desk.effects().is_empty());
    let edit = json!({"path": desk.notes, "text": "edited"}).to_string();
    desk.run(&["approvals", "approve", &three, "--edit", &edit]).ended(0);
    desk.run(&["approvals", "deny", &two]).ended(0);
    desk.run(&["approvals", "deny", &four, "--stop"]).ended(0);
    desk.run(&["approvals", "approve", &one]).ended(0);

    let report = finished(approved).ended(0).json();
    assert_eq!((&report["call_id"], &report["result"]), (&json!(one), &json!("noted")));
    let report = finished(denied).ended(3).json();
    assert_eq!((&report["outcome"], &report["rule"]), (&json!("denied"), &json!("approval.refused")));
    let ran = finished(edited).ended(0);
    assert!(ran.err.contains("replaced by"), "{ran:?}");
    assert_eq!(ran.json()["call_id"], desk.question(&three)["replaced_by"]);
    let report = finished(stopped).ended(3).json();
    assert!(report["error"]["message"].as_str().unwrap().contains("end the run"), "{report}");
    let mut effects = desk.effects();
    effects.sort();
    assert_eq!(effects, ["edited", "one"]);
}

#[test]
fn a_call_is_pending_after_the_wait_limit() {
    let desk = Desk::new();
    let ran = desk.call_with("hello", &["--wait", "200ms"]).ended(4);
    assert!(ran.err.contains("in another terminal"), "{ran:?}");
    assert_eq!(ran.json()["outcome"], "pending");
    assert_eq!(desk.question(&ran.call_id())["state"], "waiting");
}

#[test]
fn a_signal_ends_the_wait_and_leaves_the_question() {
    for signal in [Signal::INT, Signal::TERM] {
        let desk = Desk::new();
        let (child, call) = waiter(&desk, "hello");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ran = finished(child).ended(130);
        assert_eq!((&ran.json()["outcome"], &ran.json()["call_id"]), (&json!("pending"), &json!(call)));
        assert_eq!(desk.question(&call)["state"], "waiting");
        desk.run(&["approvals", "approve", &call]).ended(0);
        desk.run(&["call", "--resume", &call]).ended(0);
        assert_eq!(desk.effects(), ["hello"]);
    }
}

#[test]
fn of_those_who_wait_for_the_same_call_one_runs_it() {
    let desk = Desk::new();
    let call = desk.park("hello");
    let resume =
        || desk.home.own_tools(&["call", "--resume", &call, "--wait", "60", "--json"]).spawn().unwrap();
    let mut waiters = [resume(), resume(), resume()];
    // Each says so when it waits; who comes later than the answer would not have waited.
    for waiter in &mut waiters {
        use std::io::BufRead;
        let mut line = String::new();
        std::io::BufReader::new(waiter.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("waits for approval"), "{line}");
    }
    desk.run(&["approvals", "approve", &call]).ended(0);
    let codes = waiters.map(|waiter| finished(waiter).code);
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 3].contains(code)), "{codes:?}");
    assert_eq!(desk.effects(), ["hello"]);
}

#[test]
fn a_word_behind_wait_that_is_no_span_belongs_to_the_call() {
    let desk = Desk::new();
    let path = desk.path();
    for words in [
        &["call", "publish_note", &path, "--wait", "text=x"][..],
        &["call", "--wait", "publish_note", "text=x", &path],
        &["call", "publish_note", "--wait", &path, "text=x"],
        &["call", "publish_note", &path, "text=x", "--wait"],
        &["call", "--wait", "60", "publish_note", &path, "text=x"],
        &["call", "publish_note", &path, "--wait", "1m", "text=x"],
    ] {
        let child = desk.home.own_tools(words).spawn().unwrap();
        let call = parked(&desk.home, "x");
        desk.run(&["approvals", "approve", &call]).ended(0);
        assert_eq!(finished(child).ended(0).out, "noted\n", "{words:?}");
    }
    assert_eq!(desk.effects().len(), 6);
    assert_eq!(desk.home.run(&["call", "--wait", "calculator", "expression=1+1"]).ended(0).out, "2\n");
}

#[test]
fn a_question_that_expires_ends_the_wait() {
    let desk = Desk::new();
    let report = desk.call_with("hello", &["--wait", "--set", "policy.approval_expires=1s"]).ended(3).json();
    assert_eq!((&report["outcome"], &report["rule"]), (&json!("denied"), &json!("approval.expired")));
    assert!(desk.effects().is_empty());
}
