//! The value of a stored secret in the entry of a server: its name is kept, whichever way the value came.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, found, python};
use crate::canary::Canary;
use crate::home::{Home, Ran, ran};

/// A toolroom that keeps the canary under this name.
fn home(canary: &Canary) -> Home {
    let home = Home::new();
    home.run_with_stdin(&["secrets", "set", "KEY"], &canary.value).ended(0);
    home
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn shown(home: &Home, name: &str) -> Value {
    home.run(&["mcp", "show", name, "--json"]).ended(0).json()["reached"].clone()
}

#[test]
fn an_entry_keeps_the_name_of_a_stored_secret_and_not_its_value() {
    let canary = Canary::new("named");
    let home = home(&canary);
    let value = canary.value.as_str();
    let add = |words: &[&str]| home.run(&[&["mcp", "add", "--no-start"][..], words].concat()).ended(0);
    let mut told = vec![
        add(&["variable", "--env", &format!("API_TOKEN={value}"), "--", "true"]),
        add(&["inside", "--env", &format!("DSN=pg://ann:{value}@db"), "--", "true"]),
        add(&["argument", "--", "true", "--mode", value, &format!("--token={value}")]),
        add(&["header", "--url", "https://x.example/mcp", "--header", &format!("x-mode={value}")]),
        add(&["query", "--url", &format!("https://x.example/mcp?mode={}&a=b", percent(value))]),
    ];
    assert!(told[0].err.contains("`secret:KEY`"), "{told:?}");
    told.push(home.run(&["mcp", "set", "variable", "--env", &format!("OTHER={value}")]).ended(0));
    let bearer = format!("authorization=Bearer {value}");
    told.push(home.run(&["mcp", "set", "header", "--header", &bearer]).ended(0));
    for (name, pointer, expected) in [
        ("variable", "/environment/API_TOKEN", json!({"secret": "KEY"})),
        ("variable", "/environment/OTHER", json!({"secret": "KEY"})),
        (
            "inside",
            "/environment/DSN",
            json!({"around": {"before": "pg://ann:", "secret": "KEY", "after": "@db"}}),
        ),
        ("argument", "/arguments", json!(["--mode", "secret:KEY", "--token=secret:KEY"])),
        ("header", "/headers/x-mode", json!({"secret": "KEY"})),
        (
            "header",
            "/headers/authorization",
            json!({"around": {"before": "Bearer ", "secret": "KEY", "after": ""}}),
        ),
        ("query", "/url", json!("https://x.example/mcp?mode=secret:KEY&a=b")),
    ] {
        assert_eq!(shown(&home, name).pointer(pointer), Some(&expected), "{name}");
    }
    told.iter().for_each(|ran| canary.is_not_told(ran));
    canary.is_not_below(home.path());
}

#[test]
fn a_value_where_no_name_can_stand_is_refused_and_kept_nowhere() {
    let canary = Canary::new("refused");
    let home = home(&canary);
    home.run(&["mcp", "add", "known", "--no-start", "--", "true"]).ended(0);
    let (value, encoded) = (canary.value.as_str(), STANDARD.encode(format!("ann:{}", canary.value)));
    let (glued, path) = (format!("-m{value}"), format!("https://x.example/{}/mcp", percent(value)));
    let (basic, folder) = (format!("x-mode=Basic {encoded}"), format!("/srv/{value}"));
    let variable = format!("X={encoded}");
    let fragment = format!("https://x.example/mcp#{}", percent(value));
    for words in [
        &["add", "x", "--no-start", "--", "true", &glued][..],
        &["add", "x", "--no-start", "--env", &variable, "--", "true"],
        &["add", "x", "--no-start", "--folder", &folder, "--", "true"],
        &["add", "x", "--no-start", "--read", &folder, "--", "true"],
        &["add", "x", "--no-start", "--url", &path],
        &["add", "x", "--no-start", "--url", &fragment],
        &["add", "x", "--no-start", "--url", "https://x.example/mcp", "--header", &basic],
        &["set", "known", "--env", &variable],
        &["set", "known", "--read", &folder],
    ] {
        let refused = home.run(&[&["mcp"][..], words].concat()).ended(2);
        assert!(refused.err.contains("the secret `KEY`"), "{words:?}: {refused:?}");
        canary.is_not_told(&refused);
    }
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json().as_array().unwrap().len(), 1);
    canary.is_not_below(home.path());
}

#[test]
fn a_server_gets_the_value_that_its_secret_has_when_it_starts() {
    let home = Home::new();
    home.run_with_stdin(&["secrets", "set", "MODE"], "calm").ended(0);
    let script = found(&folder().join("hostile.py"));
    // The mode is an argument, and a short value is named as a whole.
    home.run(&["mcp", "add", "server", "--", &python(), &script, "calm"]).ended(0);
    assert_eq!(shown(&home, "server")["arguments"][1], "secret:MODE");
    assert_eq!(home.run(&["call", "mcp:server:work", "--yes"]).ended(0).out, "ok\n");
    home.run_with_stdin(&["secrets", "rotate", "MODE"], "changes").ended(0);
    let tools = home.run(&["mcp", "test", "server", "--json"]).json().to_string();
    assert!(tools.contains("mcp:server:kept"), "the new value is what it starts with: {tools}");
}

#[test]
fn an_import_keeps_the_name_of_a_stored_secret_and_a_folder_of_others_gets_none() {
    let canary = Canary::new("imported");
    let home = home(&canary);
    let (own, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let entry = json!({"mcpServers": {
        "variable": {"command": "true", "env": {"MODE": canary.value}},
        "argument": {"command": "true", "args": ["--mode", canary.value]},
        "query": {"url": format!("https://x.example/mcp?mode={}", percent(&canary.value))},
        "header": {"url": "https://x.example/mcp", "headers": {"x-mode": canary.value}},
    }});
    for folder in [own.path(), other.path()] {
        std::fs::create_dir(folder.join(".cursor")).unwrap();
        std::fs::write(folder.join(".cursor/mcp.json"), entry.to_string()).unwrap();
    }
    let import = |folder: &TempDir| -> Ran {
        let mut command = home.command(&["mcp", "import", "cursor", "--yes", "--json"]);
        ran(command.env("HOME", own.path()).current_dir(folder.path()).output().unwrap()).ended(0)
    };
    let states = |ran: &Ran| -> Vec<String> {
        let report = ran.json();
        let servers = report["servers"].as_array().unwrap();
        servers.iter().map(|server| server["state"].as_str().unwrap().to_owned()).collect()
    };
    let first = import(&own);
    assert_eq!(states(&first), ["new"; 4], "{first:?}");
    assert_eq!(shown(&home, "variable")["environment"]["MODE"], json!({"secret": "KEY"}));
    assert_eq!(shown(&home, "argument")["arguments"], json!(["--mode", "secret:KEY"]));
    assert_eq!(shown(&home, "query")["url"], "https://x.example/mcp?mode=secret:KEY");
    assert_eq!(shown(&home, "header")["headers"]["x-mode"], json!({"secret": "KEY"}));
    assert_eq!(states(&import(&own)), ["same"; 4]);
    // A file that came with a folder would get each later value of the secret, too.
    let others = import(&other);
    let skipped = others.json()["skipped"].to_string();
    assert!(skipped.contains("the secret `KEY`"), "{others:?}");
    for ran in [&first, &others] {
        canary.is_not_told(ran);
    }
    canary.is_not_below(home.path());
}

#[test]
fn a_document_with_the_value_of_a_stored_secret_is_refused() {
    let canary = Canary::new("document");
    let there = Home::new();
    there
        .run(&["mcp", "add", "x", "--no-start", "--env", &format!("MODE={}", canary.value), "--", "true"])
        .ended(0);
    let document = there.run(&["export", "-"]).ended(0).out;
    let home = home(&canary);
    let refused = home.run_with_stdin(&["import", "-", "--yes"], &document).ended(2);
    assert!(refused.err.contains("`KEY`"), "{refused:?}");
    canary.is_not_told(&refused);
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json(), json!([]));
    canary.is_not_below(home.path());
}
