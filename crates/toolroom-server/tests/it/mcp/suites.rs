//! The official suite, and the official inspector.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::place::{LEGACY, MODERN, folder, node, served, succeeds};
use crate::serve::Served;

/// How many scenarios each version asks for: one that is left out is not passed.
const REQUIRED: [(&str, usize); 2] = [(LEGACY, 30), (MODERN, 37)];

/// Scenarios that the suite runs beside those, and that have to stay as they are.
const BESIDE: [&str; 4] =
    ["server-session-lifecycle", "json-schema-2020-12", "server-sse-polling", "http-header-validation"];

#[test]
fn the_official_suite_passes_in_both_eras() {
    let served = served();
    let key = served.key("local", "call,read");
    for (version, required) in REQUIRED {
        let (mut suite, results) = (node(), TempDir::new().unwrap());
        let url = format!("{}/mcp", served.origin());
        suite.arg("--import").arg(folder().join("key.mjs"));
        suite.arg("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        suite.args(["server", "--url", &url, "--requirements", version, "--output-dir"]).arg(results.path());
        suite.env("TOOLROOM_KEY", &key).env("TOOLROOM_URL", &url);
        succeeds(&mut suite);
        let mut passed = 0;
        for scenario in std::fs::read_dir(results.path()).unwrap() {
            let scenario = scenario.unwrap();
            let name = scenario.file_name().into_string().unwrap();
            let is_extension = name.contains("tasks-") || name.contains("http-custom-header");
            let checks = std::fs::read_to_string(scenario.path().join("checks.json")).unwrap();
            let checks: Vec<Value> = serde_json::from_str(&checks).unwrap();
            let wrong = checks
                .iter()
                .find(|check| ["FAILURE", "WARNING"].contains(&check["status"].as_str().unwrap()));
            if !is_extension {
                assert!(wrong.is_none(), "{version} {name}: {}", wrong.unwrap());
                passed += usize::from(!BESIDE.iter().any(|beside| name.contains(beside)));
            }
        }
        assert_eq!(passed, required, "{version}");
    }
}

fn inspector(served: &Served, key: &str, era: &str) -> Command {
    let mut inspector = node();
    inspector.arg("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    inspector.args(["--cli", &format!("{}/mcp", served.origin()), "--protocol-era", era]);
    inspector.args(["--header", &format!("Authorization: Bearer {key}"), "--format", "json"]);
    inspector.env("HOME", served.home.path());
    inspector
}

#[test]
fn the_inspector_finds_nothing_wrong_with_our_tools() {
    let served = Served::new();
    let key = served.key("local", "call,read");
    for era in ["legacy", "modern"] {
        let listed = succeeds(inspector(&served, &key, era).args(["--method", "tools/list", "--strict"]));
        let told = String::from_utf8(listed.stderr).unwrap();
        assert!(!told.contains("Warning") && !told.contains("Error"), "{era}: {told}");
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        assert!(tools.len() > 20 && tools.iter().any(|tool| tool["name"] == "calculator"), "{listed}");
        let mut call = inspector(&served, &key, era);
        call.args(["--method", "tools/call", "--tool-name", "calculator", "--tool-arg", "expression=17*23"]);
        let called: Value = serde_json::from_slice(&succeeds(&mut call).stdout).unwrap();
        assert_eq!(called["result"]["content"][0]["text"], "391", "{called}");
    }
}
