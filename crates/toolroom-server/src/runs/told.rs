//! What several watchers are told: kept once, and if it is large also written once, however many of them there are.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use toolroom::clock::Timestamp;
use toolroom::conversation::{NumberedEvent, RunId};

/// What is shorter is written anew for each of them: most of it is read at once, and kept for longer.
const WORTH_KEEPING: usize = 4 * 1024;

/// Something to be told.
#[derive(Debug)]
pub(crate) struct Told<T> {
    what: T,
    written: OnceLock<Bytes>,
}

impl<T> Told<T> {
    pub(super) fn new(what: T) -> Arc<Self> {
        Arc::new(Self { what, written: OnceLock::new() })
    }

    /// What it looks like when it is written, which has to be the same for everybody.
    pub(crate) fn written(&self, write: impl FnOnce(&T) -> Bytes) -> Bytes {
        if let Some(written) = self.written.get() {
            return written.clone();
        }
        let written = write(&self.what);
        match written.len() < WORTH_KEEPING {
            true => written,
            // Of two who write at once one keeps what the other wrote.
            false => self.written.get_or_init(|| written).clone(),
        }
    }
}

impl<T> Deref for Told<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

/// What is being told out of the store: whoever reads the same later is given the same copy.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<Copies>);

#[derive(Debug, Default)]
struct Copies {
    /// By run, number and time: a number is given away anew when its event was not kept.
    known: HashMap<(RunId, u64, Timestamp), Weak<Told<NumberedEvent>>>,
    /// So many are there before those are looked for that nobody has any more.
    enough: usize,
}

impl Shelf {
    /// The copy of an event that everybody has.
    pub(super) fn shared(&self, run: &RunId, event: NumberedEvent) -> Arc<Told<NumberedEvent>> {
        let mut copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (run.clone(), event.seq, event.at);
        if let Some(known) = copies.known.get(&name).and_then(Weak::upgrade) {
            return known;
        }
        if copies.known.len() >= copies.enough {
            copies.known.retain(|_, copy| copy.strong_count() > 0);
            copies.enough = copies.known.len() * 2 + 1024;
        }
        let told = Told::new(event);
        copies.known.insert(name, Arc::downgrade(&told));
        told
    }
}
