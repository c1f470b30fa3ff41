//! Agents for programs that speak to OpenAI: its own client talks to the real server.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;

/// A server whose model follows a script, and the client's part of it.
#[track_caller]
fn plays(scenario: &str, script: impl IntoIterator<Item = Line>) -> ScriptedModel {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openai");
    let python = folder.join("venv/bin/python");
    assert!(python.is_file(), "{} is missing: run `make setup`", python.display());
    let (served, model) = Served::over(script, "");
    let key = served.key("local", "chat");
    let mut command = Command::new(&python);
    command.arg(folder.join("talk.py")).args([scenario, &served.origin(), &key]);
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{scenario}: {}", String::from_utf8_lossy(&ended.stderr));
    model
}

#[test]
fn an_agent_answers_with_what_was_said_before_in_mind() {
    let model = plays("words", [Line::says("You are Ada.")]);
    let asked = model.asked();
    let messages = asked[0]["messages"].to_string();
    assert!(messages.contains("My name is Ada.") && messages.contains("Hello Ada."), "{messages}");
    assert!(messages.contains("Be short."), "{messages}");
}

#[test]
fn an_answer_comes_in_pieces() {
    plays("pieces", [Line::says("one two three")]);
}

/// A tool of the program and one of ours in the same turn.
fn weather_and_sum() -> [Line; 2] {
    let calls =
        vec![("get_weather", json!({"city": "Oslo"})), ("calculator", json!({"expression": "17*23"}))];
    [Line::CallsAll(calls), Line::says("12 C and 391.")]
}

#[test]
fn a_program_runs_its_own_tools() {
    plays("tools", weather_and_sum());
}

#[test]
fn calls_come_in_pieces_too() {
    plays("tools_in_pieces", weather_and_sum());
}
