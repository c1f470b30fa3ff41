//! `toolroom conversations` and `toolroom runs`.

use serde_json::json;

use crate::home::Home;
use crate::pty::{Pty, Stdout};
use crate::scripted_model::{Line, ScriptedModel};

/// A home where one thing was talked about.
fn talked() -> Home {
    let home = Home::new();
    let model = ScriptedModel::starts([
        Line::Calls("calculator", json!({"expression": "17*23"})),
        Line::says("It is 391 ```\u{1b}[2J"),
    ]);
    model.is_set_up_in(home.path(), "");
    home.run(&["chat", "what is 17*23?"]).ended(0);
    home
}

#[test]
fn where_nothing_was_said_it_is_said_how_to_begin() {
    let home = Home::new();
    for command in ["conversations", "runs"] {
        let ran = home.run(&[command]).ended(0);
        assert!(ran.err.contains("toolroom chat"), "{ran:?}");
        assert_eq!(home.run(&[command, "list", "--json"]).ended(0).json(), json!([]));
        let ran = home.run(&[command, "show", "nothing"]).ended(5);
        assert!(ran.err.contains("`nothing`"), "{ran:?}");
        home.run(&[command, "show", ""]).ended(2);
        home.run(&[command, "show", "last"]).ended(5);
    }
}

#[test]
fn conversations_are_listed_read_taken_out_and_deleted() {
    let home = talked();
    let listed = home.run(&["conversations", "--json"]).ended(0).json();
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(listed[0]["title"], "what is 17*23?");
    assert!(home.run(&["conversations"]).out.contains("what is 17*23?"));
    assert_eq!(home.run(&["conversations", "list", "--title", "nowhere", "--json"]).json(), json!([]));
    let shown = home.run(&["conversations", "show", &id[id.len() - 8..]]).ended(0).out;
    assert!(shown.contains("  │ what is 17*23?") && shown.contains("  │ It is 391"), "{shown}");
    assert!(shown.contains("● ") && shown.contains("calculator"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let markdown = home.run(&["conversations", "export", "last"]).ended(0).out;
    assert!(markdown.starts_with("# what is 17*23?\n"), "{markdown}");
    assert!(markdown.contains("## You") && markdown.contains("Calls `"), "{markdown}");
    let exported = home.run(&["conversations", "export", id, "--format", "json"]).ended(0).json();
    assert_eq!(exported["entries"].as_array().unwrap().len(), 4);
    let refused = home.run(&["conversations", "delete", id]).ended(2);
    assert!(refused.err.contains("--yes"), "{refused:?}");
    let mut sitting = Pty::new(80).starts(&home.command(&["conversations", "delete", id]), Stdout::Terminal);
    sitting.sees("permanently? [y/N]");
    sitting.types("\n");
    sitting.leaves().ended(3).shows("Nothing was deleted");
    assert_eq!(home.run(&["conversations", "--json"]).json().as_array().unwrap().len(), 1);
    home.run(&["conversations", "delete", "last", "--yes"]).ended(0);
    assert_eq!(home.run(&["conversations", "--json"]).json(), json!([]));
    assert_eq!(home.run(&["runs", "--json"]).json(), json!([]));
    assert_eq!(home.journal().len(), 1, "what was done stays in the log");
}

#[test]
fn runs_are_listed_and_shown() {
    let home = talked();
    let listed = home.run(&["runs", "--json"]).ended(0).json();
    assert_eq!((&listed[0]["state"], &listed[0]["model"]), (&json!("done"), &json!("lab/m")));
    assert_eq!(home.run(&["runs", "list", "--state", "waiting", "--json"]).json(), json!([]));
    let of_last = home.run(&["runs", "list", "--conversation", "last", "--json"]).ended(0).json();
    assert_eq!(of_last.as_array().unwrap().len(), 1);
    let shown = home.run(&["runs", "show", "last"]).ended(0).out;
    assert!(shown.contains("● Calculator  expression=17*23"), "{shown}");
    assert!(shown.contains("200 input, 40 output, 2 model requests"), "{shown}");
    let ran = home.run(&["runs", "resume", "last"]).ended(3);
    assert!(ran.err.contains("is done; send a new message to go on"), "{ran:?}");
    home.run(&["runs", "cancel", "last"]).ended(3);
    home.run(&["runs", "resume", "nothing"]).ended(5);
}
