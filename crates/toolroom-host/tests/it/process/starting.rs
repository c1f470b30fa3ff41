//! What a program gets, and how its end is told.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use toolroom_host::process::{Cause, OutputStream, ProcessError, Status};

use super::{BOUND, Bench, until};

#[tokio::test]
async fn codes_and_signals_are_told_exactly() {
    let bench = Bench::new();
    for code in [0, 1, 2, 126, 127, 130, 137, 255] {
        let ended = bench.run(bench.shell(&format!("exit {code}"))).await.unwrap();
        assert_eq!((ended.status, ended.cause), (Status::Exited(code), Cause::Itself));
    }
    for signal in [1, 2, 6, 9, 11, 13, 15] {
        let ended = bench.run(bench.shell(&format!("kill -{signal} $$"))).await.unwrap();
        assert_eq!((ended.status, ended.cause), (Status::Signalled(signal), Cause::Itself));
        assert_eq!((ended.status.code(), ended.survivors), (None, 0));
    }
}

#[tokio::test]
async fn words_arrive_as_they_were_given() {
    let bench = Bench::new();
    let words = ["", " ", "a b", "'", "\"", "$HOME", "*", "-n", "--", "ä€\u{1f980}", "line\nbreak", "\\"];
    let ended = bench.run(bench.order("printf", &[&["%s|"], &words[..]].concat())).await.unwrap();
    assert_eq!(ended.stdout.text(usize::MAX), words.map(|word| format!("{word}|")).concat());
    assert_eq!(ended.status, Status::Exited(0));
}

#[tokio::test]
async fn both_streams_and_the_folder_are_its_own() {
    let bench = Bench::new();
    let ended = bench.run(bench.shell("pwd; echo wrong >&2")).await.unwrap();
    assert_eq!(ended.stdout.text(1_000), format!("{}\n", bench.path().canonicalize().unwrap().display()));
    assert_eq!(ended.stderr.text(1_000), "wrong\n");
}

#[tokio::test]
async fn input_arrives_whole_and_then_ends() {
    let bench = Bench::new();
    let mut order = bench.order("cat", &[]);
    order.input = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    order.kept_bytes = order.input.len();
    let input = order.input.clone();
    let ended = bench.run(order).await.unwrap();
    let (head, tail) = ended.stdout.ends();
    assert!([head, tail].concat() == input, "{} of {}", ended.stdout.total_bytes(), input.len());
    assert_eq!(bench.printed("cat; echo end").await, "end\n");
}

#[tokio::test]
async fn what_cannot_be_started_is_told_and_starts_nothing() {
    let bench = Bench::new();
    let told = |error: ProcessError| {
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        error.to_string() + &source.unwrap_or_default()
    };
    let missing = bench.run(bench.order("no-such-program", &[])).await.unwrap_err();
    assert!(matches!(missing, ProcessError::NotFound { .. }), "{missing}");
    assert_eq!(told(missing), "there is no program `no-such-program`");

    let file = bench.path().join("text");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let text = bench.run(bench.order("./text", &[])).await.unwrap_err();
    assert_eq!(told(text), "`./text` cannot be started: Permission denied (os error 13)");

    let mut order = bench.order("true", &[]);
    order.folder = bench.path().join("missing");
    let folder = bench.run(order).await.unwrap_err();
    assert!(told(folder).contains("missing` cannot be entered: No such file"), "no folder");

    let zero = bench.run(bench.order("echo", &["a\0b"])).await.unwrap_err();
    assert_eq!(told(zero), "`a\u{fffd}b` holds a zero byte, which no program can be given");
    let long = "x".repeat(200_000);
    let long = bench.run(bench.order("echo", &[&long])).await.unwrap_err();
    assert!(told(long).starts_with("an argument is longer than 131071 bytes"));
    let word = "x".repeat(100_000);
    let many = bench.run(bench.order("echo", &[word.as_str(); 20])).await.unwrap_err();
    assert!(told(many).starts_with("the command line is longer than"));

    let nobody = toolroom_host::process::Supervisor::new("/no/helper").start(bench.order("true", &[])).await;
    assert!(told(nobody.unwrap_err()).starts_with("the supervisor `/no/helper` cannot be started"));
    let wrong = toolroom_host::process::Supervisor::new("/bin/false").start(bench.order("true", &[])).await;
    assert!(matches!(wrong, Err(ProcessError::Helper { .. })), "{wrong:?}");
    assert_eq!(bench.alive(), Vec::<String>::new());
}

#[tokio::test]
async fn the_environment_is_clean() {
    let bench = Bench::new();
    // Cargo sets dozens of variables for tests: these are our secrets.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let seen = bench.printed("env").await;
    let names: BTreeSet<&str> = seen.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let known = [
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "MARK", "OLDPWD", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR",
        "TZ", "USER", "_",
    ];
    for name in &names {
        assert!(known.contains(name) || name.starts_with("LC_"), "{name} was passed on");
    }
    assert!(names.contains("PATH") && seen.contains("TERM=dumb"), "{seen}");
    // Nor does the helper, whose environment its children can read, hold any.
    assert_eq!(bench.printed("tr '\\0' '\\n' < /proc/$PPID/environ 2>&1 | grep -c CARGO").await, "0\n");
}

#[tokio::test]
async fn it_has_three_descriptors_a_session_of_its_own_and_no_terminal() {
    let bench = Bench::new();
    let stray = std::fs::File::create(bench.path().join("stray")).unwrap();
    fcntl_setfd(&stray, FdFlags::empty()).unwrap();
    let running = bench.supervisor.start(bench.order("sleep", &["600"])).await.unwrap();
    let proc = |file: &str| std::path::PathBuf::from(format!("/proc/{}/{file}", running.pid()));
    // While it is loaded, its libraries are open, too.
    let open = || std::fs::read_dir(proc("fd")).unwrap().map(|entry| entry.unwrap().file_name());
    let only: BTreeSet<std::ffi::OsString> = ["0", "1", "2"].map(Into::into).into();
    until(BOUND, || open().collect::<BTreeSet<_>>() == only).await;
    let stat = std::fs::read_to_string(proc("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    let own = running.pid().to_string();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!((group, session, terminal), (own.as_str(), own.as_str(), "0"));
    let status = std::fs::read_to_string(proc("status")).unwrap();
    for line in ["NoNewPrivs:\t1", "SigBlk:\t0000000000000000"] {
        assert!(status.contains(line), "{line} is not in {status}");
    }
    let limits = std::fs::read_to_string(proc("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_ascii_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
}

#[tokio::test]
async fn output_can_be_seen_while_it_runs() {
    let bench = Bench::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer = {
        let seen = Arc::clone(&seen);
        move |stream: OutputStream, bytes: &[u8]| seen.lock().unwrap().push((stream, bytes.to_vec()))
    };
    let gate = bench.path().join("gate");
    let order =
        bench.shell("echo first; echo second >&2; until [ -e gate ]; do sleep 0.01; done; echo third");
    let running = bench.supervisor.start_observed(order, observer).await.unwrap();
    until(BOUND, || running.output(OutputStream::Stderr).total_bytes() > 0).await;
    assert_eq!(running.output(OutputStream::Stdout).text(100), "first\n");
    assert!(running.ended().is_none());
    std::fs::File::create(gate).unwrap().flush().unwrap();
    let (one, two) = tokio::join!(running.wait(), running.wait());
    assert_eq!(one.unwrap().stdout.text(100), "first\nthird\n");
    assert_eq!(two.unwrap().stderr.text(100), "second\n");
    assert!(running.ended().is_some());
    let seen = seen.lock().unwrap();
    let stderr: Vec<u8> = seen
        .iter()
        .filter(|(stream, _)| *stream == OutputStream::Stderr)
        .flat_map(|(_, bytes)| bytes.clone())
        .collect();
    assert_eq!(stderr, b"second\n");
}

#[tokio::test]
async fn what_it_took_is_told() {
    let bench = Bench::new();
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.3 & sleep 0.3 & wait";
    let ended = bench.run(bench.shell(script)).await.unwrap();
    let usage = ended.usage;
    assert!(usage.wall >= Duration::from_millis(300) && usage.wall < BOUND, "{usage:?}");
    assert!(usage.cpu > Duration::ZERO && usage.cpu < BOUND, "{usage:?}");
    assert!(usage.peak_memory_bytes > 100_000 && usage.peak_processes == 3, "{usage:?}");
}
