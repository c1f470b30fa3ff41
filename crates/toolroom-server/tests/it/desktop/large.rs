//! Large files that are handed over: what they cost on their way. Smaller than the largest there may be, since a program
//! that was built for tests takes its time with them.

use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::{Value, json};

use crate::home::Home;
use crate::serve::Served;
use crate::serve::wire::Asked;

/// A server with files of so many MiB.
fn served(files: u64, size: u64) -> (Served, String) {
    let home = Home::new();
    let workspace = home.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    for number in 0..files {
        let file = std::fs::File::create(workspace.join(format!("{number}.bin"))).unwrap();
        // A little less each, so that no two are the same.
        file.set_len((size << 20) - number).unwrap();
    }
    let served = Served::at(home);
    let key = served.key("local", "read,call");
    (served, key)
}

fn send(served: &Served, key: &str, number: u64) -> Value {
    // Whoever waits for a place waits for as long as that takes.
    let (arguments, timeout) = (json!({"path": format!("{number}.bin")}), 600_000_u64);
    let call = json!({"tool": "send_file", "arguments": arguments, "timeout_ms": timeout});
    let mut wire = served.wire();
    wire.socket().set_read_timeout(Some(Duration::from_millis(timeout))).unwrap();
    wire.ask(&Asked::new("POST", "/v1/calls").key(key).json(&call)).is(200).json()
}

#[test]
fn who_wants_a_part_of_a_large_file_does_not_cost_all_of_it() {
    const READERS: u64 = 24;
    const LARGE: u64 = 24;
    let (served, key) = served(1, LARGE);
    let sent = send(&served, &key, 0);
    let (size, href) = (LARGE << 20, sent["offers"][0]["href"].as_str().unwrap());
    let facts = served.get(&format!("/v1/artifacts/{}", sent["result"]["artifact"].as_str().unwrap()), &key);
    assert_eq!(facts.is(200).json()["bytes"], size);
    let before = served.footprint();
    let part = |range: &str| Asked::new("GET", href).key(&key).header("Range", range);
    let reply = served.ask(&part("bytes=20000000-20000004")).is(206);
    assert_eq!((reply.body.as_str(), reply.header("content-length")), ("\0\0\0\0\0", Some("5")));
    assert_eq!(reply.header("content-range"), Some(format!("bytes 20000000-20000004/{size}").as_str()));
    served.ask(&part("bytes=30000000-")).is(416);
    // Those who begin to read and do not go on.
    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let mut wire = served.wire();
            set_socket_recv_buffer_size(wire.socket(), 4_096).unwrap();
            wire.send(&part("bytes=1-"));
            let head = wire.head().is(206);
            assert_eq!(head.header("content-length"), Some((size - 1).to_string().as_str()));
            wire
        })
        .collect();
    let after = served.footprint();
    println!("{READERS} who do not read on: {before:?}, {after:?}");
    assert!(after.now < before.now + READERS * LARGE / 3, "{before:?}, {after:?}");
    drop(readers);
    // And whoever does gets all of it, in several pieces.
    let whole = served.ask(&Asked::new("GET", href).key(&key)).is(200);
    assert_eq!(whole.body.len() as u64, size);
}
