//! The disk is full, the database is empty, home is no place: what is said, and that nothing is made worse.

use std::process::Command;

use crate::home::{Home, Ran, finished};

/// The command, where no file may become longer than this. What a full disk is to the database, as far as a test can
/// arrange it without one.
fn cramped(home: &Home, kilobytes: u32, arguments: &[&str]) -> Ran {
    let mut shell = Command::new("bash");
    // Without the trap the system would end the process instead of refusing.
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\"")]);
    let command = home.command(arguments);
    shell.arg(command.get_program()).args(command.get_args()).env("TOOLROOM_HOME", home.path());
    shell.stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    finished(shell.spawn().unwrap())
}

#[test]
fn a_folder_in_the_place_of_the_database_is_told_as_one() {
    let home = Home::new();
    let database = home.path().join("toolroom.db");
    std::fs::create_dir(&database).unwrap();
    for arguments in [&["log"][..], &["call", "calculator", "expression=1"]] {
        let told = home.run(arguments).ended(1);
        let said =
            format!("`{}` is a folder, and the database belongs there; move it away", database.display());
        assert!(told.err.contains(&said), "{told:?}");
    }
}

#[test]
fn a_disk_without_room_is_told_as_one() {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    let database = home.path().join("toolroom.db").display().to_string();
    for arguments in [&["call", "calculator", "expression=2"][..], &["log", "prune", "--older-than", "1ms"]] {
        // Not even the index of what was written last fits: it has 32 KiB.
        let ran = cramped(&home, 8, arguments).ended(1);
        assert!(ran.err.contains(&format!("the disk of the database `{database}` is full")), "{ran:?}");
        assert!(ran.err.contains("delete other files there, then try again"), "{ran:?}");
    }
    // That fits, and what is to be written does not.
    let long = format!("expression=1{}", "+1".repeat(40_000));
    let ran = cramped(&home, 33, &["call", "calculator", &long]).ended(1);
    assert!(ran.err.contains(&format!("cannot read or write the database `{database}`")), "{ran:?}");
    assert!(ran.err.contains("check whether the disk is full"), "{ran:?}");
    assert_eq!(home.journal().len(), 1, "nothing was lost, nothing half done");
    home.run(&["call", "calculator", "expression=3"]).ended(0);
}

#[test]
fn what_does_not_fit_is_told_with_the_remedy() {
    let home = Home::new();
    let ran = cramped(&home, 0, &["init", "--yes"]).ended(1);
    assert!(ran.err.contains("hint: the disk or quota is full; free some space, then try again"), "{ran:?}");
    let told = cramped(&home, 0, &["init", "--yes", "--json"]).ended(1).json();
    assert!(told["error"]["hint"].as_str().unwrap().contains("the disk or quota is full"), "{told}");
    assert!(!home.path().join("toolroom.toml").exists());
    home.run(&["log"]).ended(0);
    let file = home.path().join("b.tar");
    let ran = cramped(&home, 8, &["backup", "create", file.to_str().unwrap()]).ended(1);
    assert!(ran.err.contains("delete other files"), "{ran:?}");
    assert!(!file.exists());
}

#[test]
fn a_key_without_its_database_is_told_and_no_hindrance() {
    let home = Home::new();
    let first = home.run_with_stdin(&["secrets", "set", "API"], "s3cret-value").ended(0);
    assert!(!first.err.contains("there is no database"), "a first start is none: {first:?}");
    for name in ["toolroom.db", "toolroom.db-wal", "toolroom.db-shm"] {
        drop(std::fs::remove_file(home.path().join(name)));
    }
    let report = home.run(&["doctor", "--json"]).ended(0).json();
    let store = &report["checks"]["store"];
    assert_eq!((&store["code"], &store["status"]), (&"store.lost".into(), &"warning".into()), "{report}");
    assert_eq!(store["remedy"], "toolroom backup restore FILE");
    let begun = home.run(&["log"]).ended(0);
    let database = home.path().join("toolroom.db").display().to_string();
    assert!(begun.err.contains(&format!("there is no database `{database}`, but a master key")), "{begun:?}");
    assert!(begun.err.contains("`toolroom backup restore FILE`; creating a new one"), "{begun:?}");
    let again = home.run(&["log"]).ended(0);
    assert!(!again.err.contains("there is no database"), "{again:?}");
}

#[test]
fn an_empty_database_beside_a_key_is_damage_and_no_beginning() {
    let home = Home::new();
    let (database, key) = (home.path().join("toolroom.db"), home.path().join("master.key"));
    std::fs::write(&database, "").unwrap();
    home.run(&["log"]).ended(0);
    home.run_with_stdin(&["secrets", "set", "API"], "s3cret-value").ended(0);
    assert!(key.exists());
    for name in ["toolroom.db", "toolroom.db-wal", "toolroom.db-shm"] {
        drop(std::fs::remove_file(home.path().join(name)));
    }
    std::fs::write(&database, "").unwrap();
    for arguments in [&["log"][..], &["secrets", "list"], &["call", "calculator", "expression=1"]] {
        let ran = home.run(arguments).ended(1);
        assert!(ran.err.contains("is empty, but a master key for it exists"), "{ran:?}");
        assert!(ran.err.contains("`toolroom backup restore FILE`"), "{ran:?}");
    }
    assert_eq!(database.metadata().unwrap().len(), 0);
    let report = home.run(&["doctor", "--json"]).ended(1).json();
    assert_eq!(report["checks"]["store"]["code"], "store.damaged", "{report}");
    std::fs::rename(&key, home.path().join("elsewhere")).unwrap();
    home.run(&["log"]).ended(0);
}

#[test]
fn a_home_that_is_no_place_is_told() {
    let home = Home::new();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (place, why) in [
        ("/proc/toolroom", "its file system takes no files"),
        ("/sys/toolroom", "its file system takes no files"),
        (file.to_str().unwrap(), "there is a file in the way"),
    ] {
        let mut command = home.command(&["doctor", "--json"]);
        let report = finished(command.env("TOOLROOM_HOME", place).spawn().unwrap()).ended(1).json();
        let store = &report["checks"]["store"];
        assert_eq!(store["code"], "store.no_folder", "{place}: {report}");
        assert!(store["details"].as_str().unwrap().contains(why), "{store}");
        assert_ne!(report["checks"]["disk"]["code"], "disk.full", "{report}");
    }
    for arguments in [&["log"][..], &["config", "path"], &["call", "calculator", "expression=1"]] {
        let mut command = home.command(arguments);
        let ran = finished(command.env("TOOLROOM_HOME", "here").spawn().unwrap()).ended(2);
        assert!(ran.err.contains("`TOOLROOM_HOME` is `here`, which is not an absolute path"), "{ran:?}");
    }
}
