//! Events shared by all subscribers of a run: one copy of each, and one encoding if it is large.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use toolroom::clock::Timestamp;
use toolroom::conversation::{NumberedEvent, RunId};

/// Shorter encodings are made again for each subscriber: they are cheap, and caching them would hold memory for longer.
const MIN_CACHED_BYTES: usize = 4 * 1024;

/// A value with its encoding.
#[derive(Debug)]
pub(crate) struct Encoded<T> {
    value: T,
    encoding: OnceLock<Bytes>,
}

impl<T> Encoded<T> {
    pub(super) fn new(value: T) -> Arc<Self> {
        Arc::new(Self { value, encoding: OnceLock::new() })
    }

    /// The encoding, which must be the same for all subscribers.
    pub(crate) fn encoded(&self, encode: impl FnOnce(&T) -> Bytes) -> Bytes {
        if let Some(encoding) = self.encoding.get() {
            return encoding.clone();
        }
        let encoding = encode(&self.value);
        match encoding.len() < MIN_CACHED_BYTES {
            true => encoding,
            // Of two concurrent encodings the first one is kept.
            false => self.encoding.get_or_init(|| encoding).clone(),
        }
    }
}

impl<T> Deref for Encoded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Events that subscribers currently read from the store, one copy of each.
#[derive(Debug, Default)]
pub(super) struct EventCache(Mutex<CachedEvents>);

#[derive(Debug, Default)]
struct CachedEvents {
    /// By run, number and time: the number of an event that was not stored is assigned again.
    known: HashMap<(RunId, u64, Timestamp), Weak<Encoded<NumberedEvent>>>,
    /// Dropped events are removed when the map has this size.
    purge_at: usize,
}

impl EventCache {
    /// The shared copy of an event.
    pub(super) fn shared(&self, run: &RunId, event: NumberedEvent) -> Arc<Encoded<NumberedEvent>> {
        let mut copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (run.clone(), event.seq, event.at);
        if let Some(known) = copies.known.get(&name).and_then(Weak::upgrade) {
            return known;
        }
        if copies.known.len() >= copies.purge_at {
            copies.known.retain(|_, copy| copy.strong_count() > 0);
            copies.purge_at = copies.known.len() * 2 + 1024;
        }
        let encoded = Encoded::new(event);
        copies.known.insert(name, Arc::downgrade(&encoded));
        encoded
    }
}
