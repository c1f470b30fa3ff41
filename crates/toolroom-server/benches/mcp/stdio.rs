//! Over standard input and output: one call at a time, and many in flight.

use std::collections::HashMap;
use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::peers::Peer;
use super::{LEGACY, ROUNDS, Role, call, check, compare, hello};
use crate::measure::{Bar, report};
use crate::served::pinned;
use crate::served::seen::Seen;
use crate::{AS_CLI, Done, processor_time};

/// Calls per round: processor time is counted in hundredths of a second, so there have to be enough.
const CALLS: usize = 12_000;
const CALLS_OF_ONE: usize = 10_000;

/// How many are in flight at most.
const IN_FLIGHT: usize = 32;

/// More than is told at once.
const BUFFER: usize = 64 * 1024;

pub(super) fn figures(home: &Path) -> Done {
    let mut servers = vec![
        (Role::Limit, "limit", Started::ours("bare_stdio", home)?),
        (Role::Ours, "call", Started::ours("serve", home)?),
    ];
    for peer in Peer::all("stdio") {
        if let Some(command) = peer.command() {
            servers.push((peer.role, peer.name, Started::new(command)?));
        }
    }
    for (_, name, server) in &mut servers {
        server.greet(name)?;
    }
    for (in_flight, n) in [(1, CALLS_OF_ONE), (IN_FLIGHT, CALLS)] {
        let mut seen: Vec<_> =
            servers.iter().map(|(role, name, _)| (*role, (*name).to_owned(), Seen::default())).collect();
        for _ in 0..=ROUNDS {
            for ((role, _, server), (_, _, seen)) in servers.iter_mut().zip(&mut seen) {
                let stat = format!("/proc/{}/stat", server.child.id());
                seen.watch(|| processor_time(&stat), || server.ask(in_flight, role.share(n, in_flight)))?;
            }
        }
        compare("stdio", in_flight, &mut seen);
        if in_flight == IN_FLIGHT {
            against_the_best(&mut seen);
        }
    }
    Ok(())
}

/// How long a call takes here, in times of what it takes with the fastest of the others.
fn against_the_best(seen: &mut [(Role, String, Seen)]) {
    let (mut ours, mut best) = (0.0, 0.0_f64);
    for (role, _, seen) in seen {
        match role {
            Role::Limit => {}
            Role::Ours => ours = seen.rate(),
            Role::Rmcp | Role::Slow => best = best.max(seen.rate()),
        }
    }
    if best > 0.0 {
        let case = format!("stdio_time_by_{IN_FLIGHT}_against_the_best_peer");
        report("mcp", &case, best / ours, "times", Bar::floor_and_aim(1.0, 0.4), ROUNDS);
    }
}

/// A server that we started; it ends with this value.
struct Started {
    child: Child,
    said: ChildStdin,
    heard: ChildStdout,
    buffer: Vec<u8>,
    next: usize,
}

impl Started {
    fn ours(mode: &str, home: &Path) -> Result<Self, Box<dyn Error>> {
        let mut command = pinned(std::env::current_exe()?);
        command.args(["mcp", "serve"]).env(AS_CLI, mode).env("TOOLROOM_HOME", home);
        Self::new(command)
    }

    fn new(mut command: Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let said = child.stdin.take().ok_or("it does not listen")?;
        let heard = child.stdout.take().ok_or("it says nothing")?;
        Ok(Self { child, said, heard, buffer: vec![0; BUFFER], next: 1 })
    }

    /// Begins, and tries one call.
    fn greet(&mut self, name: &str) -> Done {
        let [hello, thanks] = hello();
        self.say(&hello)?;
        self.line()?;
        self.say(&thanks)?;
        self.say(&call(LEGACY, 0))?;
        let answer = self.line()?;
        check(name, &answer)
    }

    fn say(&mut self, message: &Value) -> std::io::Result<()> {
        self.said.write_all(format!("{message}\n").as_bytes())
    }

    /// What is said next; whoever says more at a time is not understood.
    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let count = self.heard.read(&mut self.buffer)?;
            if count == 0 {
                return Err("the server left".into());
            }
            line.extend_from_slice(self.buffer.get(..count).unwrap_or_default());
        }
        Ok(String::from_utf8(line)?)
    }

    /// Makes `n` calls, so many at once; says how long each took, in microseconds.
    fn ask(&mut self, in_flight: usize, n: usize) -> Result<Vec<f64>, Box<dyn Error>> {
        let whole = call(LEGACY, usize::MAX).to_string();
        let (before, behind) = whole.split_once(&usize::MAX.to_string()).ok_or("a call without an id")?;
        let mut latencies = Vec::with_capacity(n);
        let mut begun: HashMap<usize, Instant> = HashMap::with_capacity(in_flight);
        let (mut asked, mut text, mut told) = (0, String::new(), Vec::new());
        while latencies.len() < n {
            text.clear();
            while begun.len() < in_flight && asked < n {
                text.extend([before, &self.next.to_string(), behind, "\n"]);
                begun.insert(self.next, Instant::now());
                self.next += 1;
                asked += 1;
            }
            self.said.write_all(text.as_bytes())?;
            let count = self.heard.read(&mut self.buffer)?;
            if count == 0 {
                return Err("the server left".into());
            }
            told.extend_from_slice(self.buffer.get(..count).unwrap_or_default());
            let end = told.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            for line in told.get(..end).unwrap_or_default().split(|byte| *byte == b'\n') {
                if let Some(start) = id(line).and_then(|id| begun.remove(&id)) {
                    latencies.push(start.elapsed().as_secs_f64() * 1e6);
                }
            }
            told.drain(..end);
        }
        Ok(latencies)
    }
}

/// Whose answer it is, without reading all of it: whoever asks should not be the slow one.
fn id(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\"id\":";
    let at = line.windows(NAME.len()).position(|window| window == NAME)?;
    let digits = line.get(at + NAME.len()..)?.iter().take_while(|digit| digit.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
