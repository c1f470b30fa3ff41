//! `toolroom secrets`.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::canary::{Canary, files_below};
use crate::home::{Home, Ran, ran};
use crate::pty::{Pty, Stdout};

/// Keeps a secret.
#[track_caller]
pub(crate) fn set(home: &Home, name: &str, value: &str) -> Ran {
    home.run_with_stdin(&["secrets", "set", name], value).ended(0)
}

/// Every secret, as listed.
#[track_caller]
pub(crate) fn listed(home: &Home) -> Vec<Value> {
    home.run(&["secrets", "--json"]).ended(0).json().as_array().unwrap().clone()
}

/// The names of secrets that open.
#[track_caller]
pub(crate) fn opening(home: &Home) -> Vec<String> {
    let open = listed(home).into_iter().filter(|secret| secret["opens"] == true);
    open.map(|secret| secret["name"].as_str().unwrap().to_owned()).collect()
}

/// What a tool that repeats its argument prints.
pub(crate) fn blurted(home: &Home, text: &str) -> String {
    home.run_own(&["call", "blurt", &format!("text={text}")]).ended(0).out
}

#[test]
fn a_secret_is_kept_listed_replaced_and_removed() {
    let home = Home::new();
    let empty = home.run(&["secrets"]).ended(0);
    assert_eq!(
        (empty.out.as_str(), empty.err.contains("toolroom secrets set NAME")),
        ("", true),
        "{empty:?}"
    );
    assert_eq!(listed(&home), Vec::<Value>::new());

    let first = set(&home, "API.key-1_x", "first value\n");
    let key = home.path().join("master.key");
    assert_eq!(first.out, "");
    assert!(first.err.contains("Stored `API.key-1_x`"), "{first:?}");
    assert!(first.err.contains(&format!("created a master key: `{}`", key.display())), "{first:?}");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let second = set(&home, "Second", "another value");
    assert!(!second.err.contains("master key"), "{second:?}");
    let again = set(&home, "API.key-1_x", "a third value");
    assert!(again.err.contains("Changed `API.key-1_x`"), "{again:?}");

    let secrets = listed(&home);
    assert_eq!((&secrets[0]["name"], &secrets[1]["name"]), (&json!("API.key-1_x"), &json!("Second")));
    for secret in &secrets {
        let keys: Vec<&String> = secret.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["name", "created_at", "changed_at", "opens", "hidden_exactly"]);
        assert_eq!((&secret["opens"], &secret["hidden_exactly"]), (&json!(true), &json!(true)));
    }
    assert!(secrets[0]["changed_at"].as_i64() > secrets[0]["created_at"].as_i64());
    let text = home.run(&["secrets", "list"]).ended(0);
    assert_eq!(text.out.lines().count(), 2, "{text:?}");
    assert!(text.out.contains("API.key-1_x  hidden"), "{text:?}");

    let missing = home.run(&["secrets", "remove", "Secnd"]).ended(5);
    assert!(missing.err.contains("did you mean `Second`?"), "{missing:?}");
    assert_eq!(
        home.run(&["secrets", "rm", "Second", "--json"]).ended(0).json(),
        json!({"name": "Second", "removed": true})
    );
    home.run(&["secrets", "remove", "API.key-1_x"]).ended(0);
    assert_eq!(listed(&home), Vec::<Value>::new());
    assert!(blurted(&home, "a third value").contains("a third value"), "it is no longer stored");
}

#[test]
fn a_value_on_the_command_line_is_refused_and_not_repeated() {
    let home = Home::new();
    set(&home, "KNOWN", "the known value");
    let canary = Canary::new("typed");
    let (pair, option) = (format!("NAME={}", canary.value), format!("-{}", canary.value));
    for words in [
        &["set", "NAME", &canary.value][..],
        &["set", "NAME", "a", &canary.value],
        &["set", "NAME", &option],
        &["set", "NAME", "--", &canary.value],
        &["set", &pair],
        &["rotate", "KNOWN", &canary.value],
        &["set", "NAME", &canary.value, "--json"],
    ] {
        let refused = home.run(&[&["secrets"], words].concat()).ended(2);
        assert!(
            format!("{}{}", refused.out, refused.err).contains("your shell may keep them in its history"),
            "{refused:?}"
        );
        canary.is_not_told(&refused);
    }
    // A name that looks like a value is one.
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzABCD";
    let refused = home.run(&["secrets", "set", token]).ended(2);
    assert!(
        !refused.err.contains(token) && refused.err.contains("your shell may keep them in its history"),
        "{refused:?}"
    );
    assert_eq!(opening(&home), ["KNOWN"]);
}

#[test]
fn bad_names_and_values_are_refused_and_change_nothing() {
    let home = Home::new();
    let long = "n".repeat(141);
    for name in ["", "a b", "ü", "a/b", &long] {
        home.run_with_stdin(&["secrets", "set", name], "some value").ended(2);
    }
    let huge = "x".repeat(64 * 1_024 + 1);
    for (value, says) in [("", "empty"), ("\n", "empty"), ("a\0b", "NUL"), (huge.as_str(), "longer")] {
        let refused = home.run_with_stdin(&["secrets", "set", "NAME"], value).ended(2);
        assert!(refused.err.contains(says), "{refused:?}");
    }
    let nobody = home.run(&["secrets", "rotate", "NAME"]).ended(5);
    assert!(nobody.err.contains("no secret `NAME`"), "{nobody:?}");
    assert_eq!(listed(&home), Vec::<Value>::new());
    assert!(!home.path().join("master.key").exists(), "nothing was sealed, so there is no key");

    set(&home, "LARGE", &"x".repeat(64 * 1_024));
    let ran = home.run_with_stdin(&["secrets", "set", "SHORT", "--json"], "1234567").ended(0);
    let expected = json!({"name": "SHORT", "replaced": false, "hidden_exactly": false, "new_key": null});
    assert_eq!(ran.json(), expected);
    assert!(ran.err.contains("fewer than 8 characters are not redacted"), "{ran:?}");
    assert!(home.run(&["secrets"]).ended(0).out.contains("SHORT  too short to be hidden"));
}

#[test]
fn a_weak_value_is_stored_with_a_warning() {
    let home = Home::new();
    for (value, why) in [
        ("20260131", "easy to guess (digits alone)"),
        ("4711-0815-42", "easy to guess (digits alone)"),
        ("kitchens", "easy to guess (a few letters of one case)"),
        ("aaaaaaaaaaaaaaaa", "easy to guess (a repetition or a sequence)"),
        ("P4ssw0rd123!", "easy to guess (common words)"),
        ("4711", "fewer than 8 characters are not redacted"),
    ] {
        for command in ["set", "rotate"] {
            let kept = home.run_with_stdin(&["secrets", command, "PIN"], value).ended(0);
            assert!(kept.err.contains(why) && kept.err.contains("hint:"), "{value}: {kept:?}");
            assert!(!kept.err.contains(value) && !kept.out.contains(value), "{kept:?}");
        }
        let state = if value.len() < 8 { "too short to be hidden" } else { "hidden, easy to guess" };
        assert!(home.run(&["secrets"]).ended(0).out.contains(state), "{value}");
        // What the warning says is so: a right guess is hidden, and a wrong one is not.
        let (right, wrong) = (blurted(&home, value), blurted(&home, "20260132"));
        assert_eq!((right != format!("{value}\n"), wrong.as_str()), (value.len() >= 8, "20260132\n"));
    }
    for value in ["k7Rq2ZxW9mB4", "correct horse battery", "-----BEGIN PRIVATE KEY-----\nMIIEvQIB\n"] {
        let kept = set(&home, "LONG", value);
        assert!(!kept.err.contains("easy to guess"), "{value}: {kept:?}");
    }
}

#[test]
fn a_value_is_never_told_and_never_kept_in_plain() {
    let home = Home::new();
    let (first, second) = (Canary::new("first"), Canary::new("second"));
    let mut told = vec![set(&home, "CANARY", &first.value), set(&home, "CANARY", &second.value)];
    told.push(home.run_with_stdin(&["secrets", "rotate", "CANARY"], &first.value).ended(0));
    let text = format!("text={}", first.value);
    for way in ["result", "message", "key", "error", "hint", "cause", "progress", "pieces", "panic", "long"] {
        for look in [&[][..], &["--json"]] {
            let way = format!("way={way}");
            told.push(home.run_own(&[&["call", "blurt", &text, &way], look].concat()));
        }
    }
    // It is in what waits for an answer, and in a name, an argument and a condition that are wrong.
    let note = format!("path={}", home.path().join("no/such/folder").display());
    told.push(home.run_own(&["call", "publish_note", &note, &text, "--json"]).ended(4));
    told.push(home.run_own(&["approvals", "show", "last", "--json"]).ended(0));
    told.push(home.run_own(&["approvals", "approve", "last"]).ended(0));
    told.push(home.run_own(&["call", "--resume", "last"]).ended(1));
    told.push(home.run(&["call", &first.value]).ended(5));
    told.push(home.run(&["call", "calculator", &format!("expression={}", first.value)]).ended(1));
    told.push(home.run(&["call", "calculator", &first.value]).ended(2));
    for words in [
        &["secrets"][..],
        &["secrets", "rotate"],
        &["log", "--json", "--limit", "1000"],
        &["log"],
        &["log", "last"],
        &["backup", "create", "--json"],
        &["secrets", "rotate", "--json"],
        &["tools", "--json"],
        &["secrets", "rm", "CANARY"],
    ] {
        told.push(ran(home.command(words).current_dir(home.path()).output().unwrap()).ended(0));
    }
    // Also the log of the open database.
    home.run_with_stdin(&["secrets", "set", "AGAIN"], &second.value).ended(0);
    let mut open = home.own_tools(&["call", "countdown", "seconds=60"]).spawn().unwrap();
    crate::call::wait_for_status(&home, "begun");
    told.push(home.run_with_stdin(&["secrets", "set", "AGAIN"], &first.value).ended(0));
    for canary in [&first, &second] {
        told.iter().for_each(|ran| canary.is_not_told(ran));
        assert!(canary.is_not_below(home.path()) >= 4, "{:?}", files_below(home.path()));
    }
    open.kill().unwrap();
    open.wait().unwrap();
}

#[test]
fn the_next_process_hides_what_was_kept_just_now() {
    let home = Home::new();
    for round in 0..5 {
        let value = format!("round {round} of values");
        set(&home, "ROUND", &value);
        assert_eq!(blurted(&home, &format!("it was {value}!")), "it was [secret ROUND]!\n");
    }
    assert_eq!(blurted(&home, "round 3 of values"), "round 3 of values\n", "it is no secret any more");
}

#[test]
fn two_processes_keep_secrets_at_once() {
    let home = Home::new();
    let names: Vec<String> = (0..12).map(|number| format!("NAME{number:02}")).collect();
    std::thread::scope(|scope| {
        for worker in names.chunks(6) {
            let home = &home;
            scope.spawn(move || {
                for name in worker {
                    set(home, name, &format!("value of {name}"));
                }
            });
        }
    });
    assert_eq!(opening(&home), names);
    for name in &names {
        assert_eq!(blurted(&home, &format!("value of {name}")), format!("[secret {name}]\n"));
    }
}

#[test]
fn a_key_that_others_may_read_is_not_used() {
    let home = Home::new();
    set(&home, "NAME", "some value");
    let key = home.path().join("master.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o640)).unwrap();
    let remedy = format!("chmod 600 '{}'", key.display());
    for (words, code) in
        [(&["secrets"][..], 0), (&["secrets", "rotate"], 1), (&["call", "calculator", "expression=1"], 3)]
    {
        let ran = home.run(words).ended(code);
        assert!(ran.err.contains(&remedy), "{ran:?}");
    }
    let refused = home.run_with_stdin(&["secrets", "set", "NAME"], "another value").ended(1);
    assert!(refused.err.contains(&remedy), "{refused:?}");
    assert_eq!(listed(&home)[0]["opens"], false);
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(blurted(&home, "some value"), "[secret NAME]\n");
}

#[test]
fn without_its_key_nothing_runs_and_no_new_key_is_made() {
    let home = Home::new();
    set(&home, "ONE", "value of one");
    set(&home, "TWO", "value of two");
    let (key, safe) = (home.path().join("master.key"), home.path().join("elsewhere"));
    std::fs::rename(&key, &safe).unwrap();

    let denied = home.run_own(&["call", "blurt", "text=value of one", "--json"]).ended(3);
    assert_eq!(denied.json()["rule"], "secrets.unreadable");
    assert!(!denied.out.contains("value of one"), "{denied:?}");
    let denied = home.run(&["call", "calculator", "expression=1"]).ended(3);
    let remedy = format!("put `{}` back, or set `TOOLROOM_MASTER_KEY`", key.display());
    assert!(denied.err.contains("cause:") && denied.err.contains(&remedy), "{denied:?}");
    assert!(denied.err.contains("toolroom secrets remove NAME"), "{denied:?}");

    let secrets = listed(&home);
    assert_eq!(secrets.len(), 2);
    for secret in &secrets {
        assert_eq!((&secret["opens"], &secret["hidden_exactly"]), (&json!(false), &Value::Null));
        assert!(secret["problem"].as_str().unwrap().contains(&remedy), "{secret}");
    }
    assert!(home.run(&["secrets"]).ended(0).out.contains("ONE  cannot be opened"));
    home.run_with_stdin(&["secrets", "set", "THREE"], "value of three").ended(1);
    home.run_with_stdin(&["secrets", "set", "ONE"], "value of one").ended(1);
    home.run(&["secrets", "rotate"]).ended(1);
    assert!(!key.exists(), "a new key would hide that the old one is lost");

    // Another key is none either, and says which one is needed.
    std::fs::write(&key, "ab".repeat(32)).unwrap();
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    let refused = home.run_with_stdin(&["secrets", "set", "THREE"], "value of three").ended(1);
    assert!(refused.err.contains("sealed with the key"), "{refused:?}");
    assert_eq!(opening(&home), Vec::<String>::new());
    std::fs::rename(&safe, &key).unwrap();
    assert_eq!(opening(&home), ["ONE", "TWO"]);

    // Lost for good: what is gone with it can be removed, and then there is a new beginning.
    std::fs::remove_file(&key).unwrap();
    home.run(&["secrets", "rm", "ONE"]).ended(0);
    home.run(&["secrets", "rm", "TWO"]).ended(0);
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    assert!(set(&home, "ONE", "value of one").err.contains("created a master key"));
}

#[test]
fn what_waits_keeps_a_lost_key_from_being_replaced() {
    let home = Home::new();
    let note = format!("path={}", home.path().join("notes").display());
    home.run_own(&["call", "publish_note", &note, "text=first"]).ended(4);
    std::fs::remove_file(home.path().join("master.key")).unwrap();
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    let denied = home.run_own(&["call", "publish_note", &note, "text=second", "--json"]).ended(3);
    assert_eq!(denied.json()["rule"], "approval.unsealed");
    assert!(!home.path().join("master.key").exists());
    home.run_own(&["approvals", "deny", "last"]).ended(0);
    home.run_own(&["call", "publish_note", &note, "text=third"]).ended(4);
    assert!(home.path().join("master.key").exists());
}

#[test]
fn a_value_is_typed_unseen() {
    let home = Home::new();
    let canary = Canary::new("unseen");
    let mut sitting = Pty::new(80).starts(&home.command(&["secrets", "set", "TYPED"]), Stdout::Pipe);
    sitting.sees("Value of `TYPED` (not shown):");
    sitting.is_listened_to();
    sitting.types(&format!("{}\r", canary.value));
    let left = sitting.leaves().ended(0).shows("characters").shows("Stored `TYPED`");
    canary.is_not_told(&Ran { code: 0, out: left.out, err: left.screen });
    assert_eq!(blurted(&home, &canary.value), "[secret TYPED]\n");

    let mut sitting = Pty::new(80).starts(&home.command(&["secrets", "rotate", "TYPED"]), Stdout::Terminal);
    sitting.sees("(not shown):");
    sitting.is_listened_to();
    sitting.types("half\u{3}");
    sitting.leaves().ended(130);
    let mut sitting = Pty::new(80).starts(&home.command(&["secrets", "set", "EMPTY"]), Stdout::Terminal);
    sitting.sees("(not shown):");
    sitting.is_listened_to();
    sitting.types("\r");
    sitting.leaves().ended(2).shows("the value is empty");
    let mut sitting = Pty::new(200).starts(&home.command(&["secrets", "set", "PEM"]), Stdout::Terminal);
    sitting.sees("(not shown):");
    sitting.is_listened_to();
    sitting.types("-----BEGIN\rKEY\r");
    sitting.leaves().ended(2).shows("`toolroom secrets set PEM < FILE`");
    assert_eq!(opening(&home), ["TYPED"]);
    assert_eq!(blurted(&home, &canary.value), "[secret TYPED]\n", "it kept its value");
}

#[test]
fn the_key_may_come_from_the_environment() {
    let home = Home::new();
    let (old, new) = ("0f".repeat(32), "f0".repeat(32));
    let run = |words: &[&str], variables: &[(&str, &str)], stdin: &str| {
        let mut command = home.command(words);
        let mut child = command.envs(variables.iter().copied()).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
        ran(child.wait_with_output().unwrap())
    };
    let (before, both) = (
        [("TOOLROOM_MASTER_KEY", old.as_str())],
        [("TOOLROOM_MASTER_KEY", old.as_str()), ("TOOLROOM_NEW_MASTER_KEY", new.as_str())],
    );
    let after = [("TOOLROOM_MASTER_KEY", new.as_str())];
    let kept = run(&["secrets", "set", "ONE"], &before, "value of one").ended(0);
    assert!(!kept.err.contains("master key"), "none was made: {kept:?}");
    run(&["secrets", "set", "TWO"], &before, "value of two").ended(0);
    assert!(!home.path().join("master.key").exists());
    assert!(listed(&home).iter().all(|secret| secret["opens"] == false));

    let refused = run(&["secrets", "rotate"], &before, "").ended(1);
    assert!(refused.err.contains("set `TOOLROOM_NEW_MASTER_KEY`"), "{refused:?}");
    let between = run(&["secrets", "set", "THREE"], &both, "value of three").ended(1);
    assert!(between.err.contains("finish it with `toolroom secrets rotate`"), "{between:?}");
    for _ in 0..2 {
        let changed = run(&["secrets", "rotate"], &both, "").ended(0);
        let says = "Set `TOOLROOM_MASTER_KEY` to the value of `TOOLROOM_NEW_MASTER_KEY`, and unset";
        assert!(changed.err.contains(says), "{changed:?}");
    }
    let opens = |variables| {
        let listed = run(&["secrets", "--json"], variables, "").ended(0).json();
        listed.as_array().unwrap().iter().all(|secret| secret["opens"] == true)
    };
    assert!(opens(&after) && opens(&both) && !opens(&before));
    let text = run(&["secrets"], &before, "").ended(0).err;
    assert!(text.contains("`TOOLROOM_MASTER_KEY` holds"), "{text}");
    for key in [&old, &new] {
        assert!(!text.contains(key.as_str()));
    }
    let refused = run(&["backup", "create", "b.tar", "--with-key"], &after, "").ended(2);
    assert!(refused.err.contains("comes from `TOOLROOM_MASTER_KEY`"), "{refused:?}");
}
