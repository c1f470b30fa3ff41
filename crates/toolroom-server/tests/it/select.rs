//! `toolroom select`: the room's own tools, those of a file, one message or many.

use std::fs;

use serde_json::{Value, json};

use crate::home::{Home, Ran, ran};
use crate::scripted_model::{Line, ScriptedModel};

const TOOLS: &str = r#"{
  "weather_forecast": "Tell the weather of the next days at a place",
  "send_mail": "Send an email to one or more people",
  "chess": "Play a game of chess against the computer"
}"#;

fn ids(ranking: &Value) -> Vec<&str> {
    ranking["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap()).collect()
}

/// A home with a file of this text, and the path of it.
fn with_file(text: impl AsRef<[u8]>) -> (Home, String) {
    let home = Home::new();
    let path = home.path().join("given");
    fs::write(&path, text).unwrap();
    (home, path.to_str().unwrap().to_owned())
}

fn rows(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_message_finds_the_rooms_own_tools_that_are_on() {
    let home = Home::new();
    let ranking = home.run(&["select", "what time is it in Tokyo?", "--json"]).ended(0).json();
    assert_eq!(ids(&ranking)[0], "builtin:get_local_time", "{ranking}");
    assert_eq!(ranking["abstained"], false);
    let scores: Vec<f64> =
        ranking["tools"].as_array().unwrap().iter().map(|tool| tool["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| *score > 0.0), "{scores:?}");

    let calculate = ["select", "calculate 17 * 4", "--json"];
    assert_eq!(ids(&home.run(&calculate).ended(0).json())[0], "builtin:calculator");
    home.run(&["tools", "disable", "calculator"]).ended(0);
    assert!(!ids(&home.run(&calculate).ended(0).json()).contains(&"builtin:calculator"));
}

#[test]
fn what_was_asked_for_before_counts_as_it_does_for_an_agent() {
    let home = Home::new();
    let asks = || home.run(&["select", "the usual zorblax, please", "--json"]).ended(0).json();
    assert_eq!(asks()["abstained"], true);
    let model =
        ScriptedModel::starts([Line::Calls("calculator", json!({"expression": "17*23"})), Line::says("391")]);
    model.is_set_up_in(home.path(), "");
    home.run(&["chat", "the usual zorblax, please"]).ended(0);
    let ranking = asks();
    assert_eq!(ids(&ranking).first(), Some(&"builtin:calculator"), "{ranking}");
}

#[test]
fn people_see_bars_and_hear_when_nothing_fits() {
    let (home, file) = with_file(TOOLS);
    let shown = home.run(&["select", "email the weather to Ann", "--tools", &file]).ended(0);
    assert!(
        shown.out.lines().count() == 2 && shown.out.contains("send_mail") && shown.out.contains('█'),
        "{shown:?}"
    );
    assert!(shown.err.contains("2 of 3 tools"), "{shown:?}");
    let nothing = home.run(&["select", "hello, how are you?", "--tools", &file]).ended(0);
    assert!(nothing.out.is_empty() && nothing.err.contains("None of 3 tools fits"), "{nothing:?}");
    let nothing = home.run(&["select", "hello, how are you?", "--tools", &file, "--json"]).ended(0).json();
    assert_eq!(nothing, json!({"tools": [], "abstained": true}));
}

#[test]
fn a_file_of_tools_is_an_object_or_an_array() {
    let (home, object) = with_file(TOOLS);
    let ranking =
        home.run(&["select", "will it rain tomorrow", "--tools", &object, "--json"]).ended(0).json();
    assert_eq!(ids(&ranking), ["weather_forecast"]);

    let array = r#"[
      {"name": "a", "description": "First line", "when_to_use": "A user wants to know the way", "extra": [1]},
      {"name": "b", "description": "Nothing in particular", "tags": ["route"]},
      {"name": "c", "description": "Nothing either", "usage_examples": ["beam me up, Scotty", "energize"]}
    ]"#;
    let ask = |message: &str| {
        let ran = home.run_with_stdin(&["select", message, "--tools", "-", "--json"], array).ended(0);
        ran.json()["tools"][0]["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(ask("a route please"), "b");
    assert_eq!(ask("beam Spock up"), "c");
    let limited = home.run(&["select", "email the weather", "--tools", &object, "--limit", "1", "--json"]);
    assert_eq!(ids(&limited.ended(0).json()).len(), 1);
}

#[test]
fn a_file_that_is_no_list_of_tools_is_refused_with_the_place() {
    for (text, why) in [
        (r#"{"a": "x", "a": "y"}"#, "two tools are called `a`"),
        ("[{\"name\": \"a\", \"description\": \"\"},\n {\"name\": \"a\", \"description\": \"\"}]", "line 2"),
        (r#"{"a": 5}"#, "line 1 column 7"),
        (r#"[{"description": "x"}]"#, "missing field `name`"),
        (r#"[{"name": " ", "description": "x"}]"#, "empty name"),
        (r#"["a"]"#, "line 1"),
        ("5", "an object of names and descriptions"),
        ("{\"a\": \"x\"", "line 1"),
        ("", "line 1"),
    ] {
        let (home, file) = with_file(text);
        let refused = home.run(&["select", "x", "--tools", &file]).ended(2);
        assert!(refused.out.is_empty() && refused.err.contains(why), "{text}: {refused:?}");
    }
    let (home, file) = with_file(b"{\"a\": \"\xff\"}");
    assert!(home.run(&["select", "x", "--tools", &file]).ended(2).err.contains("not UTF-8 from byte 8"));
    assert!(home.run(&["select", "x", "--tools", "no/such"]).ended(5).err.contains("no file `no/such`"));
    let circle = home.path().join("circle.json");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    let circle = circle.to_str().unwrap();
    let refused = home.run(&["select", "x", "--tools", circle]).ended(2);
    assert!(refused.err.contains(circle) && refused.err.contains("symbolic links"), "{refused:?}");
    assert!(refused.out.is_empty(), "{refused:?}");
    let folder = home.path().to_str().unwrap();
    assert!(home.run(&["select", "x", "--tools", folder]).ended(2).err.contains("not a regular file"));
    home.run(&["select"]).ended(2);
    home.run(&["select", "x", "--batch", &file]).ended(2);
    home.run(&["select", "x", "--limit", "0"]).ended(2);
    home.run(&["select", "--tools", "-", "--batch", "-"]).ended(2);
}

#[test]
fn a_batch_gives_a_row_for_every_line() {
    let (home, file) = with_file(TOOLS);
    let messages = "play chess\n\nwill it rain\r\nhello\nmail Ann";
    let batch = home.path().join("batch");
    fs::write(&batch, messages).unwrap();
    let of_file = home.run(&["select", "--tools", &file, "--batch", batch.to_str().unwrap()]).ended(0);
    let of_stdin =
        home.run_with_stdin(&["select", "--tools", &file, "--batch", "-", "--json"], messages).ended(0);
    assert_eq!(of_file.out, of_stdin.out);
    let rows = rows(&of_file);
    let first: Vec<Option<&str>> = rows.iter().map(|row| row["tools"][0]["id"].as_str()).collect();
    assert_eq!(first, [Some("chess"), None, Some("weather_forecast"), None, Some("send_mail")]);
    assert_eq!(rows[1], json!({"tools": [], "abstained": true}));
    let alone = home.run(&["select", "play chess", "--tools", &file, "--json"]).ended(0).json();
    assert_eq!(alone, rows[0], "a batch says the same as one message");
}

#[test]
fn thousands_of_lines_and_a_line_without_end_are_ranked() {
    let (home, file) = with_file(TOOLS);
    let many = "play chess with me\n".repeat(5_000) + &"chess ".repeat(400_000) + "\nmail\n";
    let batch = home.path().join("batch");
    fs::write(&batch, many).unwrap();
    let mut command = home.command(&["select", "--tools", &file, "--batch", "-"]);
    let rows = rows(&ran(command.stdin(fs::File::open(&batch).unwrap()).output().unwrap()).ended(0));
    assert_eq!(rows.len(), 5_002);
    assert_eq!((ids(&rows[5_000]), ids(&rows[5_001])), (vec!["chess"], vec!["send_mail"]));
}
