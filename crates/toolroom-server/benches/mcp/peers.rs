//! Minimal MCP servers on other SDKs, if they are installed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::Role;
use crate::server_process::pinned;

/// Environment variable with the path of the rmcp server, which `make bench` builds.
const RMCP: &str = "TOOLROOM_BENCH_MCP_PEER";

/// A server on another SDK.
pub(super) struct Peer {
    pub(super) role: Role,
    pub(super) name: &'static str,
    program: Option<PathBuf>,
    script: Option<PathBuf>,
    mode: &'static str,
}

impl Peer {
    /// All servers for a transport: `http` or `stdio`.
    pub(super) fn all(transport: &'static str) -> Vec<Self> {
        let rmcp = |name, mode| Self {
            role: Role::Rmcp,
            name,
            program: std::env::var_os(RMCP).map(PathBuf::from),
            script: None,
            mode,
        };
        let scripted = |name, program: &str, script: &str| Self {
            role: Role::Slow,
            name,
            program: Some(packages().join(program)),
            script: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/mcp-peers").join(script)),
            mode: transport,
        };
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let node = format!("node_modules/node-linux-{machine}/bin/node");
        let mut all = vec![rmcp("rmcp", transport)];
        if transport == "stdio" {
            all.push(rmcp("rmcp_with_one_thread", "stdio-single"));
        }
        all.push(scripted("python", "venv/bin/python", "peer.py"));
        all.push(scripted("typescript", &node, "peer.mjs"));
        all
    }

    /// The command that starts it. If it is not installed, prints a line and returns `None`.
    pub(super) fn command(&self) -> Option<Command> {
        let Some(program) = self.program.as_ref().filter(|program| program.is_file()) else {
            let missing = json!({"bench": "mcp", "case": self.name, "skipped": "not installed"});
            drop(writeln!(std::io::stdout(), "{missing}"));
            return None;
        };
        let mut command = pinned(program);
        command.args(&self.script).arg(self.mode).current_dir(packages());
        Some(command)
    }
}

/// The folder with the tests' packages.
fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp")
}
