//! Entries of servers: what is said about them, and what is refused.

use serde_json::json;

use super::{folder, found, python};
use crate::home::{Home, Ran, ran};

#[test]
fn an_entry_is_kept_shown_switched_and_removed() {
    let home = Home::new();
    assert!(home.run(&["mcp"]).ended(0).err.contains("no servers yet"));
    let script = found(&folder().join("hostile.py"));
    let words =
        ["mcp", "add", "calm", "--no-start", "--env", "MODE=a b", "--json", "--", &python(), &script, "x y"];
    let added = home.run(&words).ended(0).json();
    assert_eq!((&added["state"], &added["reached"]["profile"]), (&json!("never_seen"), &json!("workspace")));
    assert!(added["reached"]["command"].as_str().unwrap().starts_with('/'), "where it was found: {added}");
    assert!(format!("{:?}", home.run(&words).ended(2)).contains("--replace"), "no entry is lost by mistake");
    let unseen = home.run(&["call", "mcp:calm:work"]).ended(5).err;
    assert!(unseen.contains("toolroom mcp show calm"), "{unseen}");
    let shown = home.run(&["mcp", "show", "calm"]).ended(0).out;
    assert!(shown.contains(&format!("{script} 'x y'")) && shown.contains("MODE=a b"), "{shown}");

    home.run(&["mcp", "disable", "calm"]).ended(0);
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json()[0]["state"], "disabled");
    home.run(&["mcp", "test", "calm"]).ended(0);
    let off = home.run(&["call", "mcp:calm:work", "--yes"]).ended(5).err;
    assert!(
        off.contains("the server `calm` is disabled") && off.contains("toolroom mcp enable calm"),
        "{off}"
    );
    home.run(&["mcp", "enable", "calm"]).ended(0);
    assert_eq!(home.run(&["call", "mcp:calm:work", "--yes"]).ended(0).out, "ok\n");
    home.run(&["tools", "disable", "mcp:calm:work"]).ended(0);
    home.run(&["call", "mcp:calm:work", "--yes"]).ended(3);

    home.run(&["mcp", "remove", "calm"]).ended(0);
    home.run(&["mcp", "show", "calm"]).ended(5);
    let gone = home.run(&["call", "mcp:calm:work", "--yes"]).ended(5).err;
    assert!(!gone.contains("toolroom mcp"), "{gone}");
}

#[test]
fn an_invalid_entry_is_rejected_and_changes_nothing() {
    let home = Home::new();
    for (words, why) in [
        (&["a b", "--", "true"][..], "invalid server name"),
        (&["x"][..], "no server given"),
        (&["x", "--url", "ftp://x.example"][..], "use `https`"),
        (&["x", "--url", "https://ann:pw@x.example"][..], "password"),
        (&["x", "--profile", "wide-open", "--", "true"][..], "no profile"),
        (&["x", "--", "no-such-program-anywhere"][..], "not found"),
        (&["x", "--env", "API_TOKEN=abcdefgh12345", "--", "true"][..], "secret:NAME"),
        (&["x", "--env", "novalue", "--", "true"][..], "NAME=VALUE"),
        (&["x", "--env", "NODE_OPTIONS=-r", "--", "true"][..], "may not be set"),
        (&["x", "--", "true", "--api-key", "abcdefgh12345"][..], "secret:NAME"),
        (&["x", "--", "true", "--token=abcdefgh12345"][..], "secret:NAME"),
        (&["x", "--url", "https://x.example/mcp?api_key=abcdefgh12345"][..], "secret:NAME"),
        (&["x", "--url", "http://x.example/mcp", "--header", "x-key=secret:KEY"][..], "unencrypted"),
    ] {
        let refused = home.run(&[&["mcp", "add"][..], words].concat()).ended(2);
        assert!(refused.err.contains(why), "{words:?}: {refused:?}");
    }
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json(), json!([]));
    for command in ["show", "remove", "enable", "disable", "test", "logs", "review"] {
        assert!(home.run(&["mcp", command, "unknown"]).ended(5).err.contains("unknown server"), "{command}");
    }
}

/// A server that means well enough, entered as `calm`.
fn with(home: &Home, more: &[&str], mode: &str) -> Ran {
    let script = found(&folder().join("hostile.py"));
    let python = python();
    home.run(&[&["mcp", "add", "calm"][..], more, &["--", &python, &script, mode]].concat())
}

fn tools(home: &Home) -> Vec<(String, String)> {
    let shown = home.run(&["mcp", "show", "calm", "--json"]).ended(0).json();
    let text = |tool: &serde_json::Value, name: &str| tool[name].as_str().unwrap().to_owned();
    shown["tools"].as_array().unwrap().iter().map(|tool| (text(tool, "id"), text(tool, "state"))).collect()
}

#[test]
fn a_part_of_an_entry_is_changed_and_what_was_accepted_stays() {
    let home = Home::new();
    let added = with(&home, &[], "calm").ended(0);
    assert!(added.out.contains("Does something"), "what a tool says is seen: {added:?}");
    let accepted = [("mcp:calm:work".to_owned(), "accepted".to_owned())];
    assert_eq!(tools(&home), accepted);
    let set = ["mcp", "set", "calm", "--profile", "read-only", "--timeout", "9", "--env", "A=b", "--json"];
    let set = home.run(&set).ended(0).json();
    assert_eq!((&set["reached"]["profile"], &set["timeout_seconds"]), (&json!("read-only"), &json!(9)));
    assert_eq!(set["reached"]["environment"]["A"], json!({"plain": "b"}));
    assert_eq!(tools(&home), accepted);
    let gone = home.run(&["mcp", "set", "calm", "--env", "A=", "--disable", "--json"]).ended(0).json();
    assert_eq!((&gone["reached"]["environment"], &gone["state"]), (&json!(null), &json!("disabled")));
    home.run(&["mcp", "set", "calm", "--enable", "--profile", "workspace"]).ended(0);
    assert_eq!(home.run(&["call", "mcp:calm:work", "--yes"]).ended(0).out, "ok\n");
    for (words, why) in [
        (&["--header", "a=b"][..], "no headers"),
        (&["--profile", "wide"][..], "no profile"),
        (&["--env", "PATH=/x"][..], "may not be set"),
        (&[][..], "nothing to change"),
    ] {
        let refused = home.run(&[&["mcp", "set", "calm"][..], words].concat()).ended(2);
        assert!(refused.err.contains(why), "{words:?}: {refused:?}");
    }
}

#[test]
fn another_program_behind_a_name_is_not_taken_for_the_first() {
    let home = Home::new();
    with(&home, &[], "calm").ended(0);
    with(&home, &["--replace"], "changes").ended(0);
    let states: Vec<String> = tools(&home).into_iter().map(|(_, state)| state).collect();
    assert_eq!(states.iter().filter(|state| *state == "new").count(), 2, "{states:?}");
    home.run(&["call", "mcp:calm:kept", "--yes"]).ended(5);
}

#[test]
fn a_server_has_a_home_of_its_own_and_a_secret_for_an_argument() {
    let home = Home::new();
    home.run_with_stdin(&["secrets", "set", "MODE"], "calm").ended(0);
    with(&home, &[], "secret:MODE").ended(0);
    assert_eq!(home.run(&["call", "mcp:calm:work", "--yes"]).ended(0).out, "ok\n");
    let own = home.path().join("mcp/calm/home");
    assert!(own.is_dir());
    home.run(&["mcp", "remove", "calm"]).ended(0);
    assert!(!own.exists() && !home.path().join("mcp/calm").exists(), "it goes with the server");
}

#[test]
fn a_cached_package_starts_without_network_access_and_others_name_the_command_to_run() {
    let home = Home::new();
    let cache = tempfile::TempDir::new().unwrap();
    let fetched = cache.path().join("_npx/0123");
    std::fs::create_dir_all(&fetched).unwrap();
    std::fs::write(fetched.join("package.json"), r#"{"_npx": {"packages": ["calm-server"]}}"#).unwrap();
    let package = fetched.join("node_modules/calm-server");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::create_dir_all(fetched.join("node_modules/.bin")).unwrap();
    std::fs::write(package.join("package.json"), r#"{"bin": "server.py"}"#).unwrap();
    let script = std::fs::read_to_string(folder().join("hostile.py")).unwrap();
    let program = fetched.join("node_modules/.bin/calm-server");
    std::fs::write(&program, format!("#!/usr/bin/env python3\n{script}")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let npx = cache.path().join("npx");
    std::fs::write(&npx, "#!/bin/sh\nexit 9\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&npx, mode).unwrap();
    let run = |package: &str| {
        let words = ["mcp", "add", package, "--", npx.to_str().unwrap(), "-y", package, "calm"];
        let mut command = home.command(&words);
        command.env("NPM_CONFIG_CACHE", cache.path());
        ran(command.output().unwrap())
    };
    let missing = run("other-server").ended(1);
    assert!(missing.err.contains("run `npx -y other-server` once"), "{missing:?}");
    assert!(missing.err.contains("toolroom mcp set other-server --profile network:"), "{missing:?}");
    run("calm-server").ended(0);
}

#[test]
fn a_name_that_is_a_path_removes_nothing() {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    let outside = tempfile::TempDir::new().unwrap();
    std::fs::write(outside.path().join("canary"), "here").unwrap();
    for name in ["..", ".", "", "a/../..", outside.path().to_str().unwrap()] {
        home.run(&["mcp", "remove", name]).ended(5);
    }
    assert!(outside.path().join("canary").exists() && home.path().join("toolroom.db").exists());
}

#[test]
fn the_first_server_of_a_fresh_installation_starts() {
    let home = Home::new();
    let script = found(&folder().join("hostile.py"));
    let added = home.run(&["mcp", "add", "first", "--", &python(), &script, "calm"]);
    assert!(!added.err.contains("No such file"), "{added:?}");
    home.run(&["mcp", "test", "first"]).ended(0);
    assert_eq!(home.run(&["call", "mcp:first:work", "--yes"]).ended(0).out, "ok\n");
}
