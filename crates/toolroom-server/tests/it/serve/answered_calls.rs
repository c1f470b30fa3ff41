//! A call that was answered is in the journal, even if the server is killed right after.

use std::collections::HashSet;
use std::io::Read as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::served::Served;
use super::wire::{Asked, Wire};
use crate::scale::scaled;

/// Each round takes two processes.
const MOST_ROUNDS: u32 = 20;

const CROWD: usize = 6;
const EACH: usize = 40;

#[test]
fn a_killed_server_loses_no_call_that_it_answered() {
    let mut served = Served::configured("[server]\nkey_rate = 1000000\nip_rate = 1000000\n");
    let key = served.key("local", "call,read");
    let mut answered = HashSet::new();
    for round in 0..scaled(3).min(MOST_ROUNDS) {
        let mut crowd: Vec<Wire> = (0..CROWD).map(|_| served.wire()).collect();
        for wire in &mut crowd {
            let body = json!({"tool": "calculator", "arguments": {"expression": "6*7"}});
            let asked = Asked::new("POST", "/v1/calls").key(&key).json(&body);
            (0..EACH).for_each(|_| wire.send(&asked));
        }
        // Some of them in each round are in the middle of their calls when it ends.
        let mut heard: Vec<Vec<u8>> =
            crowd.iter().map(|wire| hear(wire.socket(), round as usize * 7 + 1)).collect();
        served.dies();
        for (wire, heard) in crowd.iter().zip(&mut heard) {
            let mut socket = wire.socket();
            // What was sent before is still read; then the connection is gone.
            let _gone = socket.read_to_end(heard);
            answered.extend(calls_of(heard));
        }
        if round % 2 == 0 {
            let kept: HashSet<String> = journaled(&served);
            assert!(answered.is_subset(&kept), "{:?}", answered.difference(&kept));
        }
        served.starts_again();
        let kept: HashSet<String> = journaled(&served);
        assert!(answered.is_subset(&kept), "{:?}", answered.difference(&kept));
    }
    assert!(answered.len() >= CROWD, "{}", answered.len());
    served.ends();
    let left = std::fs::read_dir(served.home.path().join("inbox")).unwrap();
    let left: Vec<_> =
        left.map(|part| part.and_then(|part| Ok((part.path(), part.metadata()?.len())))).collect();
    assert!(left.is_empty(), "nothing is left behind by who ends in order: {left:?}");
}

#[test]
fn a_killed_server_loses_no_call_of_mcp_either() {
    let mut served = Served::configured("[server]\nkey_rate = 1000000\nip_rate = 1000000\n");
    let key = served.key("local", "call,read");
    let mut answered = HashSet::new();
    for round in 0..scaled(2).min(MOST_ROUNDS) {
        let mut crowd: Vec<Wire> = (0..CROWD).map(|_| served.wire()).collect();
        for (place, wire) in crowd.iter_mut().enumerate() {
            for number in 0..EACH {
                let expression = format!("{round}00000 + {}", place * EACH + number);
                wire.send(&called_over_mcp(&key, &expression));
            }
        }
        let mut heard: Vec<Vec<u8>> = crowd
            .iter()
            .map(|wire| hear_until(wire.socket(), |heard| results_of(heard).count() > round as usize * 5))
            .collect();
        served.dies();
        for (wire, heard) in crowd.iter().zip(&mut heard) {
            let mut socket = wire.socket();
            let _gone = socket.read_to_end(heard);
            answered.extend(results_of(heard));
        }
        let rows = served.home.journal();
        let kept: HashSet<String> = rows.iter().map(|row| row["result"].to_string()).collect();
        assert!(answered.is_subset(&kept), "{:?}", answered.difference(&kept));
        served.starts_again();
    }
    assert!(answered.len() >= CROWD, "{}", answered.len());
}

fn called_over_mcp(key: &str, expression: &str) -> Asked {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "calculator", "arguments": {"expression": expression}, "_meta": meta});
    Asked::new("POST", "/mcp")
        .key(key)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "calculator")
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

/// The results of all replies of MCP that came whole.
fn results_of(heard: &[u8]) -> impl Iterator<Item = String> + use<> {
    bodies(heard).map(|reply| reply["result"]["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Another process sees what was answered before it was started.
#[test]
fn who_looks_after_the_answer_sees_the_call() {
    let served = Served::new();
    let key = served.key("local", "call");
    for _ in 0..5 {
        let reply = served.call(&key, "calculator", &json!({"expression": "1+1"})).is(200).json();
        let id = reply["call_id"].as_str().unwrap();
        let shown: Value = served.home.run(&["log", id, "--json"]).ended(0).json();
        assert_eq!(shown["id"], *id);
    }
}

/// Reads until so many replies have come.
fn hear(socket: &TcpStream, replies: usize) -> Vec<u8> {
    hear_until(socket, |heard| calls_of(heard).count() >= replies)
}

fn hear_until(mut socket: &TcpStream, is_enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut heard = Vec::new();
    let mut piece = [0; 512];
    while !is_enough(&heard) {
        let length = socket.read(&mut piece).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&heard));
        heard.extend_from_slice(&piece[..length]);
    }
    heard
}

/// The calls of all replies that came whole.
fn calls_of(heard: &[u8]) -> impl Iterator<Item = String> + use<> {
    bodies(heard).map(|reply| reply["call_id"].as_str().unwrap().to_owned())
}

/// What the replies say that came whole.
fn bodies(heard: &[u8]) -> impl Iterator<Item = Value> + use<> {
    let text = String::from_utf8_lossy(heard).into_owned();
    let bodies: Vec<Value> = text
        .split("HTTP/1.1 200 OK")
        .filter_map(|reply| reply.split_once("\r\n\r\n"))
        .filter_map(|(_, body)| serde_json::from_str(body).ok())
        .collect();
    bodies.into_iter()
}

fn journaled(served: &Served) -> HashSet<String> {
    let rows = served.home.journal();
    rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}
