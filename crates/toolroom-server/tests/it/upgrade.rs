//! From every released database to this version and, after a newer one, back.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::home::{Home, repository};

/// The stored database of a schema, in a toolroom of its own.
fn released(schema: i64) -> Home {
    let home = Home::new();
    let stored = format!("crates/toolroom-store/tests/databases/schema-{schema}.db");
    std::fs::copy(repository().join(stored), database(&home)).unwrap();
    home
}

fn database(home: &Home) -> PathBuf {
    home.path().join("toolroom.db")
}

fn newest() -> i64 {
    Home::new().run(&["--version", "--json"]).ended(0).json()["schema"].as_i64().unwrap()
}

/// Changes a database as a newer version would.
fn sql(path: &Path, text: &str) {
    let script =
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()";
    let mut python = std::process::Command::new("python3");
    assert!(python.args(["-c", script]).arg(path).arg(text).status().unwrap().success());
}

#[test]
fn every_released_database_is_brought_here_and_its_calls_are_read() {
    let newest = newest();
    for schema in 1..=newest {
        let home = released(schema);
        let before = std::fs::read(database(&home)).unwrap();
        let plan = home.run(&["migrate", "--plan", "--json"]).ended(0).json();
        let steps: Vec<i64> =
            plan["steps"].as_array().unwrap().iter().map(|step| step["schema"].as_i64().unwrap()).collect();
        assert_eq!(steps, (schema + 1..=newest).collect::<Vec<_>>());
        assert_eq!(
            (&plan["found"], &plan["known"], &plan["done"]),
            (&json!(schema), &json!(newest), &json!(false))
        );
        assert_eq!(std::fs::read(database(&home)).unwrap(), before, "a plan changes nothing");
        let done = home.run(&["migrate", "--json"]).ended(0).json();
        assert_eq!(done["done"], json!(schema < newest));
        if let Some(copy) = done["copy"].as_str() {
            assert!(Path::new(copy).exists(), "{done}");
        }
        let calls = home.journal();
        assert_eq!(calls.len(), 4, "{calls:?}");
        assert!(home.run(&["log", "call_1"]).ended(0).out.contains("builtin:calculator"));
        if schema >= 2 {
            // Its sealed value has no key, and as long as it is there no call is allowed.
            home.run(&["secrets", "remove", "TOKEN"]).ended(0);
        }
        assert_eq!(home.run(&["call", "calculator", "expression=17*23"]).ended(0).out.trim(), "391");
        let doctor = home.run(&["doctor", "--json"]).json();
        assert_eq!(doctor["checks"]["store"]["status"], json!("ok"), "schema {schema}: {doctor}");
        assert!(home.run(&["migrate"]).ended(0).err.contains("Nothing to do"));
    }
}

#[test]
fn the_migration_plan_is_shown_and_a_missing_database_is_no_error() {
    let home = released(1);
    let told = home.run(&["migrate", "--plan"]).ended(0).out;
    assert!(told.contains("from schema 1 to") && told.contains("conversations and their runs"), "{told}");
    let empty = Home::new();
    assert!(empty.run(&["migrate", "--plan"]).ended(0).err.contains("No database yet"));
    assert!(!database(&empty).exists(), "a plan makes nothing");
}

#[test]
fn after_a_newer_version_the_rollback_is_shown_and_applied() {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1+1"]).ended(0);
    let newer = newest() + 1;
    // What a newer version does: it keeps the database as it was, then changes it.
    let copy = home.path().join(format!("toolroom.db.before-{newer}"));
    std::fs::copy(database(&home), &copy).unwrap();
    sql(&database(&home), &format!("CREATE TABLE later (a TEXT); PRAGMA user_version = {newer};"));
    let changed = std::fs::read(database(&home)).unwrap();
    for words in [&["log"][..], &["call", "calculator", "expression=1"], &["migrate"], &["migrate", "--plan"]]
    {
        let refused = home.run(words).ended(1);
        assert!(refused.err.contains(&format!("has schema {newer}")), "{refused:?}");
        assert!(refused.err.contains("toolroom migrate --back"), "{refused:?}");
    }
    assert_eq!(std::fs::read(database(&home)).unwrap(), changed, "it is left alone");
    let unasked = home.run(&["migrate", "--back"]).ended(2);
    assert!(unasked.err.contains("--yes"), "{unasked:?}");
    let back = home.run(&["migrate", "--back", "--yes", "--json"]).ended(0).json();
    assert_eq!(back["found"], json!(newer));
    let kept = back["kept"].as_str().unwrap();
    assert_eq!(std::fs::read(kept).unwrap(), changed, "what the newer version wrote is kept");
    assert_eq!(home.journal().len(), 1);
    let nothing = home.run(&["migrate", "--back", "--yes"]).ended(2);
    assert!(nothing.err.contains("nothing to roll back"), "{nothing:?}");

    sql(&database(&home), &format!("PRAGMA user_version = {newer};"));
    let none = home.run(&["migrate", "--back", "--yes"]).ended(1);
    assert!(none.err.contains("toolroom backup restore"), "{none:?}");
    let present = std::fs::read(database(&home)).unwrap();
    for (broken, why) in [(&b""[..], "not a Toolroom database"), (&[7_u8; 9_000], "not a Toolroom database")]
    {
        std::fs::write(&copy, broken).unwrap();
        let unreadable = home.run(&["migrate", "--back", "--yes"]).ended(1);
        let said = format!(
            "the copy from before, `{}`, cannot be gone back to, and nothing was changed",
            copy.display()
        );
        assert!(unreadable.err.contains(&said) && unreadable.err.contains(why), "{unreadable:?}");
        assert!(unreadable.err.contains("toolroom backup restore FILE"), "{unreadable:?}");
        assert_eq!(std::fs::read(database(&home)).unwrap(), present);
    }
}
