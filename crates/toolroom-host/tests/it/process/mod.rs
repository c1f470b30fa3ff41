//! Programs under the supervisor, judged by what is there and what is gone.

mod attacks;
mod background;
pub(crate) mod bench;
mod ending;
mod limits;
mod orphans;
mod output;
mod shell_endings;
mod shells;
mod starting;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::scale::scaled;

/// What must happen at all happens in this time, however slow the machine.
pub(crate) const BOUND: Duration = Duration::from_secs(10);

/// How often something is ended at one moment or another; five hundred times in `make test-long`.
pub(crate) fn rounds(base: u32) -> u32 {
    scaled(base).min(500)
}

type Bench = bench::Bench<{ bench::BARE }>;

/// Cargo builds a package's examples together with its tests.
pub(crate) fn helper() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.parent().and_then(Path::parent).unwrap().join("examples/supervised");
    assert!(path.exists(), "{} is missing: `cargo build -p toolroom-host --examples`", path.display());
    path
}

/// The processes with this mark in their environment. The dead that wait to be reaped have none.
pub(crate) fn alive(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let has_mark = |folder: &PathBuf| {
        let environ = std::fs::read(folder.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|variable| variable == format!("MARK={mark}").as_bytes())
    };
    let said = |folder: PathBuf| {
        let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        format!("{} {}", folder.display(), String::from_utf8_lossy(&words).replace('\0', " "))
    };
    entries.filter(has_mark).map(said).collect()
}

/// Waits for something to come true, and gives how long it took.
#[track_caller]
pub(crate) fn until(bound: Duration, is_true: impl Fn() -> bool) -> impl Future<Output = Duration> {
    let asked_by = std::panic::Location::caller();
    async move {
        let began = Instant::now();
        while !is_true() {
            assert!(began.elapsed() < bound, "not true within {bound:?}: {asked_by}");
            tokio::task::yield_now().await;
        }
        began.elapsed()
    }
}

/// Zombie children of this process.
pub(crate) fn zombies() -> usize {
    let pid = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path().join("stat"));
    let stats = entries.filter_map(|stat| std::fs::read_to_string(stat).ok());
    let is_ours = |stat: &String| {
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
        fields[0] == "Z" && fields[1] == pid
    };
    stats.filter(is_ours).count()
}

/// What this process has open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
