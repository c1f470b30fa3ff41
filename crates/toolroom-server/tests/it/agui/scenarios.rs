//! What clients do, and what comes of it.

use std::io::{BufRead, BufReader, Write};

use serde_json::json;

use super::client::{CLIENTS, Stage};
use super::reader::reads;
use crate::scripted_model::Line;
use crate::serve::Served;

const ASK: &str = "[[rule]]\nid = \"ask\"\neffect = \"ask\"\ntool = \"builtin:calculator\"\nreason = \"sums are serious\"\n";

fn calculate() -> (&'static str, serde_json::Value) {
    ("builtin__calculator", json!({"expression": "17*23"}))
}

fn weather(city: &str) -> (&'static str, serde_json::Value) {
    ("client__get_weather", json!({ "city": city }))
}

fn calls<const N: usize>(calls: [(&'static str, serde_json::Value); N]) -> Line {
    Line::CallsAll(calls.into())
}

/// Plays a scenario with every client, each at a server of its own.
#[track_caller]
fn played(scenario: &str, config: &str, script: impl Fn() -> Vec<Line>) -> Vec<Stage> {
    let stages = CLIENTS.map(|version| {
        let stage = Stage::new(script(), config);
        stage.plays(scenario, version);
        if stage.record().exists() {
            reads(&stage.record());
        }
        stage
    });
    stages.into()
}

#[test]
fn words_thoughts_state_and_context_reach_both_sides() {
    let script = || vec![Line::Thinks("Who is it?", "Hello, Ada."), Line::says("Still here.")];
    for stage in played("words", "", script) {
        let asked = stage.model.asked();
        assert_eq!(asked.len(), 2, "nothing new is nothing to be asked");
        let system = asked[0]["messages"][0]["content"].to_string();
        assert!(system.contains("Ada") && system.contains("the cart"), "{system}");
    }
}

#[test]
fn a_tool_of_the_server_is_called_and_shown() {
    played("server_tool", "", || vec![calls([calculate()]), Line::says("It is 391.")]);
}

#[test]
fn a_tool_of_the_client_is_run_by_the_client() {
    let script = || vec![calls([weather("Oslo")]), Line::says("It is 12 C in Oslo.")];
    for stage in played("client_tool", "", script) {
        let read = stage.model.asked()[1]["messages"].to_string();
        assert!(read.contains("12 C in Oslo"), "{read}");
        let journal = stage.served.home.journal();
        assert_eq!((journal.len(), &journal[0]["tool"]), (1, &json!("client:get_weather")));
        assert_eq!(journal[0]["status"], "done");
    }
}

#[test]
fn a_failure_of_the_client_is_one_for_the_model() {
    let script = || vec![calls([weather("Oslo")]), Line::says("I could not see it.")];
    for stage in played("client_failure", "", script) {
        let read = stage.model.asked()[1]["messages"].to_string();
        assert!(read.contains("the window was closed"), "{read}");
        assert_eq!(stage.served.home.journal()[0]["status"], "failed");
    }
}

#[test]
fn one_answer_may_call_tools_of_both_and_results_come_in_any_order() {
    let script =
        || vec![calls([weather("Oslo"), calculate(), weather("Bergen")]), Line::says("Both are done.")];
    for stage in played("mixed", "", script) {
        assert_eq!(stage.model.asked().len(), 2);
        assert_eq!(stage.served.home.journal().len(), 3);
    }
}

#[test]
fn a_question_is_an_interrupt_and_its_answer_counts_once() {
    let script = || vec![calls([calculate()]), Line::says("Good.")];
    for stage in played("approve", ASK, script) {
        assert_eq!(stage.served.home.journal().len(), 1);
    }
    played("deny", ASK, script);
    played("edit", ASK, script);
    played("cancel", ASK, script);
}

#[test]
fn the_rules_of_interrupts_hold_for_every_input() {
    played("rules", ASK, || vec![calls([calculate(), calculate()]), Line::says("Good.")]);
}

#[test]
fn an_expired_question_can_only_be_cancelled() {
    let config = format!("[policy]\napproval_expires = \"2s\"\n{ASK}");
    played("expiry", &config, || vec![calls([calculate()]), Line::says("Good.")]);
}

#[test]
fn a_client_tool_is_asked_about_before_the_client_hears_of_it() {
    let config = ASK.replace("builtin:calculator", "client:*");
    played("client_tool_asked_about", &config, || vec![calls([weather("Oslo")]), Line::says("Rain.")]);
}

#[test]
fn no_client_answers_for_the_operator() {
    let config = format!("{ASK}by = \"operator\"\n");
    for version in CLIENTS {
        let stage = Stage::new([calls([calculate()]), Line::says("Good.")], &config);
        let mut client = stage.client("operator", version).spawn().unwrap();
        let mut call = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut call).unwrap();
        let call = call.trim();
        assert!(!call.is_empty(), "{version}");
        stage.served.home.run(&["approvals", "approve", call]).ended(0);
        client.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert!(client.wait().unwrap().success(), "{version}");
    }
}

#[test]
fn who_hangs_up_cancels_the_run_and_the_thread_goes_on() {
    for stage in played("abort", "", || vec![Line::stalls("Once upon a time"), Line::says("Brief.")]) {
        assert_eq!(stage.model.asked().len(), 2);
    }
}

#[test]
fn a_run_goes_on_without_its_client_where_the_agent_says_so() {
    let config = "[agent.default]\non_disconnect = \"continue\"\n";
    for stage in played("continues", config, || vec![Line::says("Brief.")]) {
        assert_eq!(stage.model.asked().len(), 1);
    }
}

#[test]
fn words_that_broke_off_are_taken_back() {
    played("void", "", || vec![Line::BreaksOff("Half an"), Line::says("A whole answer.")]);
}

#[test]
fn a_run_that_failed_says_why_and_can_be_tried_again() {
    played("failure", "", || vec![Line::Refuses(400), Line::says("Better now.")]);
}

#[test]
fn what_was_said_elsewhere_is_known_here() {
    for stage in played("history", "", || vec![Line::says("Ada.")]) {
        let read = stage.model.asked()[0]["messages"].to_string();
        assert!(read.contains("My name is Ada.") && read.contains("Hello Ada."), "{read}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_begins() {
    for stage in played("refusals", "", Vec::new) {
        assert!(stage.model.asked().is_empty());
    }
}

#[test]
fn one_run_at_a_time_in_a_thread() {
    played("busy", "", || vec![Line::stalls("Once upon a time")]);
}

/// A server that goes away in the middle of an answer, and comes back.
fn goes_away(scenario: &str, version: &str, goes: impl Fn(&mut Served)) {
    let script = [Line::stalls("Once"), Line::says("Here I am again."), Line::says("Goodbye.")];
    let mut stage = Stage::new(script, "");
    let mut client = stage.client(scenario, version).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "said\n", "{version}");
    goes(&mut stage.served);
    assert!(client.wait().unwrap().success(), "{version}");
    stage.starts_again();
    stage.plays("after_crash", version);
    let runs = stage.served.home.run(&["runs", "list", "--json"]).ended(0).json();
    assert_eq!(runs.as_array().unwrap().len(), 2, "the first one went on: {runs}");
}

#[test]
fn after_a_crash_the_thread_goes_on_with_its_next_run() {
    for version in CLIENTS {
        goes_away("crash", version, Served::dies);
    }
}

#[test]
fn a_server_that_ends_says_so_and_the_thread_goes_on() {
    goes_away("ending", "1.0.0", Served::ends);
}
