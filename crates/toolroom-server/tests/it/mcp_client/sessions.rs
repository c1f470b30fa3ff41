//! Sessions at servers over HTTP: reopened when they are lost, ended when they are no longer used.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Listening, folder, found, python};
use crate::home::{Home, Ran};
use crate::processes::until;
use crate::serve::Served;

/// Much less than what a server that says nothing would be waited for, and more than a slow machine needs.
const SOON: Duration = Duration::from_secs(45);

/// A server that hands out sessions, and what it notes of them.
struct Noting {
    file: PathBuf,
    _folder: TempDir,
    _server: Listening,
}

impl Noting {
    /// One of this kind, which a toolroom knows and whose tool may be called.
    fn known(mode: &str) -> (Self, Home) {
        let (home, notes) = (Home::new(), tempfile::tempdir().unwrap());
        let file = notes.path().join("sessions");
        let (script, name) = (found(&folder().join("hostile_http.py")), file.to_str().unwrap().to_owned());
        let server = Listening::with_port(&python(), |port| {
            [script.as_str(), mode, port, &name].map(str::to_owned).to_vec()
        });
        let rule = "[[rule]]\nid = \"work\"\neffect = \"allow\"\ntool = \"mcp:evil:work\"\n";
        std::fs::write(home.path().join("toolroom.toml"), rule).unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", server.port);
        home.run(&["mcp", "add", "evil", "--url", &url, "--effect", "read", "--can", "nothing"]).ended(0);
        (Self { file, _folder: notes, _server: server }, home)
    }

    /// Sessions that were opened.
    fn opened(&self) -> Vec<String> {
        self.noted("opened")
    }

    /// Sessions that were ended.
    fn ended(&self) -> Vec<String> {
        self.noted("ended")
    }

    fn noted(&self, what: &str) -> Vec<String> {
        let notes = std::fs::read_to_string(&self.file).unwrap_or_default();
        let found = notes.lines().filter_map(|line| line.strip_prefix(what));
        found.map(|session| session.trim().to_owned()).collect()
    }
}

fn called(home: &Home) -> Ran {
    home.run(&["call", "mcp:evil:work", "--yes", "--json"])
}

#[test]
fn a_server_that_ignores_the_end_of_a_session_delays_nothing() {
    let began = Instant::now();
    let (noting, home) = Noting::known("lingers");
    assert_eq!(called(&home).ended(0).json()["result"], "ok");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!((noting.opened().len(), noting.ended()), (2, noting.opened()), "it was told each time");
}

#[test]
fn a_lost_session_is_reopened_once_and_then_reported() {
    let (noting, home) = Noting::known("forgets");
    assert_eq!(called(&home).ended(0).json()["result"], "ok");
    let opened = noting.opened();
    assert_eq!(opened.len(), 3, "one to look at the tools, one that was lost, and another one");
    assert_eq!(noting.ended(), [&*opened[0], &*opened[2]], "what is lost need not be ended");

    let (noting, home) = Noting::known("forgets_all");
    let lost = called(&home).ended(1).json();
    assert_eq!(lost["error"]["kind"], "unreachable", "{lost}");
    assert_eq!(noting.opened().len(), 3, "retries are limited");
}

#[test]
fn sessions_end_with_the_process_that_serves() {
    let (noting, home) = Noting::known("keeps");
    let mut served = Served::at(home);
    let key = served.key("local", "call");
    let done = served.call(&key, "mcp:evil:work", &json!({})).json();
    assert_eq!(done["result"], "ok", "{done}");
    assert_eq!((noting.opened().len(), noting.ended().len()), (2, 1), "it is still used");
    served.ends();
    assert_eq!(noting.ended(), noting.opened());
}

#[test]
fn sessions_end_with_the_process_that_serves_one_client() {
    let (noting, home) = Noting::known("keeps");
    let mut command = home.command(&["mcp", "serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut heard = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = child.stdin.take().unwrap();
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let call = json!({"name": "mcp__evil__work", "arguments": {}});
    for (id, method, params) in [(1, "initialize", hello), (2, "tools/call", call)] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(said, "{request}").unwrap();
        let answer: Value = serde_json::from_str(&heard.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        if id == 2 {
            assert_eq!(answer["result"]["content"][0]["text"], "ok", "{answer}");
        }
    }
    drop(said);
    assert!(child.wait().unwrap().success());
    assert_eq!((noting.opened().len(), noting.ended()), (2, noting.opened()));
}

#[test]
fn a_session_at_a_server_that_is_switched_off_is_ended() {
    let (noting, home) = Noting::known("keeps");
    let served = Served::at(home);
    let key = served.key("local", "call");
    assert_eq!(served.call(&key, "mcp:evil:work", &json!({})).json()["result"], "ok");
    served.home.run(&["mcp", "disable", "evil"]).ended(0);
    until(|| noting.ended() == noting.opened());
}
