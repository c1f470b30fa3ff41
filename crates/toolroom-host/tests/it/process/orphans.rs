//! The end of a program's parent, in every way.

use std::process::{Child, Command, Stdio};

use super::{BOUND, Bench, helper, rounds, until};

const SCRIPT: &str = "setsid sh -c 'trap \"\" TERM HUP; sleep 600 & sleep 600' & (sleep 600 &); sleep 600";

/// A process that has a script run.
fn parent(bench: &Bench, script: &str) -> Child {
    let mut command = Command::new(helper());
    command.arg(bench.path()).args(["sh", "-c", script]).env("MARK", &bench.mark);
    if let Some(level) = Bench::level() {
        command.env("CONFINED", level.name());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[tokio::test]
async fn a_killed_parent_takes_everything_along() {
    for signal in ["-KILL", "-TERM", "-HUP", "-ABRT"] {
        let bench = Bench::new();
        let mut parent = parent(&bench, SCRIPT);
        // The shells and sleeps, and the parent, which has the mark too.
        bench.until_alive(6).await;
        let killed = Command::new("kill").args([signal, &parent.id().to_string()]).status().unwrap();
        assert!(killed.success());
        parent.wait().unwrap();
        until(BOUND, || bench.alive().is_empty()).await;
    }
}

#[tokio::test]
async fn a_parent_killed_at_any_moment_leaves_nothing() {
    for round in 0..rounds(40) {
        let bench = Bench::new();
        let mut parent = parent(&bench, SCRIPT);
        // A little later each round: looking takes about as long as a step of the start.
        (0..round % 40).for_each(|_| drop(bench.alive()));
        parent.kill().unwrap();
        parent.wait().unwrap();
        until(BOUND, || bench.alive().is_empty()).await;
    }
}

#[tokio::test]
async fn a_program_whose_parent_was_killed_may_tidy_up() {
    let bench = Bench::new();
    // Its output is not read any more, and a shell reports which of its children were ended.
    let script =
        "exec 2> /dev/null; trap 'echo tidy > tidied; exit' TERM; echo > ready; while :; do sleep 0.01; done";
    let mut parent = parent(&bench, script);
    until(BOUND, || bench.path().join("ready").exists()).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(BOUND, || bench.alive().is_empty()).await;
    assert_eq!(std::fs::read_to_string(bench.path().join("tidied")).unwrap(), "tidy\n");
}
