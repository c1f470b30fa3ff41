//! Calls over standard input and output: one at a time, and concurrent.

use std::collections::HashMap;
use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::peers::Peer;
use super::{LEGACY, ROUNDS, Role, call, check, compare, handshake};
use crate::measure::{Bar, report};
use crate::server_process::pinned;
use crate::server_process::samples::Samples;
use crate::{AS_CLI, Done, processor_time};

/// Calls per round: enough for processor time, which is counted in hundredths of a second.
const CALLS: usize = 12_000;
const CALLS_OF_ONE: usize = 10_000;

/// Concurrent calls.
const IN_FLIGHT: usize = 32;

const BUFFER: usize = 64 * 1024;

pub(super) fn figures(home: &Path) -> Done {
    let mut servers = vec![
        (Role::Limit, "limit", StdioServer::toolroom("baseline_stdio", home)?),
        (Role::Toolroom, "call", StdioServer::toolroom("serve", home)?),
    ];
    for peer in Peer::all("stdio") {
        if let Some(command) = peer.command() {
            servers.push((peer.role, peer.name, StdioServer::new(command)?));
        }
    }
    for (_, name, server) in &mut servers {
        server.connect(name)?;
    }
    for (in_flight, n) in [(1, CALLS_OF_ONE), (IN_FLIGHT, CALLS)] {
        let mut samples: Vec<_> =
            servers.iter().map(|(role, name, _)| (*role, (*name).to_owned(), Samples::default())).collect();
        for _ in 0..=ROUNDS {
            for ((role, _, server), (_, _, samples)) in servers.iter_mut().zip(&mut samples) {
                let stat = format!("/proc/{}/stat", server.child.id());
                samples
                    .measure(|| processor_time(&stat), || server.call(in_flight, role.calls(n, in_flight)))?;
            }
        }
        compare("stdio", in_flight, &mut samples);
        if in_flight == IN_FLIGHT {
            compare_with_fastest(&mut samples);
        }
    }
    Ok(())
}

/// Reports the time per call as a multiple of the fastest other server's.
fn compare_with_fastest(servers: &mut [(Role, String, Samples)]) {
    let (mut toolroom, mut best) = (0.0, 0.0_f64);
    for (role, _, samples) in servers {
        match role {
            Role::Limit => {}
            Role::Toolroom => toolroom = samples.rate(),
            Role::Rmcp | Role::Slow => best = best.max(samples.rate()),
        }
    }
    if best > 0.0 {
        let case = format!("stdio_time_by_{IN_FLIGHT}_against_the_best_peer");
        report("mcp", &case, best / toolroom, "times", Bar::floor_and_aim(1.0, 0.4), ROUNDS);
    }
}

/// A server process, killed on drop.
struct StdioServer {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    buffer: Vec<u8>,
    next_id: usize,
}

impl StdioServer {
    fn toolroom(mode: &str, home: &Path) -> Result<Self, Box<dyn Error>> {
        let mut command = pinned(std::env::current_exe()?);
        command.args(["mcp", "serve"]).env(AS_CLI, mode).env("TOOLROOM_HOME", home);
        Self::new(command)
    }

    fn new(mut command: Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().ok_or("standard input is missing")?;
        let stdout = child.stdout.take().ok_or("standard output is missing")?;
        Ok(Self { child, stdin, stdout, buffer: vec![0; BUFFER], next_id: 1 })
    }

    /// Performs the handshake and tries one call.
    fn connect(&mut self, name: &str) -> Done {
        let [initialize, initialized] = handshake();
        self.send(&initialize)?;
        self.read_line()?;
        self.send(&initialized)?;
        self.send(&call(LEGACY, 0))?;
        let response = self.read_line()?;
        check(name, &response)
    }

    fn send(&mut self, message: &Value) -> std::io::Result<()> {
        self.stdin.write_all(format!("{message}\n").as_bytes())
    }

    /// Reads one line. Expects no more than one in the pipe.
    fn read_line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let count = self.stdout.read(&mut self.buffer)?;
            if count == 0 {
                return Err("the server exited".into());
            }
            line.extend_from_slice(self.buffer.get(..count).unwrap_or_default());
        }
        Ok(String::from_utf8(line)?)
    }

    /// Makes `n` concurrent calls, and returns the latencies in microseconds.
    fn call(&mut self, in_flight: usize, n: usize) -> Result<Vec<f64>, Box<dyn Error>> {
        let template = call(LEGACY, usize::MAX).to_string();
        let (before, after) = template.split_once(&usize::MAX.to_string()).ok_or("a call without an id")?;
        let mut latencies = Vec::with_capacity(n);
        let mut begun: HashMap<usize, Instant> = HashMap::with_capacity(in_flight);
        let (mut sent, mut text, mut received) = (0, String::new(), Vec::new());
        while latencies.len() < n {
            text.clear();
            while begun.len() < in_flight && sent < n {
                text.extend([before, &self.next_id.to_string(), after, "\n"]);
                begun.insert(self.next_id, Instant::now());
                self.next_id += 1;
                sent += 1;
            }
            self.stdin.write_all(text.as_bytes())?;
            let count = self.stdout.read(&mut self.buffer)?;
            if count == 0 {
                return Err("the server exited".into());
            }
            received.extend_from_slice(self.buffer.get(..count).unwrap_or_default());
            let end = received.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            for line in received.get(..end).unwrap_or_default().split(|byte| *byte == b'\n') {
                if let Some(start) = response_id(line).and_then(|id| begun.remove(&id)) {
                    latencies.push(start.elapsed().as_secs_f64() * 1e6);
                }
            }
            received.drain(..end);
        }
        Ok(latencies)
    }
}

/// The id of a response. Does not parse the JSON, so that the client stays fast.
fn response_id(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\"id\":";
    let start = line.windows(NAME.len()).position(|window| window == NAME)?;
    let digits = line.get(start + NAME.len()..)?.iter().take_while(|digit| digit.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

impl Drop for StdioServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
