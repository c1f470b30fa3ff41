//! Servers that others made and that mean well, as programs and over HTTP.

use serde_json::{Value, json};

use super::{Listening, folder, found, node, python};
use crate::home::Home;

fn call(home: &Home, tool: &str, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    home.run(&["call", tool, &arguments, "--yes", "--json"]).ended(0).json()
}

/// The same of the reference server, however it is reached.
fn is_the_reference_server(home: &Home) {
    let shown = home.run(&["mcp", "show", "every", "--json"]).ended(0).json();
    assert_eq!(
        (&shown["state"], &shown["condition"]["era"]),
        (&json!("ready"), &json!("session")),
        "{shown}"
    );
    let tools = shown["tools"].as_array().unwrap();
    assert!(tools.len() >= 10 && tools.iter().all(|tool| tool["state"] == "accepted"), "{shown}");

    let said = call(home, "mcp:every:echo", &json!({"message": "hi"}));
    assert_eq!(said["result"], "Echo: hi", "{said}");
    let sum = call(home, "get-sum", &json!({"a": 2, "b": 3}));
    assert!(sum["result"].as_str().unwrap().contains('5'), "{sum}");
    let image = call(home, "mcp:every:get-tiny-image", &json!({}));
    let parts = image["result"]["content"].as_array().unwrap();
    let picture = parts.iter().find(|part| part["type"] == "image").unwrap();
    assert_eq!(picture["mimeType"], "image/png", "{image}");
    assert!(picture["bytes"].as_u64().unwrap() > 100 && picture.get("data").is_none(), "{image}");
    let structured = call(home, "mcp:every:get-structured-content", &json!({"location": "Chicago"}));
    assert!(structured["result"]["temperature"].is_number(), "{structured}");
    let links = call(home, "mcp:every:get-resource-links", &json!({"count": 2}));
    let parts = links["result"]["content"].as_array().unwrap();
    assert_eq!(parts.iter().filter(|part| part["type"] == "resource_link").count(), 2, "{links}");
    let wrong = home.run(&["call", "mcp:every:get-sum", "{\"a\": \"x\"}", "--yes", "--json"]).ended(1).json();
    assert_eq!(wrong["error"]["kind"], "invalid_arguments", "our own check comes first: {wrong}");

    let long = ["call", "mcp:every:trigger-long-running-operation", "{\"duration\": 600, \"steps\": 600}"];
    let late = home.run(&[&long[..], &["--yes", "--timeout", "1s"]].concat()).ended(124);
    assert!(late.err.contains("time"), "{late:?}");
}

#[test]
fn the_reference_server_works_as_a_program_in_its_sandbox() {
    let home = Home::new();
    let packages = found(&folder().join("node_modules"));
    let server = found(&folder().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js"));
    home.run(&["mcp", "add", "every", "--read", &packages, "--", &node(), &server, "stdio"]).ended(0);
    is_the_reference_server(&home);
    // Its sandbox shows it nothing of ours.
    let seen = call(&home, "mcp:every:get-env", &json!({}));
    assert!(!seen["result"].to_string().contains("TOOLROOM_HOME"), "{seen}");
}

#[test]
fn the_reference_server_works_over_http_and_over_the_older_stream() {
    let server = found(&folder().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js"));
    for (kind, path, flags) in [("streamableHttp", "mcp", &[][..]), ("sse", "sse", &["--sse"][..])] {
        let home = Home::new();
        let running = Listening::start(&node(), &[&server, kind], false);
        let url = format!("http://127.0.0.1:{}/{path}", running.port);
        home.run(&[&["mcp", "add", "every", "--url", &url][..], flags].concat()).ended(0);
        is_the_reference_server(&home);
    }
}

/// The same of a server made with FastMCP.
fn is_the_fast_server(home: &Home) {
    assert_eq!(call(home, "mcp:fast:add", &json!({"a": 20, "b": 22}))["result"]["result"], 42);
    let failed = home.run(&["call", "mcp:fast:fail", "--yes", "--json"]).ended(1).json();
    assert!(failed["error"]["message"].as_str().unwrap().contains("no such thing"), "{failed}");
    assert_eq!(call(home, "mcp:fast:steps", &json!({}))["result"]["result"], "done");
}

#[test]
fn a_server_made_with_fastmcp_works_both_ways() {
    let server = found(&folder().join("fast_server.py"));
    let program = Home::new();
    program.run(&["mcp", "add", "fast", "--", &python(), &server, "stdio"]).ended(0);
    is_the_fast_server(&program);

    let address = Home::new();
    let running = Listening::start(&python(), &[&server, "http"], true);
    let url = format!("http://127.0.0.1:{}/mcp", running.port);
    address.run(&["mcp", "add", "fast", "--url", &url]).ended(0);
    is_the_fast_server(&address);
    let eras = [&program, &address]
        .map(|home| home.run(&["mcp", "show", "fast", "--json"]).ended(0).json()["condition"]["era"].clone());
    assert_eq!(eras[0], eras[1], "the era is the server's, not that of the way to it");
}
