//! Another process swaps folders and links while a path is followed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolroom_host::files::{FileError, Parents, Workspace};

use super::{CANARY, Ground, MARK, names_in};
use crate::scale::scaled;

/// How long each operation is attacked; a minute in `make test-long`.
fn span() -> Duration {
    Duration::from_secs(u64::from(scaled(2)).min(60))
}

fn swap(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

/// Tries `operate` again and again while `dir` and a link out of the workspace change places, and `file.txt` and a link
/// to a file outside.
fn attack(with_links: bool, operate: impl Fn(&Ground, &Workspace) -> Result<(), FileError>) {
    let ground = Ground::in_memory();
    ground.link("evil", "../outside");
    ground.link("evil.txt", "../outside/canary.txt");
    std::fs::write(ground.inside("dir/canary.txt"), "inside\n").unwrap();
    let space = if with_links { ground.workspace() } else { ground.workspace().without_links() };
    let is_over = AtomicBool::new(false);
    let (mut done, mut refused) = (0_u64, 0_u64);
    let swaps = thread::scope(|scope| {
        let attacker = scope.spawn(|| {
            let mut swaps = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                swap(&ground.inside("dir"), &ground.inside("evil"));
                swap(&ground.inside("file.txt"), &ground.inside("evil.txt"));
                swaps += 2;
            }
            swaps
        });
        let start = Instant::now();
        let mut last = Ok(());
        while start.elapsed() < span() && last.is_ok() {
            // A failed check must not leave the attacker running.
            last =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match operate(&ground, &space) {
                    Ok(()) => done += 1,
                    Err(_) => refused += 1,
                }));
        }
        is_over.store(true, Ordering::Relaxed);
        let swaps = attacker.join().unwrap();
        assert!(last.is_ok());
        swaps
    });
    ground.assert_untouched("after the race");
    assert!(swaps > 1_000 && done > 0 && refused > 0, "{swaps} swaps, {done} done, {refused} refused");
}

fn read(_: &Ground, space: &Workspace) -> Result<(), FileError> {
    let one = space.read("dir/canary.txt").inspect(|text| assert_eq!(text, "inside\n"));
    let two = space.read("file.txt").inspect(|text| assert!(!text.contains(CANARY)));
    one.and(two).map(drop)
}

fn write(ground: &Ground, space: &Workspace) -> Result<(), FileError> {
    let one = space.write("dir/new.txt", b"new", Parents::MustExist);
    let two = space.write("dir/deep/new.txt", b"new", Parents::Create);
    let three = space.write("dir/canary.txt", b"inside\n", Parents::MustExist);
    assert_eq!(names_in(&ground.outside()).len(), 2);
    one.and(two).and(three).map(drop)
}

fn list(_: &Ground, space: &Workspace) -> Result<(), FileError> {
    let listing = space.list("dir", 100)?;
    assert!(listing.entries.iter().all(|entry| entry.name != MARK));
    Ok(())
}

#[test]
fn no_swap_makes_reading_lead_out() {
    attack(true, read);
}

#[test]
fn no_swap_makes_reading_lead_out_without_openat2() {
    attack(false, read);
}

#[test]
fn no_swap_makes_writing_lead_out() {
    attack(true, write);
}

#[test]
fn no_swap_makes_writing_lead_out_without_openat2() {
    attack(false, write);
}

#[test]
fn no_swap_makes_listing_lead_out() {
    attack(true, list);
}

#[test]
fn no_swap_makes_listing_lead_out_without_openat2() {
    attack(false, list);
}
