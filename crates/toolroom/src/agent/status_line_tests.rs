use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::clock::Timestamp;
use crate::conversation::{CallNotice, RunFailure};
use crate::ledger::{Answerer, CallId};
use crate::model::Usage;

fn line(events: &[RunEvent]) -> String {
    let mut status = StatusLine::default();
    for event in events {
        status.update(event);
    }
    status.line().unwrap_or_default()
}

fn asking() -> RunEvent {
    RunEvent::Asking { model: "v/m".into(), iteration: 1 }
}

fn began(id: &str, title: &str) -> RunEvent {
    RunEvent::CallBegan(CallNotice {
        id: ModelCallId::new(id),
        tool: "builtin:calculator".into(),
        title: title.to_owned(),
        arguments: Arc::new(json!({})),
    })
}

fn ended(id: &str) -> RunEvent {
    RunEvent::CallEnded {
        id: ModelCallId::new(id),
        call: CallId::new("call_1"),
        tool: "builtin:calculator".into(),
        outcome: "done".to_owned(),
        result: Arc::new(json!(2)),
        artifact: None,
        offers: Vec::new(),
        duration_us: 1,
    }
}

fn reasoning(text: &str) -> RunEvent {
    RunEvent::Reasoning { text: text.to_owned() }
}

fn void(next: Option<&str>, after_ms: Option<u64>) -> RunEvent {
    RunEvent::Void { reason: "rate limit".to_owned(), next: next.map(Into::into), after_ms }
}

#[test]
fn one_tool_is_named_and_several_are_counted() {
    assert_eq!(line(&[]), "");
    assert_eq!(line(&[asking()]), "Working…");
    assert_eq!(line(&[asking(), began("a", "Calculator")]), "Working… · Calculator");
    assert_eq!(line(&[asking(), began("a", "")]), "Working… · calculator");
    let two = [asking(), began("a", "Calculator"), began("b", "Clock")];
    assert_eq!(line(&two), "Working… · 2 Tools");
    assert_eq!(line(&[&two[..], &[ended("a")]].concat()), "Working… · Clock");
    assert_eq!(line(&[&two[..], &[ended("a"), ended("b")]].concat()), "Working…");
}

#[test]
fn a_tool_tells_how_far_it_is() {
    let progress = |fraction| RunEvent::CallProgress {
        id: ModelCallId::new("a"),
        message: "page 3".to_owned(),
        fraction,
    };
    assert_eq!(line(&[began("a", "Fetch"), progress(Some(0.4))]), "Working… · Fetch · 40 % page 3");
    assert_eq!(line(&[began("a", "Fetch"), progress(Some(f64::NAN))]), "Working… · Fetch · page 3");
}

#[test]
fn thoughts_show_their_last_line() {
    assert_eq!(line(&[asking(), reasoning("")]), "Thinking…");
    let thoughts = [asking(), reasoning("**Looking at the da"), reasoning("ta**\n"), reasoning("\n")];
    assert_eq!(line(&thoughts), "Thinking… · Looking at the data");
    let endless = line(&[asking(), reasoning(&"word ".repeat(100_000))]);
    assert!(endless.chars().count() < 80, "{endless}");
}

#[test]
fn writing_waiting_and_trying_again_are_told() {
    assert_eq!(line(&[RunEvent::Writing { tool: "mcp:git:commit".into() }]), "Working… · commit");
    assert_eq!(line(&[RunEvent::Text { text: "The".to_owned() }]), "Answering…");
    assert_eq!(line(&[void(None, Some(2_400))]), "Trying again in 3 s · rate limit");
    assert_eq!(line(&[void(None, None)]), "Trying again · rate limit");
    assert_eq!(line(&[void(Some("v/other"), None)]), "Asking v/other instead · rate limit");
    let waiting = |calls: usize| RunEvent::Waiting { calls: vec![CallId::new("call_1"); calls] };
    assert_eq!(line(&[began("a", "Shell"), waiting(1)]), "Waiting for an answer");
    assert_eq!(line(&[waiting(3)]), "Waiting for 3 answers");
    let guarded = RunEvent::Guarded { guard: "repeat".to_owned(), reason: String::new() };
    assert_eq!(line(&[guarded, asking()]), "Finishing…");
}

#[test]
fn a_question_is_told_once_nothing_runs_any_more() {
    let asks = RunEvent::Asks {
        id: ModelCallId::new("a"),
        call: CallId::new("call_1"),
        tool: "builtin:shell".into(),
        rule: "default.exec".to_owned(),
        reason: String::new(),
        by: Answerer::Caller,
        expires_at: Timestamp::from_micros(0),
    };
    let begun = [asking(), began("a", "Shell"), began("b", "Clock"), asks];
    assert_eq!(line(&begun), "Working… · Clock");
    assert_eq!(line(&[&begun[..], &[ended("b")]].concat()), "Waiting for an answer");
    assert_eq!(line(&[&begun[..], &[ended("b"), ended("a")]].concat()), "Working…");
}

#[test]
fn the_line_waits_for_the_client_once_no_answer_is_missing() {
    let handed = |id: &str| RunEvent::Handed {
        id: ModelCallId::new(id),
        call: CallId::new("call_1"),
        tool: "client:pick".into(),
        expires_at: Timestamp::from_micros(0),
    };
    let waiting = |calls: usize| RunEvent::Waiting { calls: vec![CallId::new("call_1"); calls] };
    let one = [asking(), began("a", "Pick"), began("b", "Clock"), handed("a")];
    assert_eq!(line(&one), "Working… · Clock");
    assert_eq!(line(&[&one[..], &[ended("b")]].concat()), "Waiting for a result of the client");
    assert_eq!(line(&[&one[..], &[ended("b"), waiting(1)]].concat()), "Waiting for a result of the client");
    assert_eq!(line(&[handed("a"), handed("b"), waiting(2)]), "Waiting for 2 results of the client");
    assert_eq!(
        line(&[handed("a"), waiting(2)]),
        "Waiting for an answer",
        "what people have to do comes first"
    );
    assert_eq!(line(&[handed("a"), handed("b"), waiting(5)]), "Waiting for 3 answers");
}

#[test]
fn nothing_is_told_of_a_run_that_is_over() {
    let failure = RunFailure { kind: "stopped".to_owned(), message: String::new() };
    let done = RunEvent::Done { text: String::new(), usage: Usage::default(), cost: 0.0 };
    for end in [done, RunEvent::Failed(failure), RunEvent::Cancelled] {
        assert_eq!(line(&[asking(), began("a", "Clock"), end]), "");
    }
}
