//! Declarations of foreign tools: they let harmless tools run without approval, and only the owner can make them.

use std::path::Path;

use serde_json::{Value, json};

use super::{Listening, folder, found, python};
use crate::home::{Home, Ran};
use crate::serve::Served;

/// The configuration that allows every tool of the server.
const ALLOWED: &str = "[[rule]]\nid = 'fine'\neffect = 'allow'\ntool = 'mcp:fast:*'\n";

fn allow(home: &Home) {
    std::fs::write(home.path().join("toolroom.toml"), ALLOWED).unwrap();
}

/// A server on this machine, without a network.
fn with_program() -> Home {
    let home = Home::new();
    let server = found(&folder().join("fast_server.py"));
    home.run(&["mcp", "add", "fast", "--", &python(), &server, "stdio"]).ended(0);
    home
}

/// A server somewhere else.
fn with_address() -> (Home, Listening) {
    let home = Home::new();
    let server = found(&folder().join("fast_server.py"));
    let running = Listening::start(&python(), &[&server, "http"], true);
    let url = format!("http://127.0.0.1:{}/mcp", running.port);
    home.run(&["mcp", "add", "fast", "--url", &url]).ended(0);
    (home, running)
}

fn add(home: &Home, more: &[&str]) -> Ran {
    let call = ["call", "mcp:fast:add", "{\"a\": 20, \"b\": 22}", "--no-input", "--json"];
    home.run(&[&call[..], more].concat())
}

/// For a call that is made after private data and untrusted content were read.
const READ_BOTH: [&str; 2] = ["--provenance", "private,untrusted"];

#[track_caller]
fn asks(ran: &Ran, rule: &str) {
    let report = ran.json();
    assert_eq!((&report["outcome"], &report["rule"]), (&json!("pending"), &json!(rule)), "{report}");
}

fn tool(shown: &Value, id: &str) -> Value {
    let tools = shown["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["id"] == id).unwrap_or_else(|| panic!("{shown}")).clone()
}

#[test]
fn a_tool_that_only_reads_runs_unasked_once_a_person_says_so() {
    let (home, _running) = with_address();
    allow(&home);
    asks(&add(&home, &READ_BOTH), "provenance.third");

    let declared = home.run(&["mcp", "declare", "fast", "--effect", "read", "--json"]).ended(0).json();
    let half = tool(&declared, "mcp:fast:add");
    assert_eq!(half["effect"], "read");
    assert_eq!(half["capabilities"].as_array().unwrap().len(), 6, "what is not said counts as all: {half}");
    asks(&add(&home, &READ_BOTH), "provenance.third");

    home.run(&["mcp", "declare", "fast", "--can", "nothing"]).ended(0);
    assert_eq!(add(&home, &[]).ended(0).json()["result"]["result"], 42);
    let shown = home.run(&["mcp", "show", "fast", "--json"]).ended(0).json();
    let whole = tool(&shown, "mcp:fast:add");
    assert_eq!(whole["capabilities"], json!(["reads-untrusted", "egress"]), "{whole}");
    let told = home.run(&["mcp", "show", "fast"]).ended(0).out;
    assert!(told.contains("egress because its server is remote"), "{told}");

    // A run that has read private data has something to send.
    asks(&add(&home, &["--provenance", "private"]), "provenance.third");
    assert_eq!(add(&home, &["--provenance", "untrusted"]).ended(0).json()["outcome"], "done");

    home.run(&["mcp", "declare", "fast", "--forget"]).ended(0);
    asks(&add(&home, &READ_BOTH), "provenance.third");
}

#[test]
fn a_program_without_a_network_may_see_private_data_and_a_tool_of_it_may_be_something_else() {
    let home = with_program();
    allow(&home);
    home.run(&["mcp", "declare", "fast", "--effect", "read", "--can", "reads-private"]).ended(0);
    let reads =
        ["mcp", "declare", "fast", "--tool", "fail", "--effect", "write", "--can", "writes", "--json"];
    let shown = home.run(&reads).ended(0).json();
    assert_eq!(tool(&shown, "mcp:fast:fail")["effect"], "once_only_write");
    assert_eq!(tool(&shown, "mcp:fast:fail")["capabilities"], json!(["reads-untrusted", "writes"]));
    assert_eq!(tool(&shown, "mcp:fast:add")["capabilities"], json!(["reads-private", "reads-untrusted"]));
    assert_eq!(add(&home, &[]).ended(0).json()["result"]["result"], 42);
    // Another entry is another server.
    let server = found(&folder().join("fast_server.py"));
    home.run(&["mcp", "add", "fast", "--replace", "--", &python(), &server, "stdio"]).ended(0);
    asks(&add(&home, &[]), "provenance.third");
    let flags = ["mcp", "add", "fast", "--replace", "--effect", "read", "--can", "nothing", "--"];
    home.run(&[&flags[..], &[&python(), &server, "stdio"]].concat()).ended(0);
    assert_eq!(add(&home, &[]).ended(0).json()["result"]["result"], 42);
}

#[test]
fn an_invalid_declaration_is_rejected_with_the_valid_values() {
    let home = with_program();
    let before = home.run(&["mcp", "show", "fast", "--json"]).ended(0).json();
    for (flags, code, told) in [
        (&["--effect", "harmless"][..], 2, "idempotent_write"),
        (&["--can", "fly"][..], 2, "reads-private"),
        (&["--can", "nothing,egress"][..], 2, "cannot be combined"),
        (&[][..], 2, "--effect"),
        (&["--tool", "ad", "--effect", "read"][..], 5, "did you mean `add`?"),
        (&["--tool", "add", "--forget"][..], 5, "no declaration of its own"),
        (&["--forget", "--effect", "read"][..], 2, "--forget"),
    ] {
        let ran = home.run(&[&["mcp", "declare", "fast"][..], flags].concat());
        assert!(ran.code == code && ran.err.contains(told), "{flags:?}: {ran:?}");
    }
    assert_eq!(home.run(&["mcp", "show", "fast", "--json"]).ended(0).json()["tools"], before["tools"]);
}

#[test]
fn a_declaration_expires_with_its_definition() {
    let home = Home::new();
    let script = found(&folder().join("hostile.py"));
    home.run(&["mcp", "add", "evil", "--", &python(), &script, "changes"]).ended(0);
    let said = ["mcp", "declare", "evil", "--tool", "changed", "--effect", "read", "--can", "nothing"];
    home.run(&said).ended(0);
    home.run(&["mcp", "test", "evil"]).ended(0);
    let early = home.run(&said).ended(2);
    assert!(early.err.contains("toolroom mcp review evil"), "{early:?}");
    let accepted = home.run(&["mcp", "review", "evil", "--yes"]).ended(0);
    assert!(accepted.err.contains("was for the previous definition"), "{accepted:?}");
    let shown = home.run(&["mcp", "show", "evil", "--json"]).ended(0).json();
    let changed = tool(&shown, "mcp:evil:changed");
    assert_eq!(changed["effect"], "destructive", "{changed}");
    assert!(
        changed["because"].to_string().contains("your declaration is for an older definition"),
        "{changed}"
    );
}

#[test]
fn a_stricter_declaration_of_another_process_applies_to_the_next_call() {
    let (home, _running) = with_address();
    allow(&home);
    home.run(&["mcp", "declare", "fast", "--effect", "read", "--can", "nothing"]).ended(0);
    let served = Served::at(home);
    let key = served.key("local", "call");
    let call = || served.call(&key, "mcp:fast:add", &json!({"a": 1, "b": 2})).json();
    assert_eq!(call()["outcome"], "done", "{}", call());
    served.home.run(&["mcp", "declare", "fast", "--can", "reads-private"]).ended(0);
    let next = call();
    assert_ne!(next["outcome"], "done", "{next}");
    crate::processes::until(|| call()["outcome"] == "pending");
}

#[test]
fn only_the_owner_of_the_data_folder_can_declare() {
    let home = with_program();
    allow(&home);
    // Not a file that is imported.
    let server = found(&folder().join("fast_server.py"));
    let entry = json!({"command": python(), "args": [server, "stdio"], "effect": "read", "can": "nothing",
        "declared": {"effect": "read", "capabilities": []}, "trust": true, "alwaysAllow": ["add"]});
    let file = home.path().join("mcp.json");
    std::fs::write(&file, json!({"mcpServers": {"fast": entry, "other": entry}}).to_string()).unwrap();
    home.run(&["mcp", "import", "cursor", "--path", path(&file), "--yes"]).ended(0);
    let servers = home.run(&["mcp", "list", "--json"]).ended(0).json();
    let is_declared = |server: &Value| server.get("declared").is_some();
    assert!(!servers.as_array().unwrap().iter().any(is_declared), "{servers}");

    // No door of the server, and no tool.
    let served = Served::at(home);
    let key = served.key("local", "approve,call,read");
    let routes = served.get("/openapi.json", &key).is(200).json();
    assert!(!routes["paths"].to_string().contains("declare"), "no route is about it");
    let tools = served.get("/v1/tools", &key).is(200).body;
    assert!(tools.contains("mcp:fast:add") && !tools.contains("declare"), "{tools}");
    let call = || served.call(&key, "mcp:fast:add", &json!({"a": 1, "b": 2})).json();
    assert_eq!(call()["outcome"], "done", "nothing was read before");
    let asked = call();
    assert_eq!(
        (&asked["outcome"], &asked["rule"]),
        (&json!("pending"), &json!("provenance.third")),
        "{asked}"
    );
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}
