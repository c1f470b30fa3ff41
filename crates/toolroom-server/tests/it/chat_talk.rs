//! `toolroom chat` at a terminal.

use std::process::Command;

use rustix::process::Signal;
use serde_json::json;

use crate::approvals::{Desk, OPERATORS};
use crate::home::Home;
use crate::pty::{Pty, PtySession, Stdout};
use crate::scripted_model::{Line, ScriptedModel};

/// A user at an empty prompt.
fn sits_down(command: &Command) -> PtySession {
    let mut sitting = Pty::new(100).starts(command, Stdout::Terminal);
    sitting.sees("Toolroom · model lab/m");
    prompted(&mut sitting);
    sitting
}

/// Waits until the prompt reads input.
#[track_caller]
fn prompted(sitting: &mut PtySession) {
    sitting.sees("\u{1b}[J› ");
    sitting.is_listened_to();
}

fn home(script: impl IntoIterator<Item = Line>) -> (Home, ScriptedModel) {
    let (home, model) = (Home::new(), ScriptedModel::starts(script));
    model.is_set_up_in(home.path(), "");
    (home, model)
}

/// A desk whose model wants to publish something and then says this.
fn publishing(config: &str, then: &str) -> (Desk, ScriptedModel) {
    let desk = Desk::new();
    let call = Line::Calls("publish_note", json!({"path": desk.notes, "text": "hello"}));
    let model = ScriptedModel::starts([call, Line::says(then), Line::says("and on")]);
    model.is_set_up_in(desk.home.path(), config);
    (desk, model)
}

#[test]
fn people_talk_use_tools_and_leave() {
    let (home, model) = home([
        Line::Calls("calculator", json!({"expression": "17*23"})),
        Line::says("It is 391."),
        Line::says("782, of course."),
    ]);
    let mut sitting = sits_down(&home.command(&[]));
    sitting.types("what is 17*23?\r");
    sitting.sees("● Calculator  expression=17*23");
    sitting.sees("It is 391.");
    prompted(&mut sitting);
    sitting.types("/calls\r");
    sitting.sees("\"expression\": \"17*23\"");
    prompted(&mut sitting);
    sitting.types("and twice?\\\rthat\r");
    sitting.sees("782, of course.");
    prompted(&mut sitting);
    sitting.types("/status\r");
    sitting.sees("3 to 2 messages");
    sitting.sees("300 input, 60 output");
    prompted(&mut sitting);
    sitting.types("/hlep\r");
    sitting.sees("did you mean /help?");
    prompted(&mut sitting);
    sitting.types("/help\r");
    sitting.sees("Start a new conversation");
    prompted(&mut sitting);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
    let last = model.asked().pop().unwrap();
    assert_eq!(last["messages"].as_array().unwrap().last().unwrap()["content"], "and twice?\nthat");
    // The arrows bring it back, in another sitting too.
    let mut sitting = sits_down(&home.command(&["chat"]));
    sitting.types("\u{1b}[A\u{1b}[A\u{1b}[A\u{1b}[A");
    sitting.sees("and twice?");
    sitting.types("\u{3}");
    prompted(&mut sitting);
    sitting.types("\u{3}");
    sitting.sees("Press Ctrl-C again");
    prompted(&mut sitting);
    sitting.types("\u{3}");
    sitting.leaves().ended(130);
}

#[test]
fn a_question_is_answered_in_the_middle_of_a_talk() {
    for (key, effects, says) in
        [("y", 1, "so be it"), ("n", 0, "so be it"), ("x", 0, "Stopped; the conversation is kept")]
    {
        let (desk, _model) = publishing("", "so be it");
        let mut sitting = sits_down(&desk.home.own_tools(&["chat"]));
        sitting.types("publish hello\r");
        sitting.sees("app:publish_note wants to run");
        sitting.is_asked();
        sitting.types(key);
        sitting.sees(says);
        prompted(&mut sitting);
        assert_eq!(desk.effects().len(), effects, "{key}");
        sitting.types("go on\r");
        sitting.sees(if key == "x" { "so be it" } else { "and on" });
        prompted(&mut sitting);
        sitting.types("/exit\r");
        sitting.leaves().ended(0);
    }
}

#[test]
fn arguments_are_edited_in_the_middle_of_a_talk() {
    let (desk, _model) = publishing("", "so be it");
    let mut sitting = sits_down(&desk.home.own_tools(&["chat"]));
    // What is typed before the question is no answer to it, and no message either.
    sitting.types("publish hello\ry");
    sitting.is_asked();
    sitting.types("e");
    sitting.sees("All arguments as one line of JSON");
    sitting.types(&format!("{}\n", json!({"path": desk.notes, "text": "edited"})));
    sitting.sees("Edited; replaced by call_");
    sitting.sees("so be it");
    prompted(&mut sitting);
    assert_eq!(desk.effects(), ["edited"]);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
}

#[test]
fn what_is_the_operators_is_said_and_the_talk_goes_on() {
    let (desk, _model) = publishing(OPERATORS, "so be it");
    let mut sitting = sits_down(&desk.home.own_tools(&["chat"]));
    sitting.types("publish hello\r");
    sitting.sees("waiting for approval by the operator");
    prompted(&mut sitting);
    sitting.types("well?\r");
    sitting.sees("the last answer is still waiting for call_");
    prompted(&mut sitting);
    desk.run(&["approvals", "approve", &desk.newest()]).ended(0);
    sitting.types("well?\r");
    sitting.sees("so be it");
    sitting.sees("and on");
    prompted(&mut sitting);
    assert_eq!(desk.effects(), ["hello"]);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
}

#[test]
fn a_question_that_was_left_is_asked_again_when_the_talk_goes_on() {
    let (desk, _model) = publishing("", "so be it");
    desk.run(&["chat", "publish hello"]).ended(4);
    let mut sitting = sits_down(&desk.home.own_tools(&["chat", "--continue"]));
    sitting.types("well?\r");
    sitting.is_asked();
    sitting.types("\u{1b}");
    sitting.sees("Send any message after the approval");
    prompted(&mut sitting);
    sitting.types("well?\r");
    sitting.is_asked();
    sitting.types("y");
    sitting.sees("so be it");
    sitting.sees("and on");
    prompted(&mut sitting);
    assert_eq!(desk.effects(), ["hello"]);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
}

#[test]
fn ctrl_c_stops_the_answer_and_keeps_the_conversation() {
    let (home, model) = home([Line::stalls("It begins. "), Line::says("Here I am.")]);
    let mut sitting = sits_down(&home.command(&["chat"]));
    sitting.types("first\r");
    sitting.sees("It begins");
    sitting.types("\u{3}");
    sitting.sees("Stopped; the conversation is kept");
    prompted(&mut sitting);
    sitting.types("are you there?\r");
    sitting.sees("Here I am.");
    prompted(&mut sitting);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
    let asked = model.asked().pop().unwrap().to_string();
    assert!(asked.contains("first") && asked.contains("are you there?"), "{asked}");
    let runs = home.run(&["runs", "--json"]).ended(0).json();
    assert_eq!((&runs[0]["state"], &runs[1]["state"]), (&json!("done"), &json!("cancelled")));
}

#[test]
fn after_a_sudden_death_the_conversation_goes_on() {
    let (home, model) = home([Line::stalls("It begins. "), Line::says("Here I am.")]);
    let mut child = home.command(&["chat", "first"]).spawn().unwrap();
    model.is_asked(1);
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = home.run(&["chat", "--continue", "are you there?"]).ended(0);
    assert_eq!(ran.out, "Here I am.\n");
    let asked = model.asked().pop().unwrap().to_string();
    assert!(asked.contains("first") && asked.contains("are you there?"), "{asked}");
}

#[test]
fn a_polite_request_to_end_ends_the_talk() {
    let (home, _model) = home([Line::stalls("It begins. ")]);
    let sitting = sits_down(&home.command(&["chat"]));
    sitting.is_sent(Signal::TERM);
    sitting.leaves().ended(130);
    let mut sitting = sits_down(&home.command(&["chat"]));
    sitting.types("first\r");
    sitting.sees("It begins");
    sitting.is_sent(Signal::TERM);
    sitting.leaves().ended(130);
}

#[test]
fn what_a_model_says_moves_nothing_on_the_screen() {
    let hostile =
        "\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;http://evil\u{7}link\u{1b}]52;c;AAAA\u{7}\u{202e}\r\u{8}end";
    let (home, _model) = home([Line::Says(vec![hostile.to_owned()]), Line::Says(vec!["x".repeat(100_000)])]);
    for plain in [&["chat", "hi"][..], &["chat", "hi", "--plain"]] {
        let mut command = home.command(plain);
        command.env("CLICOLOR_FORCE", "1");
        let left = Pty::new(80).starts(&command, Stdout::Terminal).leaves().ended(0);
        for bad in ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\u{202e}", "\u{8}"] {
            assert!(
                !left.screen.contains(bad),
                "{bad:?} in {:?}",
                &left.screen[..left.screen.len().min(500)]
            );
        }
    }
}

#[test]
fn an_answer_that_broke_off_is_asked_for_again() {
    let (home, _model) = home([Line::BreaksOff("half an answer, "), Line::says("the whole answer")]);
    let left = Pty::new(80).starts(&home.command(&["chat", "hi"]), Stdout::Terminal).leaves().ended(0);
    left.shows("half an answer").shows("answer interrupted").shows("the whole answer");
}

#[test]
fn who_answers_instead_is_said() {
    let (home, _model) = home([Line::Refuses(400), Line::says("I am the other one.")]);
    let command = home.command(&["chat", "hi", "--model", "lab/first", "--model", "lab/second"]);
    let left = Pty::new(80).starts(&command, Stdout::Terminal).leaves().ended(0);
    left.shows("trying lab/second").shows("I am the other one.").shows("Answered by lab/second");
}

#[test]
fn a_secret_is_not_remembered_for_the_arrow_keys() {
    let (home, _model) = home([Line::says("noted")]);
    let mut sitting = sits_down(&home.command(&["chat"]));
    sitting.types("my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD\r");
    sitting.sees("noted");
    prompted(&mut sitting);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
    let kept = std::fs::read_to_string(home.path().join("chat_history")).unwrap();
    assert!(kept.contains("my key is") && !kept.contains("abcdefghijklmnop"), "{kept}");
}

#[test]
fn a_terminal_that_draws_nothing_is_enough() {
    let (home, model) = home([Line::says("understood")]);
    let mut command = home.command(&["chat", "--plain"]);
    command.env("TERM", "dumb");
    let mut sitting = Pty::new(80).starts(&command, Stdout::Terminal);
    sitting.sees("› ");
    sitting.types("one\\\ntwo\n");
    sitting.sees("understood");
    sitting.sees("› ");
    sitting.types("/exit\n");
    let left = sitting.leaves().ended(0);
    assert!(!left.screen.contains('\u{1b}'), "{:?}", left.screen);
    assert!(model.asked()[0].to_string().contains("one\\ntwo"));
}

#[test]
fn a_newcomer_needs_no_key() {
    let home = Home::new();
    let mut command = home.command(&[]);
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_HOST"] {
        command.env_remove(name);
    }
    let mut sitting = Pty::new(100).starts(&command, Stdout::Terminal);
    sitting.sees("No model connected");
    sitting.sees("OPENAI_API_KEY");
    prompted(&mut sitting);
    sitting.types("what is 17*23?\r");
    sitting.sees("● Calculator");
    sitting.sees("391");
    prompted(&mut sitting);
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
}
