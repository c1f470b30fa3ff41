//! Official clients talk to the server, over HTTP and as its child, in both eras.

use std::process::{Command, Stdio};

use super::place::{folder, node, served, succeeds};
use crate::home::{Home, example};
use crate::serve::Served;

fn python() -> Command {
    let python = folder().join("venv/bin/python");
    assert!(python.is_file(), "{} is missing: run `make setup`", python.display());
    let mut command = Command::new(python);
    command.arg(folder().join("talk.py")).stdin(Stdio::null());
    command
}

fn typescript() -> Command {
    let mut node = node();
    node.arg(folder().join("talk.mjs"));
    node
}

const ERAS: [&str; 2] = ["legacy", "modern"];

#[track_caller]
fn talks_over_http(client: fn() -> Command) {
    let served = served();
    let key = served.key("local", "call,read,answer");
    for era in ERAS {
        succeeds(client().args([era, "http", &served.origin(), &key]).env("NOTES", served.notes()));
    }
    assert_eq!(notes(&served.written()), ["legacy http", "modern http"]);
}

#[track_caller]
fn talks_to_its_child(client: fn() -> Command) {
    let home = Home::new();
    let path = home.path().join("notes");
    for era in ERAS {
        let mut client = client();
        client.args([era, "stdio"]).arg(example("own_tools"));
        succeeds(client.env("NOTES", &path).env("TOOLROOM_HOME", home.path()));
    }
    assert_eq!(notes(&std::fs::read_to_string(path).unwrap()), ["legacy stdio", "modern stdio"]);
    let entrances: Vec<_> = home.journal().iter().map(|row| row["entrance"].clone()).collect();
    assert!(entrances.len() > 10 && entrances.iter().all(|entrance| entrance == "mcp"), "{entrances:?}");
}

/// The lines of the notes, without the call that wrote each.
fn notes(text: &str) -> Vec<&str> {
    let words = |line: &'_ str| line.find("legacy").or(line.find("modern"));
    text.lines().filter_map(|line| words(line).map(|start| line[start..].trim())).collect()
}

#[test]
fn the_client_of_python_talks_over_http() {
    talks_over_http(python);
}

#[test]
fn the_client_of_python_talks_to_its_child() {
    talks_to_its_child(python);
}

#[test]
fn the_client_of_typescript_talks_over_http() {
    talks_over_http(typescript);
}

#[test]
fn the_client_of_typescript_talks_to_its_child() {
    talks_to_its_child(typescript);
}

#[test]
fn a_client_before_2026_talks_over_http_too() {
    let served: Served = served();
    let key = served.key("local", "call,read,answer");
    let mut node = node();
    node.arg(folder().join("talk_before.mjs")).args([&served.origin(), &key]);
    succeeds(&mut node);
}
