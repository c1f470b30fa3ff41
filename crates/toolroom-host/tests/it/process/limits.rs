//! Programs that take too much, ended with the reason while the machine stays usable.

use std::time::{Duration, Instant};

use toolroom_host::process::{Cause, Limit, Limits, Status};

use super::{BOUND, Bench};

/// Runs a script that must reach this limit.
async fn reaches(limit: Limit, script: &str, set: impl Fn(&mut Limits)) {
    let bench = Bench::new();
    let mut order = bench.shell(script);
    // None of them takes this long; if one does, the cause tells.
    order.limits.wall = Some(3 * BOUND);
    set(&mut order.limits);
    let began = Instant::now();
    let ended = bench.run(order).await.unwrap();
    assert_eq!(ended.cause, Cause::Limit(limit), "{ended:?}");
    assert_eq!((bench.alive(), ended.survivors), (Vec::new(), 0));
    assert!(began.elapsed() < 2 * BOUND, "{:?}", began.elapsed());
}

#[tokio::test]
async fn burning_processors_ends() {
    let set = |limits: &mut Limits| limits.cpu = Some(Duration::from_millis(300));
    reaches(Limit::Cpu, "while :; do :; done", set).await;
    // Together, and those that are gone count too.
    let script = "burn() { i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; }; while :; do (burn) & (burn); wait; done";
    reaches(Limit::Cpu, script, set).await;
}

#[tokio::test]
async fn eating_memory_ends() {
    let set = |limits: &mut Limits| limits.memory_bytes = Some(100_000_000);
    reaches(
        Limit::Memory,
        "x=0123456789abcdef; while :; do x=$x$x; [ ${#x} -gt 120000000 ] && sleep 600; done",
        set,
    )
    .await;
    // Each of them is small.
    let one = "x=0123456789abcdef; while [ ${#x} -lt 8000000 ]; do x=$x$x; done; sleep 600";
    let script = format!("for n in 1 2 3 4 5 6 7 8 9 10; do sh -c '{one}' & done; wait");
    reaches(Limit::Memory, &script, set).await;
}

#[tokio::test]
async fn allocating_far_too_much_at_once_is_refused_by_the_system() {
    let bench = Bench::new();
    let mut order = bench.order("dd", &["if=/dev/zero", "of=/dev/null", "bs=10G", "count=1"]);
    order.limits.memory_bytes = Some(100_000_000);
    let ended = bench.run(order).await.unwrap();
    assert_eq!(ended.status, Status::Exited(1));
    assert!(ended.stderr.text(1_000).contains("memory exhausted"), "{}", ended.stderr.text(1_000));
}

#[tokio::test]
async fn multiplying_ends() {
    let set = |limits: &mut Limits| limits.processes = Some(60);
    // At most 2^11 processes, should the limit fail.
    let bomb =
        "bomb() { [ $1 -gt 10 ] && exec sleep 600; bomb $(($1 + 1)) & bomb $(($1 + 1)) & wait; }; bomb 0";
    reaches(Limit::Processes, bomb, set).await;
    // Each in a session of its own, so that no group can be killed.
    let file =
        "[ $1 -gt 9 ] && exec sleep 600; setsid sh ./bomb $(($1 + 1)) & setsid sh ./bomb $(($1 + 1)) & wait";
    reaches(Limit::Processes, &format!("echo '{file}' > bomb; sh ./bomb 0"), set).await;
    reaches(Limit::Processes, "while :; do sleep 600 & done", set).await;
}

#[tokio::test]
async fn multiplying_behind_the_back_of_a_program_that_left_ends() {
    let bench = Bench::new();
    let file =
        "[ $1 -gt 9 ] && exec sleep 600; setsid sh ./bomb $(($1 + 1)) & setsid sh ./bomb $(($1 + 1)) & wait";
    let ended = bench.run(bench.shell(&format!("echo '{file}' > bomb; sh ./bomb 0 & exit 3"))).await.unwrap();
    assert_eq!((ended.status, ended.cause, ended.survivors), (Status::Exited(3), Cause::Itself, 0));
    assert_eq!(bench.alive(), Vec::<String>::new());
}

#[tokio::test]
async fn flooding_ends() {
    let set = |limits: &mut Limits| limits.output_bytes = Some(1_000_000);
    reaches(Limit::Output, "while :; do echo 0123456789; done", set).await;
    reaches(Limit::Output, "cat /dev/zero >&2", set).await;
    reaches(Limit::Output, "trap '' TERM; setsid cat /dev/zero & wait", set).await;
}

#[tokio::test]
async fn a_flood_that_is_allowed_is_counted_to_the_byte() {
    let bench = Bench::new();
    let mut order = bench.shell("head -c 50000000 /dev/zero; printf end");
    order.kept_bytes = 1_000;
    let ended = bench.run(order).await.unwrap();
    assert_eq!((ended.status, ended.cause), (Status::Exited(0), Cause::Itself));
    assert_eq!((ended.stdout.total_bytes(), ended.stdout.dropped_bytes()), (50_000_003, 49_999_003));
    let (head, tail) = ended.stdout.ends();
    assert!(head == [0; 500] && tail.ends_with(b"end"));
}

#[tokio::test]
async fn filling_the_disk_ends() {
    let set = |limits: &mut Limits| limits.file_bytes = Some(1_000_000);
    reaches(Limit::FileBytes, "exec cat /dev/zero > file", set).await;
}

#[tokio::test]
async fn descriptors_are_counted_by_the_system() {
    let bench = Bench::new();
    let mut order = bench.shell("ulimit -n; ulimit -n 5000 && echo raised");
    order.limits.open_files = Some(64);
    let ended = bench.run(order).await.unwrap();
    assert_eq!(ended.stdout.text(100), "64\n");
}
