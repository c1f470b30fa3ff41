//! Acknowledges rows of calls without side effects once they are in the write-ahead file. The file survives `kill -9`; the
//! next process replays it. The writer commits its rows in batches, so callers do not wait for the database. Rows of calls
//! with side effects never take this path.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::sqlite::call_row::CallRow;
use crate::{PART_BYTES, WriteAheadFile};

/// Longer rows wait for the database.
const MAX_ROW_BYTES: usize = 64 * 1024;

/// The writer starts a transaction as soon as this many rows are pending.
pub(super) const BATCH_ROWS: usize = 1_000;

thread_local! {
    /// Buffer in which a row is serialized before the lock is taken.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The write-ahead rows of this process.
#[derive(Debug)]
pub(super) struct WriteAhead {
    file: Arc<dyn WriteAheadFile>,
    /// Wakes the writer when a batch is full.
    wakeup: Arc<Notify>,
    parts: Mutex<Parts>,
    /// Pending rows of both parts.
    pending: AtomicUsize,
    /// A waiter timed out. Later waiters return at once until the next commit.
    is_stalled: AtomicBool,
}

#[derive(Debug, Default)]
struct Parts {
    /// Index of the part that new rows go to.
    current: usize,
    parts: [Part; 2],
    /// No appends until the database has caught up.
    backpressure: bool,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Part {
    /// Rows that are not in the database yet.
    pending: usize,
    bytes: usize,
    state: PartState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum PartState {
    #[default]
    Empty,
    Lines,
    /// The last append was partial; the part accepts no rows until it is truncated.
    Torn,
}

/// The part of the file that holds an acknowledged row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(usize);

impl WriteAhead {
    pub(super) fn new(file: Arc<dyn WriteAheadFile>, wakeup: Arc<Notify>) -> Self {
        Self {
            file,
            wakeup,
            parts: Mutex::default(),
            pending: AtomicUsize::new(0),
            is_stalled: AtomicBool::new(false),
        }
    }

    /// Appends a row. `None` if the file does not take it now: the caller then waits for the database.
    pub(super) fn append(&self, row: &CallRow<'_>) -> Option<Slot> {
        LINE.with_borrow_mut(|line| {
            line.clear();
            let slot = if row.write_line(line, MAX_ROW_BYTES) { self.append_line(line) } else { None };
            if line.capacity() > MAX_ROW_BYTES {
                *line = Vec::new();
            }
            slot
        })
    }

    fn append_line(&self, line: &[u8]) -> Option<Slot> {
        let mut parts = self.parts();
        let Parts { current, parts, backpressure, is_closed } = &mut *parts;
        let part = parts.get_mut(*current)?;
        let bytes = part.bytes + line.len();
        if *backpressure || *is_closed || part.state == PartState::Torn || bytes > PART_BYTES {
            return None;
        }
        if let Err(error) = self.file.append(*current, line) {
            tracing::warn!("write-ahead file rejected a row; falling back to synchronous commits: {error}");
            part.state = PartState::Torn;
            return None;
        }
        *part = Part { pending: part.pending + 1, bytes, state: PartState::Lines };
        let before = self.pending.fetch_add(1, Ordering::Release);
        if before % BATCH_ROWS == BATCH_ROWS - 1 {
            self.wakeup.notify_one();
        }
        Some(Slot(*current))
    }

    /// Releases rows that are in the database, or were rejected by it for good. Truncates parts without pending rows.
    pub(super) fn release(&self, slots: impl Iterator<Item = Slot>) {
        let mut parts = self.parts();
        for Slot(index) in slots {
            self.is_stalled.store(false, Ordering::Relaxed);
            if let Some(part) = parts.parts.get_mut(index) {
                part.pending = part.pending.saturating_sub(1);
                self.pending.fetch_sub(1, Ordering::Release);
            }
        }
        for (index, part) in parts.parts.iter_mut().enumerate() {
            // If truncation fails, a crash replays rows that exist, which changes nothing.
            if part.pending == 0 && part.state != PartState::Empty && self.file.clear(index).is_ok() {
                *part = Part::default();
            }
        }
        let Parts { current, parts: [first, second], .. } = &mut *parts;
        let (used, other) = if *current == 0 { (first, second) } else { (second, first) };
        if used.state != PartState::Empty && other.state == PartState::Empty {
            *current = 1 - *current;
        }
    }

    /// Accepts no more rows.
    pub(super) fn stop_appends(&self) {
        self.parts().is_closed = true;
    }

    /// Closes the file. Rows that are still pending are replayed by the next process.
    pub(super) fn close(&self) {
        self.stop_appends();
        self.file.close();
    }

    pub(super) fn set_backpressure(&self, backpressure: bool) {
        self.parts().backpressure = backpressure;
    }

    /// Whether rows are pending and a commit is expected soon.
    pub(super) fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) > 0 && !self.is_stalled.load(Ordering::Relaxed)
    }

    pub(super) fn mark_stalled(&self) {
        self.is_stalled.store(true, Ordering::Relaxed);
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
