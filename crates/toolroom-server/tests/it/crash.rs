//! Nothing acknowledged is lost, and no effect is without a row, whenever a process is killed.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::home::{Home, finished};

/// Processes that are killed: in full in every run, since a rare loss is the one that matters.
const CYCLES: usize = 200;

#[test]
fn killed_processes_lose_nothing_they_acknowledged() {
    let home = Home::new();
    let notes = home.path().join("notes");
    let path = format!("path={}", notes.display());
    // Up to three times as long as a call takes here and now, so that some live to answer and some do not.
    let began = std::time::Instant::now();
    home.run_own(&["call", "append_note", &path, "text=first"]).ended(0);
    let longest = 3 * began.elapsed();
    let workers: Vec<Vec<String>> = std::thread::scope(|scope| {
        let cycle = |worker: usize| {
            let (home, path) = (&home, &path);
            move || {
                (0..CYCLES / 2)
                    .filter_map(|n| acknowledged(home, path, worker * CYCLES + n, longest))
                    .collect()
            }
        };
        let workers: Vec<_> = (0..2).map(|worker| scope.spawn(cycle(worker))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let answered: Vec<String> = workers.into_iter().flatten().collect();
    let rows: HashMap<String, Value> =
        home.journal().into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect();

    for call in &answered {
        assert_eq!(rows.get(call).map(|row| &row["status"]), Some(&"done".into()), "{call} was acknowledged");
    }
    let written = std::fs::read_to_string(&notes).unwrap_or_default();
    let effects: Vec<&str> = written.lines().map(|line| line.split(' ').next().unwrap()).collect();
    for call in &effects {
        assert!(rows.contains_key(*call), "{call} has an effect and no row");
    }
    assert_eq!(effects.iter().collect::<HashSet<_>>().len(), effects.len(), "an effect was repeated");
    for (id, row) in &rows {
        assert_ne!(row["status"], "begun", "{id}: its process is dead");
        if row["status"] == "done" {
            assert!(effects.contains(&id.as_str()), "{id} is done without its effect");
        }
    }
    assert!(!answered.is_empty() && answered.len() < CYCLES, "some live and some die: {}", answered.len());
}

/// Starts a call, kills its process after a while, and gives the call's id if it was answered before.
fn acknowledged(home: &Home, path: &str, n: usize, longest: Duration) -> Option<String> {
    let text = format!("text={n}");
    let mut child = home.own_tools(&["call", "append_note", path, &text, "--json"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (answer, heard) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        drop(stdout.read_to_string(&mut text));
        drop(answer.send(text));
    });
    // A multiplier that spreads the moments of death evenly over the life of a call.
    let life = longest * u32::try_from(n * 617 % 1_000).unwrap() / 1_000;
    let text = heard.recv_timeout(life).ok();
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    let text = text.or_else(|| heard.try_recv().ok())?;
    let report: Value = serde_json::from_str(&text).ok()?;
    assert_eq!(report["outcome"], "done", "{report}");
    Some(report["call_id"].as_str().unwrap().to_owned())
}

#[test]
fn a_living_call_is_never_taken_for_dead() {
    let home = Home::new();
    let long =
        home.own_tools(&["call", "countdown", "seconds=600", "--timeout", "600s", "--json"]).spawn().unwrap();
    crate::call::wait_for_status(&home, "begun");
    let mine = home.journal()[0]["id"].clone();
    let row = |id: &Value| home.journal().into_iter().find(|row| row["id"] == *id).unwrap();
    for _ in 0..8 {
        let mut killed = home.own_tools(&["call", "countdown", "seconds=600"]).spawn().unwrap();
        let begun = |row: &Value| row["status"] == "begun" && row["id"] != mine;
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        let theirs = loop {
            assert!(std::time::Instant::now() < deadline, "the other call never began");
            if let Some(row) = home.journal().into_iter().find(begun) {
                break row["id"].clone();
            }
        };
        killed.kill().unwrap();
        killed.wait().unwrap();
        home.run(&["call", "calculator", "expression=1"]).ended(0);
        assert_eq!(row(&mine)["status"], "begun", "a living call was buried");
        assert_eq!(row(&theirs)["status"], "unknown", "a dead one was not");
    }
    let signal = std::process::Command::new("kill").args(["-INT", &long.id().to_string()]).status();
    assert!(signal.unwrap().success());
    assert_eq!(finished(long).ended(130).json()["outcome"], "cancelled");
    assert_eq!(row(&mine)["status"], "cancelled");
}
