//! Transfers of large files and their cost. Smaller than the maximum, because debug builds are slow.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::{Value, json};

use crate::home::Home;
use crate::mcp::place::modern;
use crate::processes::until;
use crate::serve::Served;
use crate::serve::wire::Asked;

/// A server with files of `size` MiB.
fn served(files: u64, size: u64) -> (Served, String) {
    let home = Home::new();
    let workspace = home.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    for number in 0..files {
        let file = std::fs::File::create(workspace.join(format!("{number}.bin"))).unwrap();
        // Each a little shorter, so that no two are equal.
        file.set_len((size << 20) - number).unwrap();
    }
    let served = Served::at(home);
    let key = served.key("local", "read,call");
    (served, key)
}

fn send(served: &Served, key: &str, number: u64) -> Value {
    send_within(served, key, number, 600_000)
}

fn send_within(served: &Served, key: &str, number: u64, timeout: u64) -> Value {
    let arguments = json!({"path": format!("{number}.bin")});
    let call = json!({"tool": "send_file", "arguments": arguments, "timeout_ms": timeout});
    let mut wire = served.wire();
    wire.socket().set_read_timeout(Some(Duration::from_mins(10))).unwrap();
    wire.ask(&Asked::new("POST", "/v1/calls").key(key).json(&call)).is(200).json()
}

#[test]
fn reading_a_part_of_a_large_file_does_not_cost_all_of_it() {
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
    served.ask(&part("bytes=30000000-")).refused(416, "no_such_range");
    // Clients that begin to read and stop.
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
    // A client that reads gets all of it, in several pieces.
    let whole = served.ask(&Asked::new("GET", href).key(&key)).is(200);
    assert_eq!(whole.body.len() as u64, size);
}

#[test]
fn a_transfer_without_a_slot_is_rate_limited_and_not_in_doubt() {
    const FILES: u64 = 10;
    let (served, key) = served(FILES, 24);
    std::os::unix::fs::symlink("/dev/zero", served.home.path().join("workspace/zero.bin")).unwrap();
    let told: Vec<Value> = std::thread::scope(|scope| {
        let (served, key) = (&served, &key);
        let sent: Vec<_> =
            (0..FILES).map(|number| scope.spawn(move || send_within(served, key, number, 2_000))).collect();
        sent.into_iter().map(|sent| sent.join().unwrap()).collect()
    });
    let mut refused = 0;
    for told in &told {
        if told["outcome"] == "done" {
            continue;
        }
        let kind = told["error"]["kind"].as_str().unwrap();
        assert!(["rate_limited", "timeout"].contains(&kind), "{told}");
        assert!(!told.to_string().contains("may have happened"), "{told}");
        refused += usize::from(kind == "rate_limited");
    }
    assert!(refused > 0, "{told:?}");
    let journal = served.home.journal();
    assert!(journal.iter().all(|row| row["status"] != "unknown"), "{journal:?}");

    // A missing file fails without waiting for a slot.
    let told = served.call(&key, "send_file", &json!({"path": "zero.bin"})).is(200).json();
    assert_eq!(told["outcome"], "failed", "{told}");
}

#[test]
fn unread_mcp_resources_do_not_exhaust_memory() {
    const READERS: usize = 20;
    const LARGE: u64 = 12;
    let (served, key) = served(2, LARGE);
    let grown = std::fs::File::options().write(true).open(served.home.path().join("workspace/1.bin"));
    grown.unwrap().set_len(17 << 20).unwrap();
    let artifact =
        |number: u64| send(&served, &key, number)["result"]["artifact"].as_str().unwrap().to_owned();
    let read = |artifact: &str| {
        modern(&key, "resources/read", json!({"uri": format!("toolroom://artifacts/{artifact}")}))
    };

    // A file that is too large for a message has its address there.
    let too_large = artifact(1);
    let told = served.ask(&read(&too_large)).json();
    let message = told["error"]["message"].as_str().unwrap_or_else(|| panic!("{told}"));
    assert!(message.contains(&format!("`GET /v1/artifacts/{too_large}/content`")), "{message}");
    assert!(message.contains(&format!("toolroom artifacts save {too_large}")), "{message}");

    let artifact = artifact(0);
    let before = served.footprint();
    let (mut readers, mut busy) = (Vec::new(), 0);
    for _ in 0..READERS {
        let mut wire = served.wire();
        set_socket_recv_buffer_size(wire.socket(), 4_096).unwrap();
        wire.send(&read(&artifact));
        // A request that waits in vain fails after some seconds.
        wire.socket().set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        readers.push(wire);
    }
    for wire in &mut readers {
        match wire.head().status {
            200 => {}
            429 => busy += 1,
            other => panic!("{other}"),
        }
    }
    let after = served.footprint();
    println!("{READERS} who do not read: {before:?}, {after:?}");
    // 64 MiB of contents are five of them.
    assert_eq!(READERS - busy, 5);
    assert!(after.now < before.now + 5 * LARGE * 3, "{before:?}, {after:?}");

    // When they have disconnected there is room again, for the same bytes.
    drop(readers);
    until(|| served.ask(&read(&artifact)).status == 200);
    let told = served.ask(&read(&artifact)).is(200).json();
    let blob = STANDARD.decode(told["result"]["contents"][0]["blob"].as_str().unwrap()).unwrap();
    assert!(blob.len() as u64 == LARGE << 20 && blob.iter().all(|byte| *byte == 0));
}
