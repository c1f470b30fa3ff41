//! Rows that are promised before they are written.
//!
//! A call that changed nothing is over when its row is in the inbox, which a process that is killed leaves behind for
//! the next one. So nobody waits for the database, and its rows are written many at a time. What changes something is
//! never promised: it is in the database first.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::inbox::{Inbox, PART_BYTES};
use crate::row::CallRow;

/// Longest row that is promised.
const ROW_BYTES: usize = 64 * 1024;

/// So many rows are worth a transaction of their own: the writer does not wait for more.
pub(super) const ENOUGH: usize = 1_000;

thread_local! {
    /// Where a row is put into words before anybody is kept from promising theirs.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What this process has promised.
#[derive(Debug)]
pub(super) struct Promises {
    inbox: Arc<dyn Inbox>,
    /// Tells the writer that there is enough to write.
    hurry: Arc<Notify>,
    parts: Mutex<Parts>,
    /// Rows that are not yet written; those of both parts.
    open: AtomicUsize,
    /// Somebody has waited in vain for them to be written.
    is_stuck: AtomicBool,
}

#[derive(Debug, Default)]
struct Parts {
    /// Where new rows go.
    current: usize,
    of: [Part; 2],
    /// Nothing more is promised until the database takes what was.
    is_behind: bool,
    /// Nothing more is promised at all.
    is_over: bool,
}

#[derive(Debug, Default)]
struct Part {
    /// Rows in it that are not yet written.
    open: usize,
    bytes: usize,
    content: Content,
}

/// What is in a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Content {
    #[default]
    Nothing,
    Lines,
    /// A line broke off in it: nothing is added before it has been emptied.
    Spoiled,
}

/// A row that was promised: the part of the inbox where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Promise(usize);

impl Promises {
    pub(super) fn new(inbox: Arc<dyn Inbox>, hurry: Arc<Notify>) -> Self {
        Self {
            inbox,
            hurry,
            parts: Mutex::default(),
            open: AtomicUsize::new(0),
            is_stuck: AtomicBool::new(false),
        }
    }

    /// Promises a row. `None` if that cannot be done now: then the database has to take it first.
    pub(super) fn make(&self, row: &CallRow<'_>) -> Option<Promise> {
        LINE.with_borrow_mut(|line| {
            line.clear();
            let promise = if row.write_line(line, ROW_BYTES) { self.add(line) } else { None };
            if line.capacity() > ROW_BYTES {
                *line = Vec::new();
            }
            promise
        })
    }

    fn add(&self, line: &[u8]) -> Option<Promise> {
        let mut parts = self.parts();
        let Parts { current, of, is_behind, is_over } = &mut *parts;
        let part = of.get_mut(*current)?;
        let bytes = part.bytes + line.len();
        if *is_behind || *is_over || part.content == Content::Spoiled || bytes > PART_BYTES {
            return None;
        }
        if let Err(error) = self.inbox.append(*current, line) {
            tracing::warn!("every call waits for the database: the inbox does not take its row: {error}");
            part.content = Content::Spoiled;
            return None;
        }
        *part = Part { open: part.open + 1, bytes, content: Content::Lines };
        let before = self.open.fetch_add(1, Ordering::Release);
        if before % ENOUGH == ENOUGH - 1 {
            self.hurry.notify_one();
        }
        Some(Promise(*current))
    }

    /// These are kept: their rows are in the database, or can never be.
    pub(super) fn keep(&self, kept: impl Iterator<Item = Promise>) {
        let mut parts = self.parts();
        for Promise(part) in kept {
            self.is_stuck.store(false, Ordering::Relaxed);
            if let Some(part) = parts.of.get_mut(part) {
                part.open = part.open.saturating_sub(1);
                self.open.fetch_sub(1, Ordering::Release);
            }
        }
        for (number, part) in parts.of.iter_mut().enumerate() {
            // What cannot be emptied is written twice after a crash, which changes nothing.
            if part.open == 0 && part.content != Content::Nothing && self.inbox.clear(number).is_ok() {
                *part = Part::default();
            }
        }
        let Parts { current, of: [first, second], .. } = &mut *parts;
        let (used, other) = if *current == 0 { (first, second) } else { (second, first) };
        if used.content != Content::Nothing && other.content == Content::Nothing {
            *current = 1 - *current;
        }
    }

    /// Nothing more is promised.
    pub(super) fn stop(&self) {
        self.parts().is_over = true;
    }

    /// What is empty can go. What was promised at the last moment is for the next one.
    pub(super) fn end(&self) {
        self.stop();
        self.inbox.end();
    }

    /// Whether the database does not take what was promised, so that nothing more is.
    pub(super) fn fall_behind(&self, is_behind: bool) {
        self.parts().is_behind = is_behind;
    }

    /// Whether something is not yet written that is worth waiting for.
    pub(super) fn are_open(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0 && !self.is_stuck.load(Ordering::Relaxed)
    }

    /// Somebody has waited in vain. Until something is written, nobody else does.
    pub(super) fn are_stuck(&self) {
        self.is_stuck.store(true, Ordering::Relaxed);
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
