//! A server that listens, and a client that talks to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::home::Home;
use crate::scripted_model::{Line, ScriptedModel};

/// The clients that have to be content.
pub(super) const CLIENTS: [&str; 2] = ["1.0.0", "0.0.59"];

/// A server over a model that says what a test wrote down.
pub(super) struct Stage {
    pub(super) home: Home,
    pub(super) model: ScriptedModel,
    server: Child,
    url: String,
    cookie: String,
    records: TempDir,
}

impl Stage {
    pub(super) fn new(script: impl IntoIterator<Item = Line>, config: &str) -> Self {
        let (home, model) = (Home::new(), ScriptedModel::starts(script));
        model.is_set_up_in(home.path(), config);
        let (server, url, cookie) = serve(&home);
        Self { home, model, server, url, cookie, records: TempDir::new().unwrap() }
    }

    /// Ends the server as a power cut would.
    pub(super) fn dies(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Ends the server as somebody who asks it to.
    pub(super) fn ends(&mut self) {
        kill_process(Pid::from_child(&self.server), Signal::TERM).unwrap();
        assert!(self.server.wait().unwrap().success());
    }

    pub(super) fn starts_again(&mut self) {
        (self.server, self.url, self.cookie) = serve(&self.home);
    }

    /// What a client was told.
    pub(super) fn record(&self) -> PathBuf {
        self.records.path().join("events.jsonl")
    }

    /// A client that plays a scenario.
    pub(super) fn client(&self, scenario: &str, version: &str) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agui");
        assert!(
            folder.join("node_modules/@ag-ui/client").is_dir(),
            "the clients are missing: run `make setup`"
        );
        let mut node = Command::new("node");
        node.arg(folder.join("talk.mjs")).args([scenario, version, &self.url, &self.cookie]);
        node.arg(self.record()).stdin(Stdio::piped()).stdout(Stdio::piped());
        node
    }

    /// Plays a scenario to its end.
    #[track_caller]
    pub(super) fn plays(&self, scenario: &str, version: &str) {
        let ended = self.client(scenario, version).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{scenario} with {version}: {said}");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn serve(home: &Home) -> (Child, String, String) {
    let mut command = home.command(&["serve", "--json", "--listen", "127.0.0.1:0"]);
    let mut server = command.stderr(Stdio::inherit()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut told).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    let url = told["url"].as_str().unwrap().to_owned();
    let cookie = sign_in(&url, told["sign_in"].as_str().unwrap());
    (server, url, cookie)
}

/// Follows the link that the owner gets, as their browser would.
fn sign_in(url: &str, link: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let path = link.strip_prefix(url).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let cookie = response.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie").then(|| value.split(';').next().unwrap().to_owned())
    });
    cookie.unwrap_or_else(|| panic!("{response}"))
}
