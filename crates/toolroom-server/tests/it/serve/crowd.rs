//! Many at once, and more than there is room for. These tests run alone.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::{Value, json};
use toolroom_host::descriptors::allow_open_files;

use super::served::Served;
use super::stream::{End, Stream, Told};
use super::wire::{Asked, Wire};
use crate::home::Home;
use crate::processes::until;
use crate::scale::scaled;
use crate::scripted_model::{Line, Pace, ScriptedModel};

/// No rate limits.
const OFTEN: &str = "[policy]\npreset = 'open'\n[server]\nkey_rate = 1000000\nip_rate = 1000000\n";

/// The most memory a server may ever have, in MiB.
const MOST_MEMORY: u64 = 300;

/// What every run says.
const SAID: &str = "one two three four five six seven";

/// Streams, and as many calls: two hundred in `make test`, a thousand in the long run.
fn many() -> usize {
    scaled(200).min(1_000) as usize
}

/// A call that waits until the way is free.
fn note(served: &Served, key: &str, text: &str) -> Asked {
    let way = served.home.path().join("way");
    let arguments = json!({"path": served.notes(), "text": text, "way": way});
    Asked::new("POST", "/v1/calls").key(key).json(&json!({"tool": "send_note", "arguments": arguments}))
}

fn frees_the_way(served: &Served) {
    std::fs::write(served.home.path().join("way"), "").unwrap();
}

fn sent(served: &Served, asked: &Asked) -> Wire {
    let mut wire = served.wire();
    wire.send(asked);
    wire
}

/// All calls that have begun and not ended.
fn begun(served: &Served, key: &str) -> usize {
    let (mut count, mut cursor) = (0, String::new());
    loop {
        let page = served.get(&format!("/v1/calls?status=begun&limit=200{cursor}"), key).is(200).json();
        count += page["calls"].as_array().unwrap().len();
        let Some(next) = page["next_cursor"].as_str() else { return count };
        cursor = format!("&cursor={next}");
    }
}

fn lives(served: &Served) {
    assert_eq!(served.ask(&Asked::new("GET", "/healthz")).is(200).json(), json!({"status": "ok"}));
    served.ask(&Asked::new("GET", "/readyz")).is(200);
}

/// Nothing is left of what was going on.
fn is_quiet(served: &Served, key: &str) {
    until(|| served.connections() == 0);
    let page = served.ask(&Asked::new("GET", "/metrics")).is(200).body;
    assert!(page.lines().any(|line| line == "toolroom_runs_live 0"), "{page}");
    assert_eq!(begun(served, key), 0);
    let sum = served.call(key, "calculator", &json!({"expression": "17*23"})).is(200).json();
    assert_eq!(sum["result"], 391);
}

#[test]
fn many_streams_and_many_calls_at_once() {
    allow_open_files(16_384).unwrap();
    let (many, pace) = (many(), Pace::of(1));
    let paced = std::sync::Arc::clone(&pace);
    let home = Home::new();
    let words: Vec<String> = SAID.split_inclusive(' ').map(str::to_owned).collect();
    let model = ScriptedModel::answers(move |_| Line::Paced(std::sync::Arc::clone(&paced), words.clone()));
    model.is_set_up_in(home.path(), OFTEN);
    let served = Served::at(home);
    let key = served.key("local", "read,call,chat");
    lives(&served);
    let idle = served.footprint();
    let mut calls: Vec<Wire> =
        (0..many).map(|number| sent(&served, &note(&served, &key, &number.to_string()))).collect();
    let run = Asked::new("POST", "/v1/runs").key(&key).json(&json!({"message": "Count.", "stream": true}));
    let opened: Vec<Wire> = (0..many).map(|_| sent(&served, &run)).collect();
    let mut streams: Vec<(Stream, Vec<Told>)> =
        opened.into_iter().map(|wire| (Stream::of(wire), Vec::new())).collect();
    for (stream, told) in &mut streams {
        told.extend(stream.until(|told| told.kind() == "text"));
    }
    until(|| begun(&served, &key) == many);
    assert!(served.connections() >= 2 * many);
    lives(&served);
    let busy = served.footprint();

    frees_the_way(&served);
    pace.allows(SAID.len());
    lives(&served);
    let replies: Vec<Value> = calls.iter_mut().map(|wire| wire.reply().is(200).json()).collect();
    assert!(
        replies.iter().all(|reply| reply["outcome"] == "done" && reply["result"] == "sent"),
        "{replies:?}"
    );
    let ids: HashSet<&str> = replies.iter().map(|reply| reply["call_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), many);
    let written = served.written();
    let lines: HashSet<&str> = written.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!((lines.len(), written.lines().count()), (many, many), "every note was written, and once");
    for (stream, told) in &mut streams {
        told.extend(stream.rest());
        assert_eq!(stream.end, Some(End::Whole));
        let kinds: Vec<&str> = told.iter().map(Told::kind).collect();
        assert_eq!((kinds[0], *kinds.last().unwrap()), ("started", "done"), "{kinds:?}");
        let text: String = told
            .iter()
            .filter(|told| told.kind() == "text")
            .map(|told| told.event["text"].as_str().unwrap())
            .collect();
        assert_eq!((text.as_str(), &told.last().unwrap().event["text"]), (SAID, &json!(SAID)));
    }
    drop((calls, streams));
    is_quiet(&served, &key);
    let after = served.footprint();
    println!("{many} calls and {many} streams: idle {idle:?}, busy {busy:?}, after {after:?}");
    assert!(after.peak < MOST_MEMORY, "{after:?}");
}

#[test]
fn requests_over_the_limit_are_refused_and_others_are_served() {
    allow_open_files(16_384).unwrap();
    const ROOM: usize = 50;
    let served = Served::configured(&format!("{OFTEN}at_once = {ROOM}\n"));
    let (key, other) = (served.key("local", "read,call,chat"), served.key("local", "call"));
    // One key alone gets half of the room.
    let mut held: Vec<Wire> = (0..ROOM)
        .map(|number| sent(&served, &note(&served, [&key, &other][number % 2], &number.to_string())))
        .collect();
    served.has_begun(ROOM);
    let requests = [
        note(&served, &key, "too much"),
        Asked::new("POST", "/v1/runs").key(&key).json(&json!({"message": "Hi", "stream": true})),
        Asked::new("POST", "/agui/default")
            .key(&key)
            .json(&json!({"threadId": "t", "runId": "r", "messages": []})),
        Asked::new("GET", "/v1/tools").key(&key),
        Asked::new("GET", "/metrics"),
    ];
    let mut storm: Vec<Wire> =
        (0..2 * many()).map(|number| sent(&served, &requests[number % requests.len()])).collect();
    lives(&served);
    for wire in &mut storm {
        let reply = wire.reply().refused(429, "rate_limited");
        assert_eq!(reply.header("retry-after"), Some("1"));
        let problem = reply.json();
        assert_eq!((&problem["error"], &problem["retryAfter"]), (&json!("RATE_LIMIT_EXCEEDED"), &json!(1)));
        assert!(problem["message"].is_string(), "{problem}");
    }
    frees_the_way(&served);
    for wire in &mut held {
        assert_eq!(wire.reply().is(200).json()["outcome"], "done");
    }
    // The same connections are good for more, once there is room.
    for wire in &mut storm {
        wire.ask(&requests[3]).is(200);
    }
    drop((held, storm));
    is_quiet(&served, &key);
    assert_eq!(served.written().lines().count(), ROOM, "who was refused did nothing");
}

/// A reply in several pieces is where a connection stalls that waits for more: 40 ms each.
#[test]
fn a_hundred_streams_on_one_connection_do_not_stall() {
    let (served, _model) =
        Served::over([Line::Calls("calculator", json!({"expression": "6*7"})), Line::says("It is 42.")], "");
    let key = served.key("local", "chat");
    let body = json!({"message": "What is 6*7?", "wait": true});
    let run = served.send("POST", "/v1/runs", &key, &body).is(200).json();
    let path = format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
    let watch = Asked::new("GET", &path).key(&key);
    let mut wire = served.wire();
    let whole = wire.ask(&watch).is(200).body;
    let began = Instant::now();
    for _ in 0..100 {
        assert_eq!(wire.ask(&watch).is(200).body, whole);
    }
    // A stall for each would be four seconds beside everything else.
    assert!(began.elapsed().as_millis() < 2_000, "{:?}", began.elapsed());
}
