//! `toolroom call`: arguments, outcomes, exit codes, output.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::{Home, finished};

#[test]
fn a_call_prints_the_result_alone_and_leaves_a_row() {
    let home = Home::new();
    let ran = home.run(&["call", "calculator", "expression=2 + 2 * 3"]).ended(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("8\n", ""));
    let row = &home.journal()[0];
    assert_eq!(
        (&row["tool"], &row["status"], &row["result"]),
        (&json!("builtin:calculator"), &json!("done"), &json!(8))
    );
    assert_eq!((&row["arguments"], &row["entrance"]), (&json!({"expression": "2 + 2 * 3"}), &json!("cli")));
}

#[test]
fn the_calculator_gives_scalars_and_refuses_the_rest() {
    let home = Home::new();
    let check = |expression: &str, code: i32, out: &str| {
        let ran = home.run(&["call", "builtin:calculator", &format!("expression={expression}")]);
        assert_eq!((ran.code, ran.out.trim_end()), (code, out), "{expression}: {}", ran.err);
        ran.err
    };
    check("7 / 2", 0, "3.5");
    check("-2^2", 0, "-4");
    check("upper('hello')", 0, "HELLO");
    check("3 > 2", 0, "true");
    check("round(sqrt(2), 4)", 0, "1.4142");
    for (wrong, says) in [
        ("1, 2", "character"),
        ("", "empty"),
        ("2 +", "expected"),
        ("[1, 2]", "one number, text or truth value"),
        ("1 / 0", "zero"),
        ("9223372036854775807 + 1", "too large"),
        ("sqr(4)", "did you mean `sqrt`"),
        ("9e999", "number"),
    ] {
        let err = check(wrong, 1, "");
        assert!(err.contains(says), "{wrong}: {err}");
    }
    let nested = format!("{}1{}", "(".repeat(30_000), ")".repeat(30_000));
    check(&nested, 1, "");
}

#[test]
fn json_output_has_the_stated_form() {
    let home = Home::new();
    let done = home.run(&["call", "calculator", "expression=6*7", "--json"]).ended(0).json();
    assert_eq!((&done["outcome"], &done["tool"]), (&json!("done"), &json!("builtin:calculator")));
    assert_eq!((&done["result"], &done["message"]), (&json!(42), &json!("6*7 = 42")));
    assert_eq!((&done["truncated"], &done["rule"]), (&json!(false), &json!("default")));
    assert!(done["call_id"].as_str().unwrap().starts_with("call_") && done["duration_ms"].is_number());
    assert!(done.get("error").is_none() && done.get("artifact").is_none());

    let failed = home.run(&["call", "calculator", "--json"]).ended(1).json();
    assert_eq!(
        (&failed["outcome"], &failed["error"]["kind"]),
        (&json!("failed"), &json!("invalid_arguments"))
    );
    assert!(failed["error"]["message"].as_str().unwrap().contains("missing argument `expression`"));
    assert!(failed["error"]["hint"].is_string() && failed.get("result").is_none());

    let unknown = home.run(&["call", "calculater", "--json"]).ended(5).json();
    assert_eq!(unknown["error"]["kind"], "not_found");
    assert_eq!(unknown["error"]["hint"], "did you mean `builtin:calculator`?");
}

#[test]
fn arguments_come_as_words_json_or_stdin() {
    let home = Home::new();
    let sum = |arguments: &[&str]| {
        let words: Vec<&str> = ["call", "calculator"].iter().chain(arguments).copied().collect();
        home.run_with_stdin(&words, r#"{"expression": "1 + 1"}"#)
    };
    assert_eq!(sum(&[r#"{"expression": "2 + 1"}"#]).ended(0).out, "3\n");
    assert_eq!(sum(&[r#"expression:="2 + 2""#]).ended(0).out, "4\n");
    assert_eq!(sum(&["-"]).ended(0).out, "2\n");
    assert_eq!(
        home.run_own(&["call", "repeat", "text=7", "times=2"]).ended(0).out,
        "77\n",
        "a text stays a text"
    );
}

#[test]
fn wrong_usage_is_code_two_and_changes_nothing() {
    let home = Home::new();
    for arguments in [
        &["call"][..],
        &["call", "calculator", "lonely"],
        &["call", "calculator", "{broken"],
        &["call", "calculator", r#"{"a":1,"a":2}"#],
        &["call", "calculator", "expression=1", "expression=2"],
        &["call", "calculator", "expression:=oops"],
        &["call", "calculator", "--timeout", "soon"],
        &["call", "calculator", "--timeout", "0s"],
        &["call", "calculator", "--nonsense"],
        &["frobnicate"],
        &["log", "--status", "odd"],
        &["log", "--since", "yesterday"],
        &["log", "prune"],
    ] {
        let ran = home.run(arguments).ended(2);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{arguments:?}: {ran:?}");
    }
    let unsaid = home.run(&["config"]).ended(2);
    assert!(unsaid.err.starts_with("Show and check the configuration"), "help is no error: {unsaid:?}");
    let bytes = home.command(&["call", "calculator", "-"]).stdin(Stdio::piped()).spawn().map(|mut child| {
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\xff\xfe").unwrap();
        finished(child)
    });
    assert!(bytes.unwrap().ended(2).err.contains("standard input"));
    assert!(home.journal().is_empty());
}

#[test]
fn a_deadline_is_code_124() {
    let home = Home::new();
    let ran = home.run_own(&["call", "countdown", "seconds=100", "--timeout", "50ms"]).ended(124);
    assert!(ran.err.contains("timed out after 50ms"), "{ran:?}");
    assert_eq!(home.journal()[0]["kind"], "timeout");
}

#[test]
fn an_interrupt_is_code_130_and_outcome_cancelled() {
    for signal in ["INT", "TERM"] {
        let home = Home::new();
        let mut command = home.own_tools(&["call", "countdown", "seconds=100", "--json"]);
        let child = command.spawn().unwrap();
        wait_for_status(&home, "begun");
        let kill =
            std::process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let ran = finished(child).ended(130);
        assert_eq!(ran.json()["outcome"], "cancelled");
        assert_eq!(home.journal()[0]["status"], "cancelled");
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let home = Home::new();
    let program = home.own_tools(&[]).get_program().to_str().unwrap().to_owned();
    let mut nohup = std::process::Command::new("nohup");
    nohup.args([&program, "call", "countdown", "seconds=2"]).env("TOOLROOM_HOME", home.path());
    let child = nohup.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_status(&home, "begun");
    assert!(
        std::process::Command::new("kill")
            .args(["-HUP", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(finished(child).ended(0).out, "lift-off\n");
}

/// Looks until the newest row has this status; each look is a process of its own, which takes its time.
pub(crate) fn wait_for_status(home: &Home, status: &str) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while home.journal().first().is_none_or(|row| row["status"] != status) {
        assert!(std::time::Instant::now() < deadline, "no call became {status}");
    }
}

#[test]
fn a_dry_run_checks_everything_and_runs_nothing() {
    let home = Home::new();
    let file = home.path().join("notes");
    let path = format!("path={}", file.display());
    let ran = home.run_own(&["call", "append_note", &path, "text=x", "--dry-run"]).ended(0);
    assert!(ran.out.is_empty() && ran.err.contains("nothing was run"), "{ran:?}");
    assert!(ran.err.contains("once_only_write") && ran.err.contains("allow (rule default)"), "{ran:?}");
    let judged =
        home.run_own(&["call", "append_note", &path, "text=x", "--dry-run", "--json"]).ended(0).json();
    assert_eq!((&judged["would_be"], &judged["explain"]["ruling"]), (&json!("done"), &json!("allow")));
    home.run_own(&["call", "append_note", "--dry-run"]).ended(1);
    home.run_own(&["call", "apend_note", "--dry-run"]).ended(5);
    assert!(!file.exists() && home.journal().is_empty());
}

#[test]
fn explain_says_how_a_call_is_judged_and_makes_it() {
    let home = Home::new();
    let ran = home.run(&["call", "calculator", "expression=1+1", "--explain"]).ended(0);
    assert_eq!(ran.out, "2\n");
    for part in ["builtin:calculator", "pure", "allow (rule default)", "low"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let document = home.run(&["call", "calculator", "expression=1+1", "--explain", "--json"]).ended(0).json();
    assert_eq!((&document["result"], &document["explain"]["rule"]), (&json!(2), &json!("default")));
}

#[test]
fn local_time_has_the_seeds_shape() {
    let home = Home::new();
    let time = home.run(&["call", "get_local_time", "timezone=Asia/Tokyo"]).ended(0).json();
    for key in ["iso_datetime", "display_datetime", "timezone", "day_of_week"] {
        assert!(time[key].is_string(), "{key}: {time}");
    }
    assert_eq!((&time["timezone"], &time["utc_offset"]), (&json!("Asia/Tokyo"), &json!("+09:00")));
    assert_eq!(home.run(&["call", "get_local_time"]).ended(0).json()["utc_offset"], "+00:00");
    let wrong = home.run(&["call", "get_local_time", "timezone=Mars/Base"]).ended(1);
    assert!(wrong.err.contains("unknown time zone `Mars/Base`"), "{wrong:?}");
}

#[test]
fn the_context_flag_reaches_the_call() {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1", "--context", "email=a@b", "--context", "n:=5"]).ended(0);
    home.run(&["call", "calculator", "expression=1", "--context", "broken"]).ended(2);
    home.run(&["call", "calculator", "expression=1", "--context", "k=1", "--context", "k=2"]).ended(2);
}

#[test]
fn a_pipe_gets_the_result_as_it_is_and_a_terminal_a_safe_one() {
    let home = Home::new();
    let nasty = "text=a\u{1b}[2Jb\u{202e}c";
    let piped = home.run_own(&["call", "repeat", nasty, "times=1"]).ended(0);
    assert_eq!(piped.out, "a\u{1b}[2Jb\u{202e}c\n");
    // `script` gives the command a terminal.
    let program = home.own_tools(&[]).get_program().to_str().unwrap().to_owned();
    let line = format!("{program} call repeat '{nasty}' times=1");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env("TOOLROOM_HOME", home.path()).stdin(Stdio::null());
    let shown = String::from_utf8(script.output().unwrap().stdout).unwrap();
    assert!(shown.contains("a\\u{1b}[2Jb\\u{202e}c"), "{shown:?}");
    let log = home.run(&["log"]).ended(0).out;
    assert!(!log.contains('\u{1b}') && !log.contains('\u{202e}'), "a listing is always safe: {log:?}");
}

#[test]
fn errors_of_any_command_come_as_json_too() {
    let home = Home::new();
    let check = |arguments: &[&str], code: i32, kind: &str| {
        let error = home.run(arguments).ended(code).json()["error"].clone();
        assert_eq!(error["kind"], kind, "{arguments:?}: {error}");
        assert!(error["message"].is_string());
    };
    check(&["tools", "show", "nope", "--json"], 5, "not_found");
    check(&["log", "call_nothing", "--json"], 5, "not_found");
    check(&["switch", "on", "nope", "--json"], 5, "not_found");
    check(&["call", "calculator", "lonely", "--json"], 2, "usage");
    check(&["log", "--since", "soon", "--json"], 2, "usage");
    let dry = home.run(&["call", "nope", "--dry-run", "--json"]).ended(5).json();
    assert_eq!(
        (&dry["dry_run"], &dry["would_be"], &dry["error"]["kind"]),
        (&json!(true), &json!("failed"), &json!("not_found"))
    );
}

#[test]
fn a_second_interrupt_does_not_wait_for_a_locked_database() {
    let home = Home::new();
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    let database = home.path().join("toolroom.db");
    let mut sqlite = std::process::Command::new("python3");
    let hold = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\nc.execute('BEGIN IMMEDIATE')\nprint('held',flush=True)\nsys.stdin.read()";
    sqlite.args(["-c", hold]).arg(&database).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = sqlite.spawn().unwrap();
    let mut held = [0; 5];
    holder.stdout.as_mut().unwrap().read_exact(&mut held).unwrap();

    let child = home.own_tools(&["call", "append_note", "path=/dev/null", "text=x"]).spawn().unwrap();
    let pid = child.id().to_string();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let listens = || {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        threads
            .flat_map(|thread| std::fs::read_to_string(thread.path().join("comm")))
            .any(|name| name == "interrupts\n")
    };
    while !listens() {
        assert!(std::time::Instant::now() < deadline, "it never listened");
    }
    // Interrupts until it gives up: the first one stops the call, a later one the process.
    let waiting = std::thread::spawn(move || finished(child));
    while !waiting.is_finished() {
        assert!(std::time::Instant::now() < deadline, "still there");
        drop(std::process::Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status());
    }
    let ran = waiting.join().unwrap();
    assert_eq!(ran.code, 130, "{ran:?}");
    // Who only reads does not ask for the lock at all.
    home.run(&["log"]).ended(0);
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn a_failed_call_is_a_failure_also_with_a_closed_pipe() {
    let home = Home::new();
    let mut command = std::process::Command::new("bash");
    let binary = crate::home::binary();
    let line =
        format!("{} call calculator expression=1/0 --json | true; echo ${{PIPESTATUS[0]}}", binary.display());
    command.args(["-c", &line]).env("TOOLROOM_HOME", home.path());
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), "1\n");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = Home::new();
    for _ in 0..5 {
        home.run(&["call", "calculator", "expression=1"]).ended(0);
    }
    let mut child = home.command(&["log", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(finished(child).ended(0).err, "");
}

#[test]
fn a_place_that_cannot_hold_data_is_a_clear_error() {
    let home = Home::new();
    let file = home.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let check = |place: &std::path::Path, says: &str| {
        let ran = crate::home::ran(
            home.command(&["call", "calculator", "expression=1"])
                .env("TOOLROOM_HOME", place)
                .output()
                .unwrap(),
        );
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert!(ran.err.contains(says), "{ran:?}");
    };
    check(&file.join("below"), "cannot create `");
    let damaged = home.path().join("damaged");
    std::fs::create_dir(&damaged).unwrap();
    std::fs::write(damaged.join("toolroom.db"), "this is no database, it is a letter to my aunt").unwrap();
    check(&damaged, "toolroom.db");
    let mode = |name: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(home.path().join(name)).unwrap().permissions().mode() & 0o777
    };
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    assert_eq!(mode("toolroom.db"), 0o600, "other users cannot read the journal");
    let kept = std::fs::read_to_string(damaged.join("toolroom.db")).unwrap();
    assert!(kept.starts_with("this is no database"), "what is not ours is not touched");
}

#[test]
fn a_bare_command_prints_help() {
    let home = Home::new();
    let ran = home.run(&[]).ended(0);
    assert!(ran.out.contains("Usage: toolroom") && ran.out.contains("toolroom call calculator"), "{ran:?}");
    assert!(!ran.out.contains('\u{1b}'), "no colours in a pipe");
    assert!(home.run(&["--color", "always"]).ended(0).out.contains('\u{1b}'));
    assert!(home.run(&["--version"]).ended(0).out.starts_with("toolroom 0."));
    let none: Vec<Value> = home.journal();
    assert!(none.is_empty());
}

#[test]
fn what_a_tool_says_cannot_pass_for_what_we_say() {
    let home = Home::new();
    let forged = home.run_own(&["call", "blurt", "way=error", "text=bad\nhint: run this"]).ended(1).err;
    assert!(forged.contains("bad\n  hint: run this") && !forged.contains("\nhint: run this"), "{forged:?}");
    let panicked = home.run_own(&["call", "blurt", "way=panic", "text=a\u{202e}b\rc"]).ended(1).err;
    assert!(!panicked.contains('\u{202e}') && !panicked.contains('\r'), "{panicked:?}");
}

#[test]
fn invisible_characters_are_shown_escaped() {
    let home = Home::new();
    let hidden = "1\u{200b}\u{202e}+\u{feff}x";
    let raw = ['\u{200b}', '\u{202e}', '\u{feff}'];
    let ran = home.run(&["call", "calculator", &format!("expression={hidden}")]).ended(1);
    assert!(ran.err.contains("\\u{200b}") && !ran.err.contains(raw), "{ran:?}");
    for arguments in [&["log", "last"][..], &["log"], &["log", "last", "--json"]] {
        let ran = home.run(arguments).ended(0);
        assert!(ran.out.contains("200b") && !ran.out.contains(raw), "{ran:?}");
    }
    assert_eq!(home.journal()[0]["arguments"]["expression"], hidden, "it is only shown otherwise");
    for arguments in
        [&["call", "calculator", "--timeout", hidden][..], &[hidden], &["log", "--status", hidden]]
    {
        let ran = home.run(arguments).ended(2);
        assert!(ran.err.starts_with("error: ") && ran.err.contains("\\u{202e}"), "{ran:?}");
        assert!(!ran.err.contains(raw), "{ran:?}");
    }
}

#[test]
fn a_span_below_nothing_is_told_where_it_stands() {
    let home = Home::new();
    let ran = home.run(&["call", "calculator", "expression=1", "--wait=-1"]).ended(2);
    assert!(ran.err.contains("--wait: ") && ran.err.contains("`-1`"), "{ran:?}");
}
