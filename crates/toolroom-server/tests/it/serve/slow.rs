//! Clients that send or read slowly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::{Value, json};

use super::served::Served;
use super::stream::{End, Stream};
use super::wire::{Asked, Wire};
use crate::home::Home;
use crate::processes::until;
use crate::scale::scaled;
use crate::scripted_model::{Line, ScriptedModel};

/// Subscribers that never read.
const IDLERS: usize = 50;

/// Progress events. Buffered for each idle subscriber they would take hundreds of megabytes.
const SIGNS: usize = 20_000;

/// The memory all of them together may take, in MiB.
const MOST_MEMORY: u64 = 100;

#[test]
fn a_subscriber_that_never_reads_delays_no_others_and_takes_bounded_memory() {
    let home = Home::new();
    let (notes, way) = (home.path().join("notes"), home.path().join("way"));
    let free = way.clone();
    let model = ScriptedModel::starts([
        Line::Calls("send_note", json!({"path": notes, "text": "all are here", "way": way})),
        Line::Calls("blurt", json!({"text": "x".repeat(SIGNS), "way": "pieces"})),
        Line::says("That was all."),
    ]);
    model.is_set_up_in(home.path(), "[policy]\npreset = 'open'\n");
    let served = Served::at(home);
    let key = served.key("local", "chat");
    let run = served.send("POST", "/v1/runs", &key, &json!({"message": "Tell me a lot."})).is(202).json();
    let path = format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
    let watch = Asked::new("GET", &path).key(&key);
    let idlers = idlers(&served, &watch);
    let mut reader = Stream::open(served.wire(), &watch);
    reader.until(|told| told.kind() == "call_began");
    let before = served.footprint();
    std::fs::write(free, "").unwrap();
    let told = reader.rest();
    assert_eq!((told.last().unwrap().kind(), reader.end), ("done", Some(End::Whole)));
    let after = served.footprint();
    let signs = told.iter().filter(|told| told.kind() == "call_progress").count();
    println!("{IDLERS} who never read, one who read {signs} of {SIGNS}: {before:?}, {after:?}");
    assert!(signs > 0 && after.peak < before.now + MOST_MEMORY, "{before:?}, {after:?}");
    assert!(served.connections() > IDLERS - 1, "slow subscribers stay connected");
    drop(idlers);
}

/// Subscribers that never read.
fn idlers(served: &Served, watch: &Asked) -> Vec<Wire> {
    let idler = |_| {
        let mut wire = served.wire();
        // A small socket buffer, so that the server has to wait.
        set_socket_recv_buffer_size(wire.socket(), 4_096).unwrap();
        wire.send(watch);
        wire.head().is(200);
        wire
    };
    (0..IDLERS).map(idler).collect()
}

#[test]
fn subscribers_that_never_read_share_one_copy_of_a_large_answer() {
    // Buffered for each idle subscriber it would take hundreds of megabytes.
    let pieces: Vec<String> = (0..400).map(|number| format!("{number:04000} ")).collect();
    let (size, home) = (pieces.concat().len(), Home::new());
    let model = ScriptedModel::starts([Line::Says(pieces.clone()), Line::Stalls(pieces)]);
    model.is_set_up_in(home.path(), "");
    let served = Served::at(home);
    let key = served.key("local", "chat");
    // One that has ended, which is read from the store, and one that is active.
    for is_over in [true, false] {
        let body = json!({"message": "Tell me a lot.", "wait": is_over});
        let run = served.send("POST", "/v1/runs", &key, &body).json();
        let path = format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
        let watch = Asked::new("GET", &path).key(&key);
        let hears_all = || {
            let (mut heard, mut reader) = (0, Stream::open(served.wire(), &watch));
            reader.until(|told| {
                let said = told.event["text"].as_str().unwrap_or_default().len();
                heard = if told.kind() == "text" { heard + said } else { said };
                heard == size
            });
        };
        hears_all();
        let before = served.footprint();
        let idlers = idlers(&served, &watch);
        hears_all();
        let after = served.footprint();
        println!("{IDLERS} who never read {size} bytes, over: {is_over}: {before:?}, {after:?}");
        assert!(after.now < before.now + MOST_MEMORY, "{before:?}, {after:?}");
        assert!(served.connections() > IDLERS - 1, "slow subscribers stay connected");
        drop(idlers);
    }
}

/// The text in a stream, in any of the formats.
fn words(body: &str) -> String {
    let mut words = String::new();
    for data in
        body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| data.starts_with('{'))
    {
        let event: Value = serde_json::from_str(data).unwrap();
        match event["type"].as_str() {
            Some("snapshot") => event["text"].as_str().unwrap().clone_into(&mut words),
            Some("text") => words.push_str(event["text"].as_str().unwrap()),
            Some("TEXT_MESSAGE_CONTENT") => words.push_str(event["delta"].as_str().unwrap()),
            Some(_) => {}
            None => words.push_str(event["choices"][0]["delta"]["content"].as_str().unwrap_or_default()),
        }
    }
    words
}

#[test]
fn a_client_that_reads_late_gets_every_word_once() {
    // More than socket and feed buffer.
    let pieces: Vec<String> = (0..850).map(|number| format!("{number:04000} ")).collect();
    let (whole, home) = (pieces.concat(), Home::new());
    let model = ScriptedModel::answers(move |_| Line::Says(pieces.clone()));
    model.is_set_up_in(home.path(), "");
    let served = Served::at(home);
    let key = served.key("local", "chat");
    let said = json!([{"id": "u", "role": "user", "content": "Tell me a lot."}]);
    let routes = [
        ("/v1/runs", json!({"message": "Tell me a lot.", "stream": true})),
        ("/agui/default", json!({"threadId": "t", "runId": "r", "messages": said})),
        ("/v1/chat/completions", json!({"model": "default", "messages": said, "stream": true})),
    ];
    for (done, (route, body)) in routes.iter().enumerate() {
        let mut wire = served.wire();
        wire.send(&Asked::new("POST", route).key(&key).json(body));
        wire.head().is(200);
        until(|| {
            let runs = served.get("/v1/runs?state=done", &key).is(200).json();
            runs["runs"].as_array().unwrap().len() == done + 1
        });
        let told = words(&String::from_utf8(wire.chunks()).unwrap());
        assert_eq!(told.len(), whole.len(), "{route}");
        assert!(told == whole, "{route}");
    }
}

#[test]
fn a_client_that_never_completes_its_request_is_disconnected() {
    let served = Served::new();
    let host = format!("Host: {}\r\n", served.address);
    let body = format!(
        "POST /v1/calls HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{{"
    );
    let mut beginnings =
        vec![String::new(), "GET /hea".to_owned(), format!("GET /healthz HTTP/1.1\r\n{host}X-Slow: ")];
    if scaled(1) > 1 {
        beginnings.push(body);
    }
    let key = served.key("local", "call");
    let mut slow: Vec<TcpStream> = beginnings
        .iter()
        .map(|beginning| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let beginning =
                beginning.replace("Content-Type", &format!("Authorization: Bearer {key}\r\nContent-Type"));
            stream.write_all(beginning.as_bytes()).unwrap();
            stream
        })
        .collect();
    served.ask(&Asked::new("GET", "/healthz")).is(200);
    for (stream, beginning) in slow.iter_mut().zip(&beginnings) {
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap_or_else(|error| panic!("{error} after {beginning:?}"));
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
}
