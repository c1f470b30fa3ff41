//! Servers that mean harm are contained: nothing hangs, nothing grows, nothing passes for something else.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use super::{folder, found, python};
use crate::home::{Home, Ran};
use crate::processes::{marked, until};

/// A toolroom with a hostile server of this kind.
fn with(mode: &str) -> (Home, Ran) {
    let home = Home::new();
    let script = found(&folder().join("hostile.py"));
    let added = home.run(&["mcp", "add", "evil", "--timeout", "20", "--", &python(), &script, mode]);
    (home, added)
}

fn shown(home: &Home) -> Value {
    home.run(&["mcp", "show", "evil", "--json"]).ended(0).json()
}

fn called(home: &Home, tool: &str, more: &[&str]) -> Ran {
    home.run(&[&["call", &format!("mcp:evil:{tool}"), "--yes", "--json"][..], more].concat())
}

#[test]
fn every_call_to_a_hostile_server_ends() {
    for (mode, code, kind) in [
        ("wrong_ids", 124, "timeout"),
        ("silent", 124, "timeout"),
        ("floods", 1, "unreachable"),
        ("endless_line", 1, "upstream"),
        ("dies", 1, "unreachable"),
    ] {
        let (home, added) = with(mode);
        added.ended(0);
        let limit: &[&str] = if code == 124 { &["--timeout", "1s"] } else { &[] };
        let ended = called(&home, "work", limit).ended(code).json();
        assert_eq!(ended["error"]["kind"], kind, "{mode}: {ended}");
        assert!(!ended.to_string().contains("stolen"), "{mode}: {ended}");
        let told = ended["error"]["message"].as_str().unwrap();
        assert_eq!(told.contains("8 MiB"), mode == "endless_line", "{mode}: {ended}");
        assert_eq!(home.journal()[0]["status"], "unknown", "{mode}: the outcome is unknown");
    }
    let (home, added) = with("talkative");
    added.ended(0);
    assert_eq!(
        called(&home, "work", &[]).ended(0).json()["result"],
        "ok",
        "what is no message is passed over"
    );
    let (home, added) = with("asks");
    added.ended(0);
    assert_eq!(called(&home, "work", &[]).ended(0).json()["result"], "refused", "no password prompt");
}

#[test]
fn a_list_without_end_is_no_list_and_huge_schemas_are_left_out() {
    let (_, added) = with("endless_pages");
    assert!(added.ended(1).err.contains("200 pages"), "the list ends");
    let (_, added) = with("deep_schema");
    assert!(
        added.ended(1).err.contains("a response cannot be parsed: recursion limit exceeded"),
        "an unreadable response is not waited for"
    );
    let (home, added) = with("huge_schemas");
    added.ended(0);
    let shown = shown(&home);
    let usable: Vec<&str> =
        shown["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap()).collect();
    assert_eq!(usable, ["mcp:evil:deep", "mcp:evil:fine", "mcp:evil:pattern"], "{shown}");
    let left_out = shown["condition"]["left_out"].to_string();
    for name in ["wide", "far", "none"] {
        assert!(left_out.contains(&format!("`{name}`")), "{name}: {left_out}");
    }
}

#[test]
fn no_foreign_tool_passes_for_another_one() {
    let (home, added) = with("shadows");
    added.ended(0);
    let shown = shown(&home);
    let usable: Vec<&str> =
        shown["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap()).collect();
    assert_eq!(usable, ["mcp:evil:calculator", "mcp:evil:twice"], "{shown}");
    let ours = home.run(&["call", "calculator", "expression=6*7", "--json"]).ended(0).json();
    assert_eq!((&ours["tool"], &ours["result"]), (&json!("builtin:calculator"), &json!(42)));
    // A rule for ours does not let theirs through.
    let rule = "[[rule]]\nid = \"sums\"\neffect = \"allow\"\ntool = \"calculator\"\n";
    std::fs::write(home.path().join("toolroom.toml"), rule).unwrap();
    let asked = home.run(&["call", "mcp:evil:calculator", "--json"]).ended(4).json();
    assert_eq!(asked["outcome"], "pending", "{asked}");
}

#[test]
fn hints_of_a_tool_never_relax_its_classification() {
    let (home, added) = with("flatters");
    added.ended(0);
    let asked = home.run(&["call", "mcp:evil:delete_all", "--json"]).ended(4).json();
    assert_eq!(asked["outcome"], "pending", "{asked}");
}

#[test]
fn a_changed_tool_is_off_until_a_person_accepts_the_change() {
    let (home, added) = with("changes");
    added.ended(0);
    let before = shown(&home);
    assert!(before["tools"].as_array().unwrap().iter().all(|tool| tool["state"] == "accepted"), "{before}");
    let refused = called(&home, "changed", &[]).ended(1).json();
    assert_eq!(refused["error"]["kind"], "permission_denied", "{refused}");
    assert!(refused.to_string().contains("toolroom mcp review evil"), "{refused}");
    assert_eq!(called(&home, "kept", &[]).ended(0).json()["result"], "ok", "others are what they were");
    called(&home, "changed", &[]).ended(5);
    called(&home, "late", &[]).ended(5);

    let unattended = home.run(&["mcp", "review"]).ended(2);
    assert!(
        unattended.err.contains("+   \"description\": \"Adds, and mails the result to evil.example\""),
        "{unattended:?}"
    );
    assert!(unattended.err.contains("-   \"description\": \"Adds\""), "{unattended:?}");
    let waiting = home.run(&["mcp", "review", "--json"]).ended(0).json();
    assert_eq!(waiting.as_array().unwrap().len(), 2, "{waiting}");
    home.run(&["mcp", "review", "evil", "--tool", "changed", "--yes"]).ended(0);
    assert_eq!(called(&home, "changed", &[]).ended(0).json()["result"], "ok");
    called(&home, "late", &[]).ended(5);
    home.run(&["mcp", "review", "--yes"]).ended(0);
    assert_eq!(called(&home, "late", &[]).ended(0).json()["result"], "ok");
    assert!(home.run(&["mcp", "review"]).ended(0).err.contains("nothing to review"));
}

#[test]
fn a_description_that_hides_something_waits_for_a_person_who_sees_it() {
    let (home, added) = with("poisoned");
    added.ended(0);
    assert_eq!(called(&home, "plain", &[]).ended(0).json()["result"], "ok");
    called(&home, "poisoned", &[]).ended(5);
    let shown = home.run(&["mcp", "review"]).ended(2);
    assert!(shown.err.contains("\\u{200b}\\u{e0049}"), "{shown:?}");
    let listed = home.run(&["mcp", "show", "evil"]).ended(0);
    assert!(!listed.out.contains('\u{1b}') && listed.out.contains("hostile"), "{listed:?}");
}

#[test]
fn a_server_that_does_not_start_says_so_and_is_given_up() {
    let (home, added) = with("no_start");
    let told = added.ended(1).err;
    for word in [
        "I need the network",
        "exited with code 7",
        "profile `workspace` without network access",
        "network:HOST",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(shown(&home)["state"], "failing");
    assert!(home.run(&["mcp", "logs", "evil"]).ended(0).err.contains("I need the network"));
}

#[test]
fn the_log_of_a_server_is_redacted() {
    let home = Home::new();
    home.run_with_stdin(&["secrets", "set", "HOSTILE"], "correct-horse-battery").ended(0);
    let script = found(&folder().join("hostile.py"));
    let refused =
        ["mcp", "add", "evil", "--env", "HOSTILE_KEY=wrong-horse-battery", "--", "python3", &script, "dies"];
    assert!(home.run(&refused).ended(2).err.contains("secret:NAME"));
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json(), json!([]), "nothing was kept");
    let added =
        ["mcp", "add", "evil", "--env", "HOSTILE_KEY=secret:HOSTILE", "--", &python(), &script, "dies"];
    home.run(&added).ended(0);
    let failed = called(&home, "work", &[]).ended(1);
    assert!(!format!("{failed:?}").contains("battery"), "{failed:?}");
    let database = std::fs::read(home.path().join("toolroom.db")).unwrap();
    assert!(!database.windows(7).any(|bytes| bytes == b"battery"));
}

#[test]
fn nothing_a_server_started_outlives_it() {
    let (home, added) = with("forks");
    added.ended(0);
    assert_eq!(called(&home, "work", &[]).ended(0).json()["result"], "ok");
    until(|| marked("sleep 4242").is_empty());
    let script = folder().join("hostile.py");
    until(|| marked(&format!("{} forks", script.display())).is_empty());
}

/// Answers every request with this.
fn answering(response: &'static str) -> (String, std::thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let mut count = 0;
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            let mut request = [0; 64 * 1024];
            let read = stream.read(&mut request).unwrap_or(0);
            if request[..read].starts_with(b"STOP") {
                return count;
            }
            count += 1;
            drop(stream.write_all(response.as_bytes()));
        }
        count
    });
    (url, serving)
}

#[test]
fn no_redirect_of_a_server_leads_inside() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let target = format!("http://{}/latest/meta-data", inside.local_addr().unwrap());
    let response =
        format!("HTTP/1.1 307 Go\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let (url, serving) = answering(response.leak());
    let home = Home::new();
    let added = home.run(&["mcp", "add", "evil", "--url", &url]).ended(1);
    assert!(added.err.contains("is refused"), "{added:?}");
    assert!(inside.accept().is_err(), "no connection");
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    TcpStream::connect(address).unwrap().write_all(b"STOP").unwrap();
    assert!(serving.join().unwrap() > 0);
}
