//! Servers that are processes of their own on the first processor; whoever asks them is on the second.

pub(crate) mod bare;
pub(crate) mod load;
pub(crate) mod seen;

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

/// A server in a process of its own; it ends with this value.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Served {
    /// This program as a server.
    pub(crate) fn ours(mode: &str, home: &Path) -> Result<Self, Box<dyn Error>> {
        let mut command = pinned(std::env::current_exe()?);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .args(["--set", "server.key_rate=100000000", "--set", "server.ip_rate=100000000"])
            .env(AS_CLI, mode)
            .env("TOOLROOM_HOME", home);
        Self::start(command)
    }

    /// Any program that says in its first line where it listens.
    pub(crate) fn start(mut command: Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("it says nothing")?).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line)?;
        let address = told.get("url").and_then(Value::as_str).and_then(|url| url.strip_prefix("http://"));
        Ok(Self { address: address.ok_or("it does not say where it listens")?.parse()?, child })
    }

    /// Of all its threads so far, in microseconds.
    pub(crate) fn processor_time(&self) -> Result<f64, Box<dyn Error>> {
        processor_time(&format!("/proc/{}/stat", self.child.id()))
    }

    /// In MB.
    pub(crate) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let held = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse::<f64>().ok());
        Ok(held.ok_or("the system does not say how much memory is used")? / 1024.0)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A program that is going to run where servers do.
pub(crate) fn pinned(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program);
    command
}

/// Where there is only one processor, all share it.
pub(crate) fn pin(process: u32, processor: usize) {
    let pinned = Command::new("taskset")
        .args(["-c", "-p", &processor.to_string(), &process.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    drop(pinned);
}

pub(crate) fn key(home: &Path) -> Result<String, Box<dyn Error>> {
    let made = Command::new(env!("CARGO_BIN_EXE_toolroom"))
        .args(["keys", "create", "--name", "bench", "--scope", "call", "--json"])
        .env("TOOLROOM_HOME", home)
        .output()?;
    let made: Value = serde_json::from_slice(&made.stdout)?;
    Ok(made.get("key").and_then(Value::as_str).ok_or_else(|| format!("no key was made: {made}"))?.to_owned())
}

/// One thread: it has one processor.
pub(crate) fn asking() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
