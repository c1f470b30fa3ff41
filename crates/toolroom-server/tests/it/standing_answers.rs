//! Standing answers, across processes.

use serde_json::{Value, json};

use crate::approvals::{Desk, OPERATORS};

#[test]
fn always_holds_in_every_process_and_its_reach_is_shown_first() {
    let desk = Desk::new();
    for text in ["hello", "hello", "other"] {
        desk.park(text);
    }
    let call = desk.park("hello");
    let said =
        desk.run(&["approvals", "approve", &call, "--always", "--when", "args.text == 'hello'"]).ended(0);
    for part in [
        "allow app:publish_note when args.text == 'hello', set by the operator",
        "would have decided 2 of the last 3 calls of this tool",
        "Always approved: app:publish_note",
        "Undo with `toolroom policy forget ans_",
    ] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    assert!(desk.effects().is_empty(), "an answer runs nothing");

    let done = desk.call("hello").ended(0).json();
    let rule = done["rule"].as_str().unwrap();
    assert!(said.err.contains(rule), "the journal names the answer: {rule}");
    assert_eq!(desk.home.journal()[0]["rule"], json!(rule));
    desk.call("else").ended(4);
    desk.run(&["call", "--resume", &call]).ended(0);
    assert_eq!(desk.effects(), ["hello", "hello"]);
}

#[test]
fn json_tells_the_reach_and_the_standing_answer() {
    let desk = Desk::new();
    desk.park("one");
    let call = desk.park("two");
    let said = desk.run(&["approvals", "approve", &call, "--always", "--json"]).ended(0).json();
    assert_eq!((&said["answer"], &said["reach"]), (&json!("always"), &json!({"matched": 1, "of": 1})));
    assert_eq!((&said["standing"]["effect"], &said["standing"]["by"]), (&json!("allow"), &json!("operator")));
    let call = desk.run(&["approvals", "list", "--json"]).ended(0).json()[0]["call_id"].clone();
    let said = desk.run(&["approvals", "approve", call.as_str().unwrap(), "--json"]).ended(0).json();
    assert_eq!(
        (&said["answer"], &said["standing"], &said["reach"]),
        (&json!("once"), &Value::Null, &Value::Null)
    );
}

#[test]
fn a_changed_definition_is_asked_about_anew() {
    let desk = Desk::new();
    let path = desk.path();
    let changed = || {
        let mut command = desk.home.own_tools(&["call", "publish_note", &path, "text=x", "--json"]);
        command.env("PUBLISH_NOTE_SAYS", "Append a line to a file, and mail it to a stranger");
        crate::home::ran(command.output().unwrap())
    };
    let granted = desk.park("granted");
    desk.run(&["approvals", "approve", &granted]).ended(0);
    let call = desk.park("always");
    desk.run(&["approvals", "approve", &call, "--always"]).ended(0);
    desk.call("x").ended(0);
    changed().ended(4);

    // A yes to the old definition does not apply to the new one.
    let mut resume = desk.home.own_tools(&["call", "--resume", &granted, "--json"]);
    resume.env("PUBLISH_NOTE_SAYS", "Something else");
    let report = crate::home::ran(resume.output().unwrap()).ended(3).json();
    assert_eq!((&report["outcome"], &report["rule"]), (&json!("denied"), &json!("approval.void")));
    let report = desk.run(&["call", "--resume", &granted, "--json"]).ended(3).json();
    assert_eq!(report["rule"], "approval.void");
    assert_eq!(desk.effects(), ["x"]);
}

#[test]
fn never_denies_from_then_on() {
    let desk = Desk::new();
    let call = desk.park("spam");
    let said = desk.run(&["approvals", "deny", &call, "--never", "--when", "args.text == 'spam'"]).ended(0);
    assert!(said.err.contains("deny app:publish_note when args.text == 'spam'"), "{said:?}");
    assert!(said.err.contains("would have decided 0 of the last 0 calls"), "{said:?}");
    let denied = desk.call("spam").ended(3).json();
    assert!(denied["rule"].as_str().unwrap().starts_with("ans_"), "{denied}");
    desk.call_with("spam", &["--yes"]).ended(3);
    desk.call("news").ended(4);
    let call = desk.park("news");
    desk.run(&["approvals", "deny", &call, "--never"]).ended(0);
    desk.call("news").ended(3);
    assert!(desk.effects().is_empty());
}

#[test]
fn never_voids_a_yes_that_was_not_used_yet() {
    let desk = Desk::new();
    let (granted, refused) = (desk.park("hello"), desk.park("hello"));
    desk.run(&["approvals", "approve", &granted]).ended(0);
    desk.run(&["approvals", "deny", &refused, "--never"]).ended(0);
    desk.run(&["call", "--resume", &granted]).ended(3);
    assert!(desk.effects().is_empty());
}

#[test]
fn a_session_without_a_conversation_is_the_call() {
    let desk = Desk::new();
    let call = desk.park("hello");
    let said = desk.run(&["approvals", "approve", &call, "--session"]).ended(0);
    assert!(
        said.err.contains("The call is not part of a conversation, so the answer applies to this call only"),
        "{said:?}"
    );
    desk.run(&["call", "--resume", &call]).ended(0);
    desk.call("hello").ended(4);
}

#[test]
fn an_always_of_the_caller_does_not_lift_the_operators_question() {
    let desk = Desk::new();
    let call = desk.park("hello");
    desk.run(&["approvals", "approve", &call, "--always"]).ended(0);
    desk.call("hello").ended(0);
    // A rule that comes later asks its own question.
    std::fs::write(desk.home.path().join("toolroom.toml"), OPERATORS).unwrap();
    desk.call("hello").ended(4);
    desk.call_with("hello", &["--yes"]).ended(4);
    let call = desk.park("hello");
    desk.run(&["approvals", "approve", &call, "--always"]).ended(0);
    desk.call("hello").ended(0);
}

#[test]
fn a_standing_answer_names_the_rule_that_still_asks() {
    let rule = "[[rule]]\nid = 'look-first'\neffect = 'ask'\ntool = 'publish_note'\n";
    let desk = Desk::configured(rule);
    let call = desk.park("one");
    let said = desk.run(&["approvals", "approve", &call, "--always"]).ended(0);
    assert!(
        said.err.contains("Calls like this one still need approval because of the rule `default."),
        "{said:?}"
    );
    let pending = desk.call("two").ended(4).json();
    let rule = pending["rule"].as_str().unwrap();
    assert!(said.err.contains(rule), "{rule}: {said:?}");
    let call = pending["call_id"].as_str().unwrap();
    let said = desk.run(&["approvals", "approve", call, "--always", "--json"]).ended(0).json();
    assert_eq!(said["still_asks"], Value::Null);
    desk.call("three").ended(0);
}
