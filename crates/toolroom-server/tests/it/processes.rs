//! Finds processes and waits for conditions.

use std::time::{Duration, Instant};

/// Timeout of [`until`], long enough for a slow machine.
const BOUND: Duration = Duration::from_secs(30);

/// The processes whose command line contains `mark`.
pub(crate) fn marked(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let words = entries.filter_map(|folder| std::fs::read(folder.join("cmdline")).ok());
    words
        .map(|words| String::from_utf8_lossy(&words).replace('\0', " "))
        .filter(|words| words.contains(mark))
        .collect()
}

#[track_caller]
pub(crate) fn until(is_true: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < BOUND, "not true in time");
        std::thread::yield_now();
    }
}
