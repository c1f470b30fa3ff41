//! Programs that take everything, while we go on answering.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use toolroom_host::process::{Cause, Limit, Limits, Order, Status, Supervisor};
use toolroom_host::sandbox::{Level, Profile};

use super::world::own;
use crate::process::bench::{Bench, LANDLOCK, NAMESPACES, sandbox};
use crate::process::{BOUND, helper, until};

/// Runs a script to its end, and another program again and again meanwhile.
async fn ends_by<const CONFINED: u8>(limit: Limit, script: &str, set: impl Fn(&mut Limits)) {
    let bench = Bench::<CONFINED>::new();
    let mut order = bench.order("bash", &["-c", script]);
    order.limits.wall = Some(6 * BOUND);
    set(&mut order.limits);
    let running = bench.supervisor.start(order).await.unwrap();
    loop {
        let answer = Bench::<CONFINED>::new();
        let said = tokio::time::timeout(2 * BOUND, answer.printed("echo here")).await.unwrap();
        assert_eq!(said, "here\n");
        if running.ended().is_some() {
            break;
        }
    }
    let ended = running.wait().await.unwrap();
    assert_eq!((ended.cause, ended.survivors), (Cause::Limit(limit), 0), "{ended:?}");
    until(BOUND, || bench.alive().is_empty()).await;
}

async fn all_end<const CONFINED: u8>() {
    let bomb = "bomb() { bomb | bomb & }; bomb; sleep 600";
    ends_by::<CONFINED>(Limit::Processes, bomb, |limits| limits.processes = Some(200)).await;
    let hoard = "head -c 10G /dev/zero | tail -c 10G | sleep 600";
    ends_by::<CONFINED>(Limit::Memory, hoard, |limits| limits.memory_bytes = Some(200_000_000)).await;
    let flood = "yes & yes >&2 & cat /dev/zero";
    ends_by::<CONFINED>(Limit::Output, flood, |limits| limits.output_bytes = Some(20_000_000)).await;
    let fill = "exec cat /dev/zero > $TMPDIR/file";
    ends_by::<CONFINED>(Limit::FileBytes, fill, |limits| limits.file_bytes = Some(20_000_000)).await;
}

#[tokio::test]
async fn nothing_is_exhausted_from_namespaces() {
    all_end::<NAMESPACES>().await;
}

#[tokio::test]
async fn nothing_is_exhausted_from_behind_landlock() {
    all_end::<LANDLOCK>().await;
}

#[tokio::test]
async fn many_files_do_not_fill_the_memory_behind_the_temporary_folders() {
    let folder = tempfile::TempDir::new().unwrap();
    own(folder.path());
    for place in ["/tmp", "/dev/shm"] {
        let script =
            format!("for n in 1 2 3 4 5 6 7 8 9; do head -c 2000000 /dev/zero > {place}/$n || exit 7; done");
        let mut order = Order::new("bash", folder.path()).with_arguments(["-c", &script]);
        let profile = Profile { temporary_bytes: 8_000_000, ..Profile::workspace(folder.path()) };
        order.confinement = Some(sandbox(Level::Namespaces).confine(&profile).unwrap());
        let ended = Supervisor::new(helper()).run(order, &Default::default()).await.unwrap();
        assert_eq!(ended.status, Status::Exited(7), "{}", ended.stderr.text(1_000));
    }
}

/// What the files in a folder take.
fn taken(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.metadata().map_or(0, |found| found.blocks() * 512)).sum()
}

async fn the_disk_is_not_filled<const CONFINED: u8>() {
    let most = 20_000_000;
    for script in [
        "while :; do i=$((i+1)); head -c 1000000 /dev/zero > $i; done",
        "while :; do head -c 1000000 /dev/zero >> file; done",
        "exec 3<> file; rm file; while :; do head -c 1000000 /dev/zero >&3; done",
        "seq 9000 | xargs touch; exec sleep 600",
        "mkdir p; for i in 1 2 3 4 5 6; do head -c 9000000 /dev/zero > p/$i; done; chmod 000 p; exec sleep 600",
    ] {
        let bench = Bench::<CONFINED>::new();
        let mut order = bench.order("bash", &["-c", script]);
        order.limits.wall = Some(6 * BOUND);
        order.limits.disk_bytes = Some(most);
        let ended = bench.supervisor.run(order, &Default::default()).await.unwrap();
        assert_eq!((ended.cause, ended.survivors), (Cause::Limit(Limit::Disk), 0), "{script}: {ended:?}");
        assert!(taken(bench.path()) < most + 500_000_000, "{script}: {}", taken(bench.path()));
    }
}

#[tokio::test]
async fn the_disk_is_not_filled_from_namespaces() {
    the_disk_is_not_filled::<NAMESPACES>().await;
}

#[tokio::test]
async fn the_disk_is_not_filled_from_behind_landlock() {
    the_disk_is_not_filled::<LANDLOCK>().await;
    let bench = Bench::<LANDLOCK>::new();
    let script = "while :; do i=$((i+1)); head -c 1000000 /dev/zero > $TMPDIR/$i; done";
    let mut order = bench.order("bash", &["-c", script]);
    order.limits.wall = Some(6 * BOUND);
    order.limits.disk_bytes = Some(20_000_000);
    let ended = bench.supervisor.run(order, &Default::default()).await.unwrap();
    assert_eq!(ended.cause, Cause::Limit(Limit::Disk), "{ended:?}");
}

#[tokio::test]
async fn what_a_program_removes_again_does_not_count() {
    let bench = Bench::<LANDLOCK>::new();
    let script = "for i in {1..60}; do head -c 1000000 /dev/zero > file; rm file; done";
    let mut order = bench.order("bash", &["-c", script]);
    order.limits.disk_bytes = Some(20_000_000);
    let ended = bench.supervisor.run(order, &Default::default()).await.unwrap();
    assert_eq!((ended.cause, ended.status), (Cause::Itself, Status::Exited(0)), "{ended:?}");
}
