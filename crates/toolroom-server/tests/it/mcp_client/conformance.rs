//! The official conformance runner drives our client through every scenario that is required.

use std::process::Command;

use super::{folder, found, node};

fn passes(version: &str) {
    let runner = found(&folder().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    let ours = format!("{} mcp conformance-client", crate::home::binary().display());
    let out = tempfile::TempDir::new().unwrap();
    let mut command = Command::new(node());
    command.arg(runner).args(["client", "--command", &ours, "--requirements", version]);
    command.arg("-o").arg(out.path());
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[test]
fn our_client_passes_the_required_scenarios_of_the_older_era() {
    passes("2025-11-25");
}

#[test]
fn our_client_passes_the_required_scenarios_of_the_newer_era() {
    passes("2026-07-28");
}
