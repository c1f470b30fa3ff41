//! Programs that turn against their supervisor.

use std::process::Command;
use std::time::Duration;

use toolroom_host::process::{Cause, OutputStream, ProcessError};

use super::{BOUND, Bench, until, zombies};

#[tokio::test]
async fn who_kills_the_helper_dies_and_it_is_told() {
    let bench = Bench::new();
    let script = "sleep 600 & (sleep 600 &) ; kill -KILL $PPID; sleep 600";
    let ended = bench.run(bench.shell(script)).await;
    assert!(matches!(ended, Err(ProcessError::HelperLost)), "{ended:?}");
    until(BOUND, || bench.alive().is_empty()).await;
    until(BOUND, || zombies() == 0).await;
}

#[tokio::test]
async fn no_other_signal_impresses_the_helper() {
    let bench = Bench::new();
    let script = "for signal in HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN CONT CHLD; do kill -$signal $PPID; done; echo on";
    let ended = bench.run(bench.shell(script)).await.unwrap();
    assert_eq!((ended.stdout.text(100).as_str(), ended.cause), ("on\n", Cause::Itself));
}

#[tokio::test]
async fn who_stops_the_helper_is_ended_from_outside() {
    let bench = Bench::new();
    let script =
        "setsid sleep 600 & (sleep 600 &); read go < gate; kill -STOP $PPID; echo stopped; sleep 600";
    assert!(Command::new("mkfifo").arg(bench.path().join("gate")).status().unwrap().success());
    let mut order = bench.shell(script);
    order.grace = Duration::ZERO;
    let running = bench.supervisor.start(order).await.unwrap();
    std::fs::write(bench.path().join("gate"), "go\n").unwrap();
    until(BOUND, || running.output(OutputStream::Stdout).total_bytes() > 0).await;
    running.stop();
    let ended = running.wait().await;
    assert!(matches!(ended, Err(ProcessError::HelperLost)), "{ended:?}");
    assert_eq!((bench.alive(), zombies()), (Vec::new(), 0));
}

#[tokio::test]
async fn who_stops_the_helper_at_once_is_ended_from_outside_too() {
    let bench = Bench::new();
    // Whether the helper could still say that the program runs is a matter of luck.
    let started = bench.supervisor.start(bench.shell("setsid sleep 600 & kill -STOP $PPID; sleep 600")).await;
    drop(started);
    until(2 * BOUND, || bench.alive().is_empty() && zombies() == 0).await;
}

#[tokio::test]
async fn a_signal_to_its_group_does_not_reach_the_helper() {
    let bench = Bench::new();
    let ended = bench.run(bench.shell("kill -KILL 0")).await.unwrap();
    assert_eq!(ended.status, toolroom_host::process::Status::Signalled(9));
}
