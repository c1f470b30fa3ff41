//! `toolroom backup restore`: what comes back, what is kept, and what happens to a process that is killed at it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::backup::{backed_up, furnished, verified};
use crate::canary::files_below;
use crate::home::{Home, Ran};
use crate::pty::{Pty, Stdout};
use crate::secrets::{blurted, listed, opening, set};

/// Processes that are killed while they restore.
const KILLED: u32 = 16;

fn restore(home: &Home, file: &Path, more: &[&str]) -> Ran {
    home.run(&[&["backup", "restore", file.to_str().unwrap()], more].concat())
}

/// The files of a home whose names say that they were kept.
fn kept(home: &Home) -> Vec<String> {
    let names = files_below(home.path()).into_iter();
    let names = names.map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name.contains(".before-restore-")).collect()
}

#[test]
fn everything_comes_back_in_another_place() {
    let (home, canary) = furnished();
    let journal = home.journal();
    let (_folder, file) = backed_up(&home, &["--with-key"]);
    let other = Home::new();
    let restored = restore(&other, &file, &[]).ended(0);
    assert!(
        restored.err.contains("Restored 3 calls"),
        "nothing is replaced, so there is no prompt: {restored:?}"
    );
    assert_eq!(kept(&other), Vec::<String>::new());
    for name in ["toolroom.db", "master.key", "toolroom.toml"] {
        let mode = other.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    let text = |home: &Home| std::fs::read_to_string(home.path().join("toolroom.toml")).unwrap();
    assert_eq!(text(&other), text(&home));
    assert_eq!(other.journal(), journal);
    assert_eq!(opening(&other), ["CANARY"]);
    assert_eq!(blurted(&other, &canary.value), "[secret CANARY]\n");
    let artifact = journal.iter().find_map(|row| row["artifact"].as_str()).unwrap();
    other.run(&["call", "result_read", &format!("artifact={artifact}")]).ended(0);
    // What waited still waits, with exactly what was asked for.
    other.run_own(&["approvals", "approve", "last"]).ended(0);
    let call = journal.iter().find(|row| row["status"] == "pending").unwrap()["id"].as_str().unwrap();
    other.run_own(&["call", "--resume", call]).ended(0);
    let notes = std::fs::read_to_string(home.path().join("notes")).unwrap();
    assert_eq!(notes, format!("{call} {}\n", canary.value));
}

#[test]
fn what_is_there_is_kept_and_can_be_brought_back_itself() {
    let (home, _) = furnished();
    let (_folder, file) = backed_up(&home, &[]);
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    set(&home, "LATER", "a later value");
    std::fs::write(home.path().join("toolroom.toml"), "# changed\n").unwrap();
    let document = restore(&home, &file, &["--yes", "--json"]).ended(0).json();
    assert_eq!(document["restored"], json!([home.path().join("toolroom.db")]));
    assert_eq!(home.journal().len(), 3);
    assert_eq!(opening(&home), ["CANARY"]);
    assert_eq!(std::fs::read_to_string(home.path().join("toolroom.toml")).unwrap(), "# changed\n");
    let names = kept(&home);
    assert_eq!(document["kept"], json!([home.path().join(&names[0])]));
    assert_eq!(names.len(), 1, "no log is left beside it: {names:?}");

    // The kept one is a whole database.
    let before = Home::new();
    std::fs::rename(home.path().join(&names[0]), before.path().join("toolroom.db")).unwrap();
    std::fs::copy(home.path().join("master.key"), before.path().join("master.key")).unwrap();
    assert_eq!(before.journal().len(), 4);
    assert_eq!(opening(&before), ["CANARY", "LATER"]);

    // The configuration only if that was asked for; what it was is kept, too.
    restore(&home, &file, &["--yes", "--config"]).ended(0);
    assert!(std::fs::read_to_string(home.path().join("toolroom.toml")).unwrap().contains("careful"));
    let old = kept(&home).into_iter().find(|name| name.starts_with("toolroom.toml.")).unwrap();
    assert_eq!(std::fs::read_to_string(home.path().join(old)).unwrap(), "# changed\n");
    for _ in 0..3 {
        restore(&home, &file, &["--yes"]).ended(0);
    }
    assert_eq!(kept(&home).len(), 5, "none is written over: {:?}", kept(&home));
}

#[test]
fn secrets_come_back_with_their_key_alone() {
    let (home, canary) = furnished();
    let (_folder, bare) = backed_up(&home, &[]);
    let (_other_folder, keyed) = backed_up(&home, &["--with-key"]);

    let other = Home::new();
    let seen = verified(&other, &bare, 0);
    assert_eq!(seen["sealed"], json!({"all": 2, "opened": 0, "key": Value::Null}));
    let restored = restore(&other, &bare, &[]).ended(0);
    let id = seen["manifest"]["key"]["id"].as_str().unwrap();
    let place = other.path().join("master.key").display().to_string();
    let hint = format!("cannot be opened with the current key; put their key `{id}` into `{place}`\n");
    assert!(restored.err.contains(&hint), "{restored:?}");
    assert_eq!(listed(&other)[0]["opens"], false);
    other.run(&["call", "calculator", "expression=1"]).ended(3);
    std::fs::copy(home.path().join("master.key"), other.path().join("master.key")).unwrap();
    assert_eq!(blurted(&other, &canary.value), "[secret CANARY]\n");

    // Where another key is, it is replaced only if that is said, and kept.
    let third = Home::new();
    set(&third, "OWN", "its own value");
    let own_key = std::fs::read(third.path().join("master.key")).unwrap();
    let refused = restore(&third, &keyed, &["--yes"]).ended(3);
    assert!(refused.err.contains("add --with-key"), "{refused:?}");
    assert_eq!(opening(&third), ["OWN"]);
    restore(&third, &bare, &["--yes", "--with-key"]).ended(2);
    let fifth = Home::new();
    set(&fifth, "OWN", "its own value");
    let told = restore(&fifth, &bare, &["--yes", "--json"]).ended(0);
    assert!(told.err.contains("instead of the current one, which the replaced data still needs"), "{told:?}");
    let restored = restore(&third, &keyed, &["--yes", "--with-key", "--json"]).ended(0).json();
    assert_eq!(opening(&third), ["CANARY"]);
    assert!(!third.path().join("master.key.new").exists());
    let old_key = kept(&third).into_iter().find(|name| name.starts_with("master.key.")).unwrap();
    assert_eq!(std::fs::read(third.path().join(&old_key)).unwrap(), own_key);
    assert!(restored["kept"].as_array().unwrap().contains(&json!(third.path().join(&old_key))));
    // With the key that was kept, the database that was kept opens again.
    let old_database = kept(&third).into_iter().find(|name| name.starts_with("toolroom.db.")).unwrap();
    let fourth = Home::new();
    std::fs::copy(third.path().join(old_key), fourth.path().join("master.key")).unwrap();
    std::fs::copy(third.path().join(old_database), fourth.path().join("toolroom.db")).unwrap();
    assert_eq!(opening(&fourth), ["OWN"]);

    // A key in the environment is not replaced by a file.
    let mut command = third.command(&["backup", "restore", keyed.to_str().unwrap(), "--yes", "--with-key"]);
    let refused =
        crate::home::ran(command.env("TOOLROOM_MASTER_KEY", "ab".repeat(32)).output().unwrap()).ended(2);
    assert!(refused.err.contains("a key file would be ignored"), "{refused:?}");
}

#[test]
fn nothing_is_replaced_while_another_process_uses_it() {
    let (home, _) = furnished();
    let (_folder, file) = backed_up(&home, &[]);
    let mut long = home.own_tools(&["call", "countdown", "seconds=600"]).spawn().unwrap();
    crate::call::wait_for_status(&home, "begun");
    let refused = restore(&home, &file, &["--yes"]).ended(3);
    assert!(refused.err.contains("at work"), "{refused:?}");
    assert_eq!(home.journal()[0]["status"], "begun");
    long.kill().unwrap();
    long.wait().unwrap();
    restore(&home, &file, &["--yes"]).ended(0);
    assert_eq!(home.journal().len(), 3);
    // Short calls come and go; those that come meanwhile wait.
    let calls = std::thread::scope(|scope| {
        let calls = scope.spawn(|| {
            (0..20).filter(|_| home.run(&["call", "calculator", "expression=1"]).code == 0).count()
        });
        while !calls.is_finished() {
            let ran = restore(&home, &file, &["--yes"]);
            assert!(matches!(ran.code, 0 | 3), "{ran:?}");
        }
        calls.join().unwrap()
    });
    assert_eq!(calls, 20, "no call fails because of it");
    assert_eq!(opening(&home), ["CANARY"]);
}

#[test]
fn it_is_asked_first_and_shown_what_would_be_replaced() {
    let (home, _) = furnished();
    let (_folder, file) = backed_up(&home, &[]);
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    let refused = restore(&home, &file, &[]).ended(2);
    assert!(refused.err.contains("Would replace") && refused.err.contains("with `--yes`"), "{refused:?}");
    let words = ["backup", "restore", file.to_str().unwrap()];
    for (key, code, calls) in [("n", 3, 4), ("\r", 3, 4), ("\u{3}", 130, 4), ("y", 0, 3)] {
        let mut sitting = Pty::new(200).starts(&home.command(&words), Stdout::Terminal);
        sitting.sees("toolroom.db`");
        sitting.sees("Restore? [y] yes  [n] no");
        sitting.is_listened_to();
        sitting.types(key);
        sitting.leaves().ended(code);
        assert_eq!(home.journal().len(), calls, "{key:?}");
    }
}

#[test]
fn a_damaged_database_is_replaced_and_a_newer_one_is_not() {
    let (home, _) = furnished();
    let (_folder, file) = backed_up(&home, &[]);
    let database = home.path().join("toolroom.db");
    let whole = std::fs::read(&database).unwrap();
    let mut newer = whole.clone();
    // Where SQLite keeps `user_version`.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&database, &newer).unwrap();
    let refused = restore(&home, &file, &["--yes"]).ended(3);
    assert!(refused.err.contains("newer than this Toolroom") && refused.err.contains("99"), "{refused:?}");
    assert_eq!(std::fs::read(&database).unwrap(), newer);

    let mut damaged = whole;
    damaged[..200].fill(0xee);
    std::fs::write(&database, &damaged).unwrap();
    home.run(&["log"]).ended(1);
    std::fs::write(home.path().join("toolroom.db-wal"), "left by a killed process").unwrap();
    let restored = restore(&home, &file, &["--yes"]).ended(0);
    assert!(restored.err.contains("could not be opened"), "{restored:?}");
    assert_eq!(home.journal().len(), 3);
    assert_eq!(std::fs::read(home.path().join(&kept(&home)[0])).unwrap(), damaged);
}

#[test]
fn whenever_it_is_killed_the_old_or_the_new_state_opens() {
    let (source, _) = furnished();
    let (_folder, file) = backed_up(&source, &["--with-key"]);
    let words = ["backup", "restore", file.to_str().unwrap(), "--yes", "--with-key", "--config"];
    let fresh = || {
        let home = Home::new();
        set(&home, "OWN", "its own value");
        home
    };
    let began = Instant::now();
    fresh().run(&words).ended(0);
    let whole = began.elapsed();
    let mut states = [0, 0];
    for number in 0..KILLED {
        let home = fresh();
        let mut child = home.command(&words).spawn().unwrap();
        let deadline = Instant::now() + whole * (number + 1) / KILLED;
        while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let names: Vec<Value> = listed(&home).into_iter().map(|secret| secret["name"].clone()).collect();
        let is_new = names == [json!("CANARY")];
        assert!(is_new || names == [json!("OWN")], "killed {number}: {names:?}");
        assert_eq!(opening(&home).len(), 1, "killed {number}: its key is with it");
        states[usize::from(is_new)] += 1;
        home.run(&["call", "calculator", "expression=1"]).ended(0);
        // Remains of an interrupted restore are no obstacle, and the next one removes them.
        if home.path().join("master.key.new").exists() {
            home.run(&["secrets", "rotate"]).ended(0);
        }
        restore(&home, &file, &["--yes", "--with-key", "--config"]).ended(0);
        assert_eq!(opening(&home), ["CANARY"], "killed {number}");
        let work =
            files_below(home.path()).into_iter().any(|file| file.display().to_string().contains(".work"));
        assert!(!work, "killed {number}: {:?}", files_below(home.path()));
    }
    assert!(states[0] > 0, "some die before it is done: {states:?}");
}
