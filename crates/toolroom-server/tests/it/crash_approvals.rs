//! Whenever a process is killed, between question, answer and run: no question is lost, no acknowledged answer, and
//! nothing runs without one, or twice.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::approvals::Desk;
use crate::attacks::sql;
use crate::scale::scaled;

/// Lives of a question: three processes each, of which about half are killed.
const CYCLES: u32 = 60;

/// However much is wanted: every cycle is several processes.
const MOST_CYCLES: u32 = 600;

/// Longer than any of the commands takes.
const LONG: Duration = Duration::from_secs(60);

/// What one life was told before its processes died.
#[derive(Default)]
struct Told {
    parked: Option<String>,
    approved: bool,
    done: bool,
}

/// When a process dies.
#[derive(Clone, Copy)]
enum Death<'a> {
    After(Duration),
    /// In the moment between the effect and the row that tells of it.
    Upon(&'a dyn Fn() -> bool),
}

#[test]
fn killed_processes_lose_no_question_and_no_answer() {
    let desk = Desk::new();
    desk.park("first");
    // Twice as long as a call takes here and now, so that some live to answer and some do not.
    let began = Instant::now();
    desk.park("second");
    let longest = 2 * began.elapsed();
    let cycles = scaled(CYCLES).min(MOST_CYCLES);
    let told: Vec<(u32, Told)> = std::thread::scope(|scope| {
        let desk = &desk;
        let lives = move |worker: u32| (worker..cycles).step_by(2).map(move |n| (n, live(desk, n, longest)));
        let workers: Vec<_> =
            (0..2).map(|worker| scope.spawn(move || lives(worker).collect::<Vec<_>>())).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });

    assert_eq!(sql(&desk.home.path().join("toolroom.db"), "PRAGMA integrity_check"), "ok\n");
    let rows: HashMap<String, Value> =
        desk.home.journal().into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect();
    for (n, told) in &told {
        let Some(call) = &told.parked else { continue };
        let row = rows.get(call).unwrap_or_else(|| panic!("{n}: {call} was parked and is lost"));
        let question = desk.question(call);
        let state = question["state"].as_str().unwrap();
        assert!(!told.approved || question["answer"] == "once", "{n}: an answer is lost: {question}");
        assert!(!told.done || (row["status"] == "done" && state == "used"), "{n}: {row} {question}");
        assert_ne!(row["status"], "begun", "{n}: its process is dead");
    }
    check_effects(&desk, &rows);

    // What is left can be gone on with, and ends as it should.
    for row in rows.values().filter(|row| matches!(row["status"].as_str(), Some("pending" | "unknown"))) {
        let call = row["id"].as_str().unwrap();
        if desk.question(call)["state"] == "waiting" {
            desk.run(&["approvals", "approve", call]).ended(0);
        }
        let once_only = row["tool"] == "app:publish_note";
        let resumed = desk.run(&["call", "--resume", call]);
        match (row["status"] == "unknown", once_only) {
            (true, true) => assert!(resumed.ended(3).err.contains("its outcome is unknown")),
            _ => drop(resumed.ended(0)),
        }
    }
    let rows: HashMap<String, Value> =
        desk.home.journal().into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect();
    check_effects(&desk, &rows);
    let open = |row: &&Value| matches!(row["status"].as_str(), Some("pending" | "begun"));
    assert_eq!(rows.values().filter(open).count(), 0);
    let parked = told.iter().filter(|(_, told)| told.parked.is_some()).count();
    let done = told.iter().filter(|(_, told)| told.done).count();
    assert!(done > 0 && done < parked && parked < told.len(), "some live and some die: {done} of {parked}");
    assert_eq!(sql(&desk.home.path().join("toolroom.db"), "PRAGMA integrity_check"), "ok\n");
}

/// Every effect has a call that was approved and has begun, and none happened twice.
fn check_effects(desk: &Desk, rows: &HashMap<String, Value>) {
    let written = std::fs::read_to_string(&desk.notes).unwrap_or_default();
    let effects: Vec<&str> = written.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(effects.iter().collect::<HashSet<_>>().len(), effects.len(), "an effect was repeated");
    for call in &effects {
        let question = desk.question(call);
        assert_eq!((&question["state"], &question["answer"]), (&"used".into(), &"once".into()), "{question}");
    }
    for (call, row) in rows.iter().filter(|(_, row)| row["status"] == "done") {
        match row["tool"].as_str().unwrap() {
            "app:publish_note" => {
                assert!(effects.contains(&call.as_str()), "{call} is done without its effect");
            }
            _ => {
                let path = PathBuf::from(row["arguments"]["path"].as_str().unwrap());
                let text = std::fs::read_to_string(path).unwrap();
                assert_eq!(text.trim_end(), row["arguments"]["text"].as_str().unwrap(), "{call}");
            }
        }
    }
    for mirror in std::fs::read_dir(desk.home.path()).unwrap() {
        let name = mirror.unwrap().file_name().to_string_lossy().into_owned();
        let Some(n) = name.strip_prefix("mirror-") else { continue };
        let row = rows.values().find(|row| row["arguments"]["text"] == n && row["tool"] == "app:mirror_note");
        let question = desk.question(row.unwrap()["id"].as_str().unwrap());
        assert_eq!((&question["state"], &question["answer"]), (&"used".into(), &"once".into()), "{question}");
    }
}

/// The life of one question: a process that asks, one that answers and one that runs, each killed at some moment.
fn live(desk: &Desk, n: u32, longest: Duration) -> Told {
    // One tool may run once only, the other as often as one likes.
    let (tool, file) = match n % 4 {
        0 | 1 => ("publish_note", desk.notes.clone()),
        _ => ("mirror_note", desk.home.path().join(format!("mirror-{n}"))),
    };
    // Multipliers that spread the moments of death evenly, and differently for each of the three; some are spared.
    let after = |prime: u32| match n % 5 {
        4 => Death::After(LONG),
        _ => Death::After(longest * (n * prime % 1_000) / 1_000),
    };
    let mut told = Told::default();
    let (path, text) = (format!("path={}", file.display()), format!("text={n}"));
    let asked = killed(desk, &["call", tool, &path, &text, "--json"], after(617));
    told.parked = asked.map(|report| {
        assert_eq!(report["outcome"], "pending", "{report}");
        report["call_id"].as_str().unwrap().to_owned()
    });
    let Some(call) = &told.parked else { return told };
    let answered = killed(desk, &["approvals", "approve", call, "--json"], after(389));
    told.approved = answered.is_some_and(|answer| answer["answer"] == "once");
    let has_happened = || match tool {
        "publish_note" => std::fs::read_to_string(&file).is_ok_and(|notes| notes.contains(call.as_str())),
        _ => file.exists(),
    };
    let death = if n.is_multiple_of(3) && n % 5 != 4 { Death::Upon(&has_happened) } else { after(743) };
    let ran = killed(desk, &["call", "--resume", call, "--json"], death);
    told.done = ran.is_some_and(|report| report["outcome"] == "done");
    told
}

/// Starts a command, kills it, and gives what it said if it was faster.
fn killed(desk: &Desk, arguments: &[&str], death: Death<'_>) -> Option<Value> {
    let mut child = desk.home.own_tools(arguments).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (answer, heard) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        drop(stdout.read_to_string(&mut text));
        drop(answer.send(text));
    });
    let text = match death {
        Death::After(life) => heard.recv_timeout(life).ok(),
        Death::Upon(moment) => loop {
            if let Ok(text) = heard.try_recv() {
                break Some(text);
            }
            if moment() {
                break None;
            }
            std::thread::yield_now();
        },
    };
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    let text = text.or_else(|| heard.try_recv().ok())?;
    serde_json::from_str(&text).ok()
}
