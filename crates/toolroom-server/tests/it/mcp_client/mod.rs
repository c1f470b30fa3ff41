//! The tools of other MCP servers through the real door: servers that mean well, servers that mean harm, and the
//! official runner.

mod conformance;
mod contents;
mod declared;
mod entries;
mod examined;
mod guarded;
mod hostile;
mod hostile_http;
mod imported;
mod lasting;
mod named;
mod real_servers;
mod sessions;
mod signing_in;
mod upkeep;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where the servers and suites are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp")
}

#[track_caller]
fn found(path: &Path) -> String {
    assert!(path.exists(), "{} is missing: run `make setup`", path.display());
    path.to_str().unwrap().to_owned()
}

/// The Node.js that the packages need.
fn node() -> String {
    let kind = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    found(&folder().join(format!("node_modules/node-linux-{kind}/bin/node")))
}

fn python() -> String {
    found(&folder().join("venv/bin/python"))
}

/// A server over HTTP, which ends with the test.
struct Listening {
    process: Child,
    port: u16,
}

impl Listening {
    /// Starts it with its port behind its arguments, or in `PORT`, and waits until it answers.
    fn start(program: &str, arguments: &[&str], is_last: bool) -> Self {
        Self::with_port(program, |port| {
            let last = is_last.then_some(port);
            arguments.iter().copied().chain(last).map(str::to_owned).collect()
        })
    }

    /// The same with arguments that are made for the port.
    fn with_port(program: &str, arguments: impl Fn(&str) -> Vec<String>) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.args(arguments(&port.to_string())).env("PORT", port.to_string());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        crate::processes::until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { process, port }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
