//! Server processes on the first processor; the load generator runs on the second.

pub(crate) mod baseline;
pub(crate) mod load;
pub(crate) mod samples;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::{AS_CLI, processor_time};

/// A running server process, killed on drop.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Starts this program as a server.
    pub(crate) fn toolroom(mode: &str, home: &Path) -> Result<Self, Box<dyn Error>> {
        let mut command = pinned(std::env::current_exe()?);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .args(["--set", "server.key_rate=100000000", "--set", "server.ip_rate=100000000"])
            .env(AS_CLI, mode)
            .env("TOOLROOM_HOME", home);
        Self::start(command)
    }

    /// Starts a program that prints its URL as JSON in its first line.
    pub(crate) fn start(mut command: Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("standard output is missing")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line)?;
        let address = ready.get("url").and_then(Value::as_str).and_then(|url| url.strip_prefix("http://"));
        Ok(Self { address: address.ok_or("the first line has no `url`")?.parse()?, child })
    }

    /// Processor time of all its threads, in microseconds.
    pub(crate) fn processor_time(&self) -> Result<f64, Box<dyn Error>> {
        processor_time(&format!("/proc/{}/stat", self.child.id()))
    }

    /// Resident memory in MB.
    pub(crate) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse::<f64>().ok());
        Ok(resident.ok_or("`/proc/PID/status` has no resident size")? / 1024.0)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A command that runs on the servers' processor.
pub(crate) fn pinned(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program);
    command
}

/// Pins a process to a processor. Ignores failures: with one processor, all share it.
pub(crate) fn pin(process: u32, processor: usize) {
    let result = Command::new("taskset")
        .args(["-c", "-p", &processor.to_string(), &process.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    drop(result);
}

pub(crate) fn create_key(home: &Path) -> Result<String, Box<dyn Error>> {
    let output = Command::new(env!("CARGO_BIN_EXE_toolroom"))
        .args(["keys", "create", "--name", "bench", "--scope", "call", "--json"])
        .env("TOOLROOM_HOME", home)
        .output()?;
    let created: Value = serde_json::from_slice(&output.stdout)?;
    Ok(created
        .get("key")
        .and_then(Value::as_str)
        .ok_or_else(|| format!("no key was created: {created}"))?
        .to_owned())
}

/// A single-threaded runtime for the load generator.
pub(crate) fn client_runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
