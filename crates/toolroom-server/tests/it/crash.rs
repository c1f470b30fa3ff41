//! Nothing acknowledged is lost, and no effect is without a row, whenever a process is killed.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::home::{Home, finished};

/// Processes that are killed: in full in every run, since a rare loss is the one that matters.
const CYCLES: usize = 200;

/// Longer than a call takes on a slow machine, so that some live to answer.
const LONGEST_LIFE: Duration = Duration::from_millis(120);

#[test]
fn killed_processes_lose_nothing_they_acknowledged() {
    let home = Home::new();
    let notes = home.path().join("notes");
    let path = format!("path={}", notes.display());
    let workers: Vec<Vec<String>> = std::thread::scope(|scope| {
        let cycle = |worker: usize| {
            let (home, path) = (&home, &path);
            move || (0..CYCLES / 2).filter_map(|n| acknowledged(home, path, worker * CYCLES + n)).collect()
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
fn acknowledged(home: &Home, path: &str, n: usize) -> Option<String> {
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
    let life = LONGEST_LIFE * u32::try_from(n * 617 % 1_000).unwrap() / 1_000;
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
    let long = home.own_tools(&["call", "countdown", "seconds=4", "--json"]).spawn().unwrap();
    crate::call::wait_for_status(&home, "begun");
    let mut looked = 0;
    let rows = loop {
        let mut killed = home.own_tools(&["call", "countdown", "seconds=60"]).spawn().unwrap();
        home.run(&["call", "calculator", "expression=1"]).ended(0);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let rows = home.journal();
        let mine = rows.iter().rfind(|row| row["tool"] == "app:countdown").unwrap();
        looked += 1;
        match mine["status"].as_str() {
            Some("begun") => {}
            Some("done") => break rows,
            other => panic!("a living call is {other:?}"),
        }
    };
    assert_eq!(finished(long).ended(0).json()["outcome"], "done");
    assert!(looked > 3, "{looked} looks are too few to mean anything");
    let dead = rows.iter().filter(|row| row["tool"] == "app:countdown" && row["status"] == "unknown").count();
    assert!(dead > 0, "the killed ones are known to be unknown");
}
