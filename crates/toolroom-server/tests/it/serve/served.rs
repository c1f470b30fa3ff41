//! A server of its own for each test.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::wire::{Asked, Reply, Wire};
use crate::home::Home;
use crate::processes::until;
use crate::scripted_model::{Line, ScriptedModel};

/// Every scope there is.
pub(crate) const SCOPES: [&str; 7] = ["read", "call", "chat", "answer", "mint", "manage", "approve"];

/// Long for a machine, and only waited for when a test fails.
const LONG: Duration = Duration::from_secs(60);

/// `toolroom serve` with the tools of the example, in a home of its own.
pub(crate) struct Served {
    pub(crate) home: Home,
    running: Running,
    pub(crate) address: SocketAddr,
    /// The path of the link that signs in once.
    pub(crate) link: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.running.child.kill();
        let _reaped = self.running.child.wait();
    }
}

/// A line for each request would hide what matters.
const QUIET: (&str, &str) = ("TOOLROOM_LOG_LEVEL", "warn");

impl Served {
    pub(crate) fn new() -> Self {
        Self::configured("")
    }

    pub(crate) fn configured(config: &str) -> Self {
        let home = Home::new();
        std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
        Self::at(home)
    }

    /// Over a model that says what a test wrote down.
    pub(crate) fn over(script: impl IntoIterator<Item = Line>, config: &str) -> (Self, ScriptedModel) {
        let (home, model) = (Home::new(), ScriptedModel::starts(script));
        model.is_set_up_in(home.path(), config);
        (Self::at(home), model)
    }

    pub(crate) fn at(home: Home) -> Self {
        // What worries it on the way is shown where a test fails.
        Self::started(home, &[], Stdio::inherit(), &[QUIET])
    }

    /// With these words more, and with its log in a file.
    pub(crate) fn logged(home: Home, words: &[&str]) -> Self {
        let log = std::fs::File::create(log_file(&home)).unwrap();
        Self::telling(home, words, log.into())
    }

    /// With these words more, and with its log there.
    pub(crate) fn telling(home: Home, words: &[&str], log: Stdio) -> Self {
        Self::started(home, words, log, &[])
    }

    /// The same, with these variables.
    pub(crate) fn started(home: Home, words: &[&str], log: Stdio, variables: &[(&str, &str)]) -> Self {
        let mut command = home.with_few_files(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        command.args(words).stderr(log).envs(variables.iter().copied());
        let (running, address, link) = Running::start(command).unwrap();
        Self { home, running, address, link }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.running.child), signal).unwrap();
    }

    /// What it told so far, where its log is kept.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(log_file(&self.home)).unwrap()
    }

    /// The log as JSON.
    #[track_caller]
    pub(crate) fn log_lines(&self) -> Vec<Value> {
        let log = self.log();
        let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        // The last line may still be on its way.
        log.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(read).collect()
    }

    /// Ends as in a power cut.
    pub(crate) fn dies(&mut self) {
        self.running.child.kill().unwrap();
        self.running.child.wait().unwrap();
    }

    /// Ends in order.
    #[track_caller]
    pub(crate) fn ends(&mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.running.child.wait().unwrap().code(), Some(0));
    }

    /// Listens again in the same home and at the same address, which others may have borrowed for a connection.
    pub(crate) fn starts_again(&mut self) {
        let began = Instant::now();
        let again = loop {
            let listen = self.address.to_string();
            let mut command = self.home.with_few_files(&["serve", "--listen", &listen, "--json"]);
            command.stderr(Stdio::inherit()).envs([QUIET]);
            match Running::start(command) {
                Some(again) => break again,
                None => assert!(began.elapsed() < LONG, "{} is taken", self.address),
            }
        };
        (self.running, self.address, self.link) = again;
    }

    /// What the process occupies.
    pub(crate) fn footprint(&self) -> Footprint {
        let folder = format!("/proc/{}", self.running.child.id());
        let status = std::fs::read_to_string(format!("{folder}/status")).unwrap();
        let mebibytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
        };
        Footprint { now: mebibytes("VmRSS:"), peak: mebibytes("VmHWM:") }
    }
}

impl Served {
    /// Connections that are open on its side.
    pub(crate) fn connections(&self) -> usize {
        const ESTABLISHED: &str = "01";
        const CLOSE_WAIT: &str = "08";
        let port = format!(":{:04X}", self.address.port());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row[1].ends_with(&port) && [ESTABLISHED, CLOSE_WAIT].contains(&row[3])).count()
    }
}

/// What a process occupies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    /// Memory, in MiB.
    pub(crate) now: u64,
    /// The most memory it ever had, in MiB.
    pub(crate) peak: u64,
}

fn log_file(home: &Home) -> PathBuf {
    home.path().join("server.log")
}

/// A server that listens.
struct Running {
    child: Child,
    /// Kept open: a server that cannot print is another test.
    _printed: BufReader<ChildStdout>,
}

impl Running {
    /// The server, its address and the path of its link; nothing, if it could not start.
    fn start(mut command: Command) -> Option<(Self, SocketAddr, String)> {
        let mut child = command.spawn().unwrap();
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        if printed.read_line(&mut line).unwrap() == 0 {
            assert!(!child.wait().unwrap().success());
            return None;
        }
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let url = said["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        let link = said["sign_in"].as_str().unwrap().strip_prefix(url).unwrap().to_owned();
        Some((Self { child, _printed: printed }, address, link))
    }
}

impl Served {
    /// A key of a project with these scopes, separated by commas.
    pub(crate) fn key(&self, project: &str, scopes: &str) -> String {
        let made = self.make_key(project, scopes);
        made["key"].as_str().unwrap().to_owned()
    }

    pub(crate) fn make_key(&self, project: &str, scopes: &str) -> Value {
        let name = scopes.replace(',', "-");
        let words = ["keys", "create", "--project", project, "--name", &name, "--scope", scopes, "--json"];
        self.home.run_own(&words).ended(0).json()
    }

    pub(crate) fn project(&self, id: &str) {
        self.home.run_own(&["projects", "create", id]).ended(0);
    }

    pub(crate) fn wire(&self) -> Wire {
        Wire::new(self.address)
    }

    pub(crate) fn ask(&self, asked: &Asked) -> Reply {
        self.wire().ask(asked)
    }

    pub(crate) fn get(&self, path: &str, key: &str) -> Reply {
        self.ask(&Asked::new("GET", path).key(key))
    }

    pub(crate) fn send(&self, method: &str, path: &str, key: &str, body: &Value) -> Reply {
        self.ask(&Asked::new(method, path).key(key).json(body))
    }

    pub(crate) fn call(&self, key: &str, tool: &str, arguments: &Value) -> Reply {
        self.send("POST", "/v1/calls", key, &json!({"tool": tool, "arguments": arguments}))
    }

    /// The cookie of a browser that uses the link.
    pub(crate) fn cookie(&self) -> String {
        let reply = self.ask(&Asked::new("GET", &self.link)).is(303);
        let cookie = reply.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }

    /// The origin of the server's own pages.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A token for a user of the default agent.
    pub(crate) fn token(&self, key: &str, user: &str) -> String {
        self.token_for(key, user, "default")
    }

    /// A token of a user for one agent.
    pub(crate) fn token_for(&self, key: &str, user: &str, agent: &str) -> String {
        let made = self.send("POST", "/v1/tokens", key, &json!({"user": user, "agent": agent})).is(201);
        made.json()["token"].as_str().unwrap().to_owned()
    }

    /// A call of the example that waits for approval, and the file it would write to.
    pub(crate) fn park(&self, key: &str, text: &str) -> String {
        let path = self.notes();
        let reply = self.call(key, "publish_note", &json!({"path": path, "text": text})).is(202);
        reply.json()["call_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn notes(&self) -> String {
        self.home.path().join("notes").display().to_string()
    }

    /// Waits until so many calls have begun, without a request that would take a permit.
    #[track_caller]
    pub(crate) fn has_begun(&self, calls: usize) {
        until(|| self.home.journal().iter().filter(|row| row["status"] == "begun").count() == calls);
    }

    /// What was written so far.
    pub(crate) fn written(&self) -> String {
        std::fs::read_to_string(self.notes()).unwrap_or_default()
    }
}
