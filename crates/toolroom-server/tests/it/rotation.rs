//! A change of the master key, among others who go on, and killed at every moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::home::{Home, Ran};
use crate::secrets::{blurted, opening, set};

/// Processes that are killed while they change the key.
const KILLED: u32 = 20;

/// A call that waits for an answer, and whose arguments are sealed.
fn parked(home: &Home, text: &str) -> String {
    let note = format!("path={}", home.path().join("notes").display());
    let words = ["call", "publish_note", &note, &format!("text={text}"), "--json"];
    home.run_own(&words).ended(4).json()["call_id"].as_str().unwrap().to_owned()
}

/// Answers a parked call, runs it, and fails unless exactly what was asked for was done.
#[track_caller]
fn resumes(home: &Home, call: &str, text: &str) {
    home.run_own(&["approvals", "approve", call]).ended(0);
    home.run_own(&["call", "--resume", call]).ended(0);
    let notes = std::fs::read_to_string(home.path().join("notes")).unwrap();
    assert!(notes.lines().any(|line| line == format!("{call} {text}")), "{notes}");
}

fn key(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("master.key")).unwrap()
}

#[test]
fn a_new_key_opens_everything_and_the_old_one_nothing() {
    let home = Home::new();
    let none = home.run(&["secrets", "rotate"]).ended(0);
    assert!(none.err.contains("No master key yet"), "{none:?}");
    set(&home, "ONE", "value of one");
    set(&home, "TWO", "value of two");
    let (waiting, granted) = (parked(&home, "it waits"), parked(&home, "it is granted"));
    home.run_own(&["approvals", "approve", &granted]).ended(0);
    let old = key(&home);
    let changed = home.run(&["secrets", "rotate", "--json"]).ended(0).json();
    assert_eq!((&changed["changed"], &changed["sealed_anew"]), (&true.into(), &4.into()), "{changed}");
    assert_ne!(changed["from"], changed["to"]);
    assert_ne!(key(&home), old);
    assert!(!home.path().join("master.key.new").exists());
    assert_eq!(opening(&home), ["ONE", "TWO"]);
    assert_eq!(blurted(&home, "value of one"), "[secret ONE]\n");
    home.run_own(&["call", "--resume", &granted]).ended(0);
    resumes(&home, &waiting, "it waits");

    let new = key(&home);
    std::fs::write(home.path().join("master.key"), &old).unwrap();
    assert_eq!(opening(&home), Vec::<String>::new());
    std::fs::write(home.path().join("master.key"), &new).unwrap();
    assert_eq!(opening(&home), ["ONE", "TWO"]);
}

#[test]
fn the_old_key_is_kept_for_backups_that_were_made_before() {
    let home = Home::new();
    set(&home, "ONE", "value of one");
    let file = home.path().join("before.tar").display().to_string();
    home.run(&["backup", "create", &file]).ended(0);
    let old = key(&home);
    let changed = home.run(&["secrets", "rotate"]).ended(0);
    let kept = changed.err.split('`').find(|word| word.contains("master.key.")).unwrap().to_owned();
    assert!(changed.err.contains("Older backups need the old key, stored as `"), "{changed:?}");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), old);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&kept).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    let restored = home.run(&["backup", "restore", &file, "--yes"]).ended(0);
    assert!(restored.err.contains(&format!("(stored as `{kept}`) into `")), "{restored:?}");
    assert_eq!(opening(&home), Vec::<String>::new());
    std::fs::copy(&kept, home.path().join("master.key")).unwrap();
    assert_eq!(opening(&home), ["ONE"]);
    let changed = home.run(&["secrets", "rotate", "--json"]).ended(0).json();
    assert_eq!(changed["kept"], *kept, "the same key is kept once: {changed}");
}

#[test]
fn whenever_a_change_is_killed_everything_still_opens() {
    let home = Home::new();
    let values = ["ONE", "TWO", "THREE"].map(|name| (name, format!("value of {name}")));
    for (name, value) in &values {
        set(&home, name, value);
    }
    let parked = parked(&home, "it waits");
    let began = Instant::now();
    home.run(&["secrets", "rotate"]).ended(0);
    let whole = began.elapsed();
    let (mut keys, mut unfinished) = (vec![key(&home)], 0);
    for number in 0..KILLED {
        let mut child = home.command(&["secrets", "rotate"]).spawn().unwrap();
        // Every third one as soon as both keys are there; the others spread over the time a change takes, and more.
        let deadline = Instant::now() + whole * (number + 1) / (KILLED - 2);
        let successor = home.path().join("master.key.new");
        let is_due = || match number % 3 {
            0 => successor.exists(),
            _ => Instant::now() >= deadline,
        };
        while !is_due() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let half_way = successor.exists();
        unfinished += u32::from(half_way);
        let mut names = opening(&home);
        names.sort_by_key(|name| values.iter().position(|(known, _)| known == name));
        assert_eq!(names, ["ONE", "TWO", "THREE"], "killed {number}");
        let said = blurted(&home, &values.each_ref().map(|(_, value)| value.as_str()).join(", "));
        assert_eq!(said, "[secret ONE], [secret TWO], [secret THREE]\n", "killed {number}");
        if half_way {
            assert!(home.run(&["secrets"]).ended(0).err.contains("finish it with `toolroom secrets rotate`"));
            // Every other time the next secret finishes it, every other time the next change does.
            if number % 2 == 0 {
                set(&home, "TWO", &values[1].1);
                assert!(!successor.exists(), "killed {number}");
            }
        }
        keys.push(key(&home));
    }
    assert!(unfinished > 2, "some die half way: {unfinished}");
    home.run(&["secrets", "rotate"]).ended(0);
    assert!(!home.path().join("master.key.new").exists());
    resumes(&home, &parked, "it waits");
    keys.dedup();
    assert!(keys.len() > 2, "some changes went through");
}

#[test]
fn others_go_on_while_the_key_is_changed() {
    let home = Home::new();
    set(&home, "FIRST", "the first value");
    let over = AtomicBool::new(false);
    let (kept, waiting) = std::thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let mut calls = 0;
            while !over.load(Ordering::SeqCst) {
                assert_eq!(blurted(&home, "the first value"), "[secret FIRST]\n");
                calls += 1;
            }
            calls
        });
        let sets = scope.spawn(|| {
            let mut names = Vec::new();
            let mut waiting = Vec::new();
            while !over.load(Ordering::SeqCst) {
                let name = format!("NAME{:03}", names.len());
                set(&home, &name, &format!("value of {name}"));
                waiting.push(parked(&home, &name));
                names.push(name);
            }
            (names, waiting)
        });
        let changes: Vec<Ran> = (0..6).map(|_| home.run(&["secrets", "rotate"])).collect();
        over.store(true, Ordering::SeqCst);
        changes.into_iter().for_each(|change| drop(change.ended(0)));
        assert!(calls.join().unwrap() > 2);
        sets.join().unwrap()
    });
    assert!(kept.len() > 2, "{kept:?}");
    let mut names = opening(&home);
    names.retain(|name| name != "FIRST");
    assert_eq!(names, kept);
    for (name, call) in kept.iter().zip(&waiting) {
        resumes(&home, call, name);
    }
}

#[test]
fn what_cannot_be_opened_stands_in_the_way_of_a_new_key() {
    let home = Home::new();
    set(&home, "ONE", "value of one");
    let first = key(&home);
    set(&home, "TWO", "value of two");
    let call = parked(&home, "it waits");
    // The key of what waits is lost, and the secrets were kept again under a new one.
    std::fs::remove_file(home.path().join("master.key")).unwrap();
    home.run(&["secrets", "rm", "ONE"]).ended(0);
    home.run(&["secrets", "rm", "TWO"]).ended(0);
    std::fs::write(home.path().join("master.key"), "ab".repeat(32)).unwrap();
    std::process::Command::new("chmod").arg("600").arg(home.path().join("master.key")).status().unwrap();
    set(&home, "ONE", "value of one");
    let second = key(&home);
    assert_ne!(first, second);
    let refused = home.run(&["secrets", "rotate"]).ended(1);
    assert!(refused.err.contains(&format!("toolroom approvals deny {call}")), "{refused:?}");
    assert_eq!(key(&home), second);
    assert!(!home.path().join("master.key.new").exists(), "nothing was begun");
    home.run_own(&["approvals", "deny", &call]).ended(0);
    home.run(&["secrets", "rotate"]).ended(0);
    assert_eq!(opening(&home), ["ONE"]);
}
