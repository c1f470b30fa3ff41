//! Servers made with what others offer, where they are there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::Role;
use crate::served::pinned;

/// Where the program on rmcp is; `make bench` builds it, outside the workspace.
const RMCP: &str = "TOOLROOM_BENCH_MCP_PEER";

/// One way to start a server of others.
pub(super) struct Peer {
    pub(super) role: Role,
    pub(super) name: &'static str,
    program: Option<PathBuf>,
    script: Option<PathBuf>,
    mode: &'static str,
}

impl Peer {
    /// All that speak this way: `http`, or `stdio`.
    pub(super) fn all(way: &'static str) -> Vec<Self> {
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
            mode: way,
        };
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let node = format!("node_modules/node-linux-{machine}/bin/node");
        let mut all = vec![rmcp("rmcp", way)];
        if way == "stdio" {
            all.push(rmcp("rmcp_with_one_thread", "stdio-single"));
        }
        all.push(scripted("python", "venv/bin/python", "peer.py"));
        all.push(scripted("typescript", &node, "peer.mjs"));
        all
    }

    /// How to start it; `None`, and a line that says so, where it is not there.
    pub(super) fn command(&self) -> Option<Command> {
        let Some(program) = self.program.as_ref().filter(|program| program.is_file()) else {
            let missing = json!({"bench": "mcp", "case": self.name, "skipped": "not there"});
            drop(writeln!(std::io::stdout(), "{missing}"));
            return None;
        };
        let mut command = pinned(program);
        command.args(&self.script).arg(self.mode).current_dir(packages());
        Some(command)
    }
}

/// Where the tests have their packages.
fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp")
}
