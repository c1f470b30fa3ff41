//! Misbehaving children: nothing is left of them.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use toolroom_host::process::{Cause, Limit, Status};

use super::{BOUND, Bench, descriptors, rounds, until, zombies};

/// Each with the number of processes that are alive once it is under way.
const NASTY: [(&str, &str, usize); 12] = [
    ("plain", "sleep 600", 1),
    ("a chain of programs", "exec sh -c 'exec sh -c \"exec sleep 600\"'", 1),
    ("children", "sleep 600 & sleep 600 & wait", 3),
    ("forks twice", "(sleep 600 & sleep 600 &) & wait; sleep 600", 3),
    ("leaves its session", "setsid sh -c 'sleep 600 & sleep 600' & sleep 600", 4),
    ("leaves twice", "setsid sh -c '(setsid sleep 600 &) ; exec setsid -f sleep 600' & sleep 600", 3),
    ("is deaf", "trap '' TERM INT HUP; sleep 600 & while :; do sleep 0.05; done", 2),
    ("deaf children", "(trap '' TERM; setsid sh -c 'while :; do sleep 0.05; done' &) ; sleep 600", 2),
    ("is stopped", "sleep 600 & kill -STOP $$; sleep 600", 2),
    ("stops its children", "sleep 600 & kill -STOP $!; trap '' TERM; wait; sleep 600", 2),
    ("a storm of children", "while :; do sleep 0.01 & sleep 0.01; done", 2),
    ("talks all the time", "trap 'while :; do echo no; done' TERM; while :; do echo yes; done", 1),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_program_leaves_no_process() {
    // The runtime's own descriptors are opened with the first process.
    let first = Bench::new();
    first.run(first.shell("true")).await.unwrap();
    let before = descriptors();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds(40) as usize {
        let (name, script, count) = NASTY[round % NASTY.len()];
        let bench = Bench::new();
        let cancel = CancellationToken::new();
        let order = bench.shell(script);
        let run = bench.supervisor.run(order, &cancel);
        let cancelled = async {
            // Half of them in full swing, the others somewhere on the way.
            bench.until_alive(if round % 2 == 0 { count } else { 1 }).await;
            cancel.cancel();
            Instant::now()
        };
        let (ended, since) = tokio::join!(run, cancelled);
        let ended = ended.unwrap();
        assert_eq!(bench.alive(), Vec::<String>::new(), "{name}: left behind");
        assert_eq!((ended.cause, ended.survivors), (Cause::Stopped, 0), "{name}");
        slowest = slowest.max(since.elapsed());
    }
    assert!(slowest < BOUND, "{slowest:?}");
    until(BOUND, || zombies() == 0).await;
    until(BOUND, || descriptors() == before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_times_out_leaves_no_process_and_its_output_is_returned() {
    for round in 0..rounds(40) as usize {
        let (name, script, _) = NASTY[round % NASTY.len()];
        let bench = Bench::new();
        let mut order = bench.shell(&format!("echo before; {script}"));
        order.limits.wall = Some(Duration::from_millis(20 + 7 * (round as u64 % 40)));
        order.grace = Duration::from_millis(100);
        let ended = bench.run(order).await.unwrap();
        assert_eq!(bench.alive(), Vec::<String>::new(), "{name}: left behind");
        assert_eq!((ended.cause, ended.survivors), (Cause::Limit(Limit::Wall), 0), "{name}");
        assert!(ended.stdout.text(100).starts_with("before\n"), "{name}: {:?}", ended.stdout.text(100));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_program_leaves_no_process() {
    let before = zombies();
    for (name, script, count) in NASTY {
        let bench = Bench::new();
        let running = bench.supervisor.start(bench.shell(script)).await.unwrap();
        bench.until_alive(count).await;
        drop(running);
        let took = until(BOUND, || bench.alive().is_empty()).await;
        assert!(took < BOUND, "{name} took {took:?}");
    }
    until(BOUND, || zombies() <= before).await;
}

#[tokio::test]
async fn a_start_that_is_given_up_leaves_nothing() {
    let rounds = rounds(20);
    for round in 0..rounds {
        let bench = Bench::new();
        let start = bench.supervisor.start(bench.shell("sleep 600 & sleep 600"));
        // However many there are, they are spread over the time a start takes.
        let moment = Duration::from_millis(6) * round / rounds;
        let given_up = tokio::time::timeout(moment, start).await;
        drop(given_up);
        until(BOUND, || bench.alive().is_empty()).await;
    }
    until(BOUND, || zombies() == 0).await;
}

#[tokio::test]
async fn an_already_cancelled_program_is_not_started() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let ended = bench.supervisor.run(bench.shell("touch there"), &cancel).await;
    assert_eq!(ended.unwrap_err().to_string(), "cancelled before it was started");
    assert!(!bench.path().join("there").exists());
}

#[tokio::test]
async fn a_process_that_holds_the_pipes_open_does_not_delay_the_result() {
    let bench = Bench::new();
    for script in [
        "sleep 600 & echo done",
        "setsid sleep 600 & echo done",
        "(setsid sh -c 'trap \"\" TERM; sleep 600' &); echo done",
    ] {
        let began = Instant::now();
        let ended = bench.run(bench.shell(script)).await.unwrap();
        assert_eq!((ended.status, ended.cause), (Status::Exited(0), Cause::Itself), "{script}");
        assert_eq!(ended.stdout.text(100), "done\n");
        assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
        assert_eq!(bench.alive(), Vec::<String>::new(), "{script}");
    }
}

#[tokio::test]
async fn a_program_may_clean_up_after_sigterm() {
    let bench = Bench::new();
    let mut order = bench.shell("trap 'echo tidy; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    order.grace = BOUND;
    let running = bench.supervisor.start(order).await.unwrap();
    until(BOUND, || running.output(toolroom_host::process::OutputStream::Stdout).total_bytes() > 0).await;
    running.stop();
    running.stop();
    let ended = running.wait().await.unwrap();
    assert_eq!((ended.status, ended.cause), (Status::Exited(7), Cause::Stopped));
    assert_eq!(ended.stdout.text(100), "ready\ntidy\n");
    assert!(ended.usage.wall < BOUND, "the grace is not waited for in vain");
}

#[tokio::test]
async fn a_dropped_program_may_clean_up_without_a_reader() {
    let bench = Bench::new();
    // More than a pipe holds, so it has to be drained.
    let tidy = "head -c 200000 /dev/zero; echo tidy > tidied; exit 7";
    let mut order = bench.shell(&format!("trap '{tidy}' TERM; echo ready; while :; do sleep 0.01; done"));
    order.grace = 2 * BOUND;
    let running = bench.supervisor.start(order).await.unwrap();
    until(BOUND, || running.output(toolroom_host::process::OutputStream::Stdout).total_bytes() > 0).await;
    drop(running);
    until(BOUND, || bench.alive().is_empty()).await;
    assert_eq!(std::fs::read_to_string(bench.path().join("tidied")).unwrap(), "tidy\n");
}

#[tokio::test]
async fn a_program_dropped_while_it_cleans_up_has_only_a_moment() {
    let bench = Bench::new();
    let mut order = bench.shell("trap 'echo deaf' TERM; echo ready; while :; do sleep 0.01; done");
    order.grace = 60 * BOUND;
    let running = bench.supervisor.start(order).await.unwrap();
    let printed = || running.output(toolroom_host::process::OutputStream::Stdout).text(100);
    until(BOUND, || printed() == "ready\n").await;
    running.stop();
    until(BOUND, || printed() == "ready\ndeaf\n").await;
    drop(running);
    until(BOUND, || bench.alive().is_empty()).await;
}
