//! The question on a terminal: what it shows, what each key does, and that nothing else answers it.

use std::io::{BufRead, BufReader};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::approvals::{Desk, OPERATORS};
use crate::home::finished;
use crate::pty::{Pty, PtySession, Stdout};

/// A user at a terminal who is asked about a call.
fn asked(desk: &Desk, text: &str) -> PtySession {
    let mut sitting = Pty::new(80).starts(&publish(desk, text, &[]), Stdout::Terminal);
    sitting.is_asked();
    sitting
}

fn publish(desk: &Desk, text: &str, more: &[&str]) -> Command {
    let (path, text) = (desk.path(), format!("text={text}"));
    desk.home.own_tools(&[&["call", "publish_note", &path, &text], more].concat())
}

#[test]
fn a_question_shows_what_is_asked_and_yes_runs_it_once() {
    let desk = Desk::new();
    let mut sitting = Pty::new(100).starts(&publish(&desk, "hello", &[]), Stdout::Terminal);
    sitting.sees("app:publish_note wants to run");
    sitting.sees(&desk.parked());
    sitting.sees("via cli · 23 h left");
    sitting.sees(&format!("  path │ {}", desk.notes.display()));
    sitting.sees("  text │ hello");
    sitting.sees("reason: `publish_note` changes something and its risk is medium (rule default.write)");
    sitting.sees("approver: caller or operator");
    sitting.sees("[y] once  [s] this session  [a] always…  [n] no  [d] never…  [e] edit  [x] stop the run");
    sitting.is_asked();
    sitting.types("y");
    sitting.sees("Approved once");
    sitting.leaves().ended(0).shows("noted");
    assert_eq!(desk.effects(), ["hello"]);
    let question = desk.question(&desk.newest());
    assert_eq!((&question["state"], &question["answered_by"]), (&json!("used"), &json!("caller")));
}

#[test]
fn each_key_has_one_meaning() {
    for (key, code, status, says) in [
        ("s", 0, "done", "Approved for this conversation"),
        ("n", 3, "denied", "denied: a person said no"),
        ("x", 3, "denied", "denied: a person said no, and to end the run"),
    ] {
        let desk = Desk::new();
        let sitting = asked(&desk, "hello");
        sitting.types(key);
        sitting.leaves().ended(code).shows(says);
        assert_eq!(desk.status(), status, "{key}");
        assert_eq!(desk.effects().len(), usize::from(code == 0), "{key}");
        assert_eq!(desk.call("hello").code, 4, "{key} is about one call");
    }
}

#[test]
fn always_and_never_show_how_far_they_reach_before_they_are_saved() {
    for (key, effect, code, next) in [("a", "allow", 0, 0), ("d", "deny", 3, 3)] {
        let desk = Desk::new();
        desk.call("hello").ended(4);
        desk.call("other").ended(4);
        let mut sitting = asked(&desk, "hello");
        // Thought better of it: at the condition, with a condition that does not fit, and at the last question.
        sitting.types(key);
        sitting.sees("Condition, such as");
        sitting.types("args.text == 'else'\n");
        sitting.sees("error: the condition `args.text == 'else'` is false for this call");
        sitting.is_asked();
        sitting.types(key);
        sitting.sees("Condition, such as");
        sitting.types("args.text == 'hello'\n");
        sitting.sees(&format!("{effect} app:publish_note when args.text == 'hello'"));
        sitting.sees("would have decided 1 of the last 2 calls");
        sitting.sees("Save this rule?");
        sitting.is_listened_to();
        sitting.types("n");
        sitting.is_asked();
        assert_eq!(desk.question(&desk.newest())["state"], "waiting");
        sitting.types(key);
        sitting.sees("Condition, such as");
        sitting.types("args.text == 'hello'\n");
        sitting.sees("Save this rule?");
        sitting.is_listened_to();
        sitting.types("y");
        sitting.leaves().ended(code);
        desk.call("hello").ended(next);
        assert!(desk.home.journal()[0]["rule"].as_str().unwrap().starts_with("ans_"));
        desk.call("other").ended(4);
    }
}

#[test]
fn an_edit_runs_with_the_other_arguments() {
    let desk = Desk::new();
    let mut sitting = asked(&desk, "hello");
    for (line, says) in [
        ("not json", "error: invalid arguments:"),
        ("{\"text\": \"no path\"}", "error: the edited arguments are refused: invalid arguments"),
    ] {
        sitting.types("e");
        sitting.sees("one line of JSON");
        sitting.types(&format!("{line}\n"));
        sitting.sees(says);
        sitting.is_asked();
    }
    sitting.types("e");
    sitting.sees(&json!({"path": desk.notes, "text": "hello"}).to_string());
    sitting.sees("one line of JSON");
    let arguments = json!({"path": desk.notes, "text": "edited"}).to_string();
    // A terminal breaks long lines itself; this one has to fit into what it takes at once.
    assert!(arguments.len() < 4_000);
    sitting.types(&format!("{arguments}\n"));
    sitting.sees("eplaced by");
    sitting.leaves().ended(0).shows("noted");
    assert_eq!(desk.effects(), ["edited"]);
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    for early in ["y\n", "yyyy\ny", "\u{1b}[Ay\n"] {
        let desk = Desk::new();
        let seat = Pty::new(80);
        seat.types_ahead(early);
        let mut sitting = seat.starts(&publish(&desk, "hello", &[]), Stdout::Terminal);
        sitting.is_asked();
        sitting.types("\u{1b}");
        sitting.leaves().ended(4);
        assert_eq!(desk.question(&desk.newest())["state"], "waiting", "{early:?}");
        assert!(desk.effects().is_empty(), "{early:?}");
    }
}

#[test]
fn keys_that_mean_nothing_change_nothing() {
    let desk = Desk::new();
    let mut sitting = asked(&desk, "hello");
    for odd in ["q", "Y", "\n", " ", "é", "1", "\u{1a}", "\u{7f}", "\t"] {
        sitting.types(odd);
        sitting.is_asked();
        assert_eq!(desk.question(&desk.newest())["state"], "waiting", "{odd:?}");
    }
    // Keys that send several letters are no letters.
    sitting.types("\u{1b}[A\u{1b}OP\u{1b}[15~n");
    sitting.leaves().ended(3);
}

#[test]
fn neither_a_paste_nor_the_mouse_nor_the_terminal_itself_answers() {
    for noise in ["\u{1b}[200~y\n\u{1b}[201~", "\u{1b}[My!!", "\u{9b}y", "\u{1b}]52;c;y\u{7}", "\u{1b}(y"] {
        let desk = Desk::new();
        let sitting = asked(&desk, "hello");
        sitting.types(&format!("{noise}n"));
        sitting.leaves().ended(3);
        assert_eq!((desk.status().as_str(), desk.effects().len()), ("denied", 0), "{noise:?}");
    }
}

#[test]
fn leaving_the_prompt_keeps_the_question_open() {
    for (key, code) in [("\u{1b}", 4), ("\u{4}", 4), ("\u{3}", 130), ("\u{1c}", 130)] {
        let desk = Desk::new();
        let sitting = asked(&desk, "hello");
        sitting.types(key);
        let left = sitting.leaves().ended(code).shows("toolroom call --resume call_");
        assert!(left.screen.contains("waits for approval"), "{}", left.screen);
        assert_eq!((desk.status().as_str(), desk.effects().len()), ("pending", 0), "{key:?}");
    }
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let desk = Desk::new();
        let sitting = asked(&desk, "hello");
        sitting.is_sent(signal);
        sitting.leaves().ended(130);
        assert_eq!((desk.status().as_str(), desk.effects().len()), ("pending", 0), "{signal:?}");
    }
}

#[test]
fn an_interrupt_ends_the_typing_of_a_line_too() {
    for key in ["a", "d", "e"] {
        let desk = Desk::new();
        let mut sitting = asked(&desk, "hello");
        sitting.types(key);
        sitting.sees(":\n");
        sitting.types("half a line\u{3}");
        sitting.leaves().ended(130);
        assert_eq!(desk.status(), "pending");
    }
    let desk = Desk::new();
    let mut sitting = asked(&desk, "hello");
    sitting.types("a");
    sitting.sees("Condition, such as");
    sitting.types("\n");
    sitting.sees("Save this rule?");
    sitting.is_listened_to();
    sitting.types("\u{3}");
    sitting.leaves().ended(130);
    assert_eq!(desk.status(), "pending");
}

#[test]
fn an_answer_from_elsewhere_is_gone_on_with() {
    let edited = |desk: &Desk| json!({"path": desk.notes, "text": "edited"}).to_string();
    for (way, code, effect) in [("approve", 0, Some("hello")), ("deny", 3, None), ("edit", 0, Some("edited"))]
    {
        for typing in [false, true] {
            let desk = Desk::new();
            let mut sitting = asked(&desk, "hello");
            if typing {
                sitting.types("a");
                sitting.sees("Condition, such as");
                sitting.types("half a condition");
            }
            let call = desk.newest();
            match way {
                "edit" => desk.run(&["approvals", "approve", &call, "--edit", &edited(&desk)]).ended(0),
                way => desk.run(&["approvals", way, &call]).ended(0),
            };
            sitting.sees(if way == "edit" { "Edited elsewhere" } else { "Answered elsewhere" });
            sitting.leaves().ended(code);
            assert_eq!(desk.effects(), effect.as_slice(), "{way}");
        }
    }
}

#[test]
fn a_question_whose_time_runs_out_is_denied() {
    let desk = Desk::new();
    let command = publish(&desk, "hello", &["--set", "policy.approval_expires=1s"]);
    let mut sitting = Pty::new(80).starts(&command, Stdout::Terminal);
    sitting.sees("Expired without an answer");
    sitting.leaves().ended(3).shows("denied: not answered");
    assert_eq!((desk.status().as_str(), desk.effects().len()), ("denied", 0));
}

#[test]
fn patience_holds_on_a_terminal_too() {
    let desk = Desk::new();
    let sitting = Pty::new(80).starts(&publish(&desk, "hello", &["--wait", "300ms"]), Stdout::Terminal);
    sitting.leaves().ended(4).shows("wants to run");
    assert_eq!(desk.status(), "pending");
}

#[test]
fn who_does_not_want_to_be_asked_is_not() {
    let desk = Desk::new();
    let quiet = Pty::new(80).starts(&publish(&desk, "hello", &["--no-input"]), Stdout::Terminal).leaves();
    let quiet = quiet.ended(4).shows("waits for approval");
    assert!(!quiet.screen.contains("[y]"), "{}", quiet.screen);
    let yes = Pty::new(80).starts(&publish(&desk, "hello", &["--yes"]), Stdout::Terminal).leaves();
    assert!(!yes.ended(0).screen.contains("[y]"));

    // JSON goes to stdout, and asking to stderr: a script in a terminal is asked, like `sudo` asks.
    let mut sitting = Pty::new(80).starts(&publish(&desk, "hello", &["--json"]), Stdout::Pipe);
    sitting.is_asked();
    sitting.types("y");
    let left = sitting.leaves().ended(0);
    let report: serde_json::Value = serde_json::from_str(&left.out).unwrap();
    assert_eq!((&report["outcome"], &report["result"]), (&json!("done"), &json!("noted")));

    let mut sitting = Pty::new(80).starts(&publish(&desk, "hello", &["--json"]), Stdout::Pipe);
    sitting.is_asked();
    sitting.types("\u{1b}");
    let report: serde_json::Value = serde_json::from_str(&sitting.leaves().ended(4).out).unwrap();
    assert_eq!((&report["outcome"], &report["pending"]["by"]), (&json!("pending"), &json!("caller")));
}

#[test]
fn what_is_the_operators_is_not_offered_to_the_caller() {
    let desk = Desk::configured(OPERATORS);
    let left = Pty::new(80).starts(&publish(&desk, "hello", &[]), Stdout::Terminal).leaves().ended(4);
    assert!(!left.screen.contains("[y]"), "{}", left.screen);
    assert!(
        left.screen.contains("as the operator, answer with `toolroom approvals approve"),
        "{}",
        left.screen
    );

    // Nor does an edit get past the operator, also for those who wait for it elsewhere.
    let rule = OPERATORS.replace("by =", "when = \"args.text == 'grave'\"\nby =");
    let desk = Desk::configured(&rule);
    let mut sitting = asked(&desk, "light");
    let wait = ["call", "--resume", &desk.newest(), "--wait", "--json"];
    let mut waiter = desk.home.own_tools(&wait).spawn().unwrap();
    let mut talk = BufReader::new(waiter.stderr.take().unwrap()).lines();
    assert!(talk.next().unwrap().unwrap().contains("waits for approval"));
    sitting.types("e");
    sitting.sees("one line of JSON");
    sitting.types(&format!("{}\n", json!({"path": desk.notes, "text": "grave"})));
    sitting.leaves().ended(4).shows("as the operator, answer with");
    assert!(desk.effects().is_empty());
    let edited = desk.newest();
    assert_eq!(desk.question(&edited)["by"], "operator");
    assert!(talk.next().unwrap().unwrap().contains(&format!("replaced by {edited}")));
    kill_process(Pid::from_child(&waiter), Signal::TERM).unwrap();
    let report = finished(waiter).ended(130).json();
    assert_eq!((&report["call_id"], &report["pending"]["by"]), (&json!(edited), &json!("operator")));
}

#[test]
fn an_operator_who_watches_is_asked_as_the_operator() {
    let desk = Desk::configured(OPERATORS);
    desk.run(&["approvals", "watch", "--answer"]).ended(2);
    let first = desk.call("one").call_id();
    let watch = desk.home.own_tools(&["approvals", "watch", "--answer"]);
    let mut sitting = Pty::new(80).starts(&watch, Stdout::Terminal);
    sitting.sees(&first);
    sitting.is_asked();
    sitting.sees("answering as the operator");
    sitting.types("y");
    sitting.sees("Approved once");
    let second = desk.call("two").call_id();
    sitting.sees(&second);
    sitting.is_asked();
    sitting.types("\u{1b}");
    sitting.sees(&format!("Left open: {second}"));
    assert!(desk.effects().is_empty(), "answering runs nothing");
    desk.call("no");
    sitting.is_asked();
    sitting.types("n");
    sitting.sees("Denied");
    sitting.sees("refused  operator  ");
    let third = desk.call("three").call_id();
    sitting.sees(&third);
    sitting.is_asked();
    sitting.types("\u{3}");
    sitting.leaves().ended(130);
    let state = |call: &str| desk.question(call)["state"].clone();
    assert_eq!([state(&first), state(&second), state(&third)], ["granted", "waiting", "waiting"]);
    assert_eq!(desk.question(&first)["answered_by"], "operator");
    desk.run(&["call", "--resume", &first]).ended(0);
    assert_eq!(desk.effects(), ["one"]);
}

#[test]
fn no_argument_redraws_the_question() {
    let desk = Desk::new();
    let nasty = "a\u{1b}[2J\u{1b}[H\u{7}\u{202e}\u{200b}\u{e0041}\u{9b}2K\n  reason: no reason\n  [y] fine";
    let mut sitting = Pty::new(80).starts(&publish(&desk, nasty, &[]), Stdout::Terminal);
    sitting.is_asked();
    sitting.types("v");
    sitting.is_asked();
    sitting.types("\u{1b}");
    let left = sitting.leaves().ended(4);
    assert!(
        left.screen.contains(r"a\u{1b}[2J\u{1b}[H\u{7}\u{202e}\u{200b}\u{e0041}\u{9b}2K"),
        "{}",
        left.screen
    );
    for line in left.screen.lines().filter(|line| line.contains("no reason") || line.contains("fine")) {
        assert!(line.starts_with("       │ "), "{line:?}");
    }
    let shown = |c: char| !c.is_control() && !matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0041}');
    assert!(left.screen.lines().all(|line| line.chars().all(shown)), "{:?}", left.screen);
}

#[test]
fn long_arguments_are_shortened_and_shown_whole_on_demand() {
    let desk = Desk::new();
    let long = format!("{}END", "x".repeat(100_000));
    let mut sitting = Pty::new(80).starts(&publish(&desk, &long, &[]), Stdout::Terminal);
    sitting.sees("… 100003 characters, [v]iew");
    sitting.is_asked();
    sitting.types("v");
    sitting.sees("END");
    sitting.is_asked();
    sitting.types("y");
    let left = sitting.leaves().ended(0);
    let before = left.screen.split("[v] view all").next().unwrap();
    assert!(before.matches('x').count() < 300 && !before.contains("END"));
    assert_eq!(desk.effects(), [long]);
}

#[test]
fn a_narrow_screen_holds_the_question() {
    let desk = Desk::new();
    let mut sitting = Pty::new(40).starts(&publish(&desk, &"word ".repeat(60), &[]), Stdout::Terminal);
    sitting.is_asked();
    sitting.types("\u{1b}");
    let left = sitting.leaves().ended(4);
    let question = left.screen.split("[v] view all").next().unwrap();
    for line in question.lines() {
        assert!(line.chars().count() <= 40, "{line:?}");
    }
    assert!(question.contains("[y] once") && question.contains("characters, [v]iew"), "{question}");
}

#[test]
fn colours_are_for_those_who_want_them() {
    let desk = Desk::new();
    let look = |more: &[(&str, Option<&str>)]| {
        let mut command = publish(&desk, "hello", &[]);
        for (name, value) in more {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut sitting = Pty::new(80).starts(&command, Stdout::Terminal);
        sitting.sees("view all");
        sitting.is_listened_to();
        sitting.types("\u{1b}");
        sitting.leaves().ended(4).screen
    };
    assert!(look(&[("NO_COLOR", None), ("TERM", Some("xterm"))]).contains('\u{1b}'));
    assert!(!look(&[("NO_COLOR", Some("1")), ("TERM", Some("xterm"))]).contains('\u{1b}'));
    assert!(!look(&[("NO_COLOR", None), ("TERM", Some("dumb"))]).contains('\u{1b}'));
}

#[test]
fn a_stored_secret_is_not_shown_not_even_in_part() {
    let desk = Desk::new();
    let secret = format!("s3cret{}", "z9".repeat(30));
    let mut command = publish(&desk, &format!("{}{secret}", "x".repeat(180)), &[]);
    command.env("SOME_API_KEY", &secret);
    let mut sitting = Pty::new(60).starts(&command, Stdout::Terminal);
    sitting.is_asked();
    sitting.types("v");
    sitting.is_asked();
    sitting.types("\u{1b}");
    let left = sitting.leaves().ended(4);
    assert!(!left.screen.contains("s3cret") && !left.screen.contains("z9z9"), "{}", left.screen);
}

#[test]
fn a_parked_call_is_asked_about_when_it_is_resumed() {
    let desk = Desk::new();
    let call = desk.call("hello").call_id();
    let resume = desk.home.own_tools(&["call", "--resume", &call]);
    let mut sitting = Pty::new(80).starts(&resume, Stdout::Terminal);
    sitting.sees("wants to run");
    sitting.is_asked();
    sitting.types("y");
    sitting.leaves().ended(0);
    assert_eq!(desk.effects(), ["hello"]);
}
