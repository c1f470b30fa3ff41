//! A clock that tests set.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use uuid::Uuid;

use crate::clock::{Clock, Timestamp};

/// A clock for tests: the time is what you set, ids count up.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    ids: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `start`.
    #[must_use]
    pub const fn at(start: Timestamp) -> Self {
        Self { now: AtomicI64::new(start.as_micros()), ids: AtomicU64::new(1) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, span: Duration) {
        self.now.store(self.now().after(span).as_micros(), Ordering::SeqCst);
    }

    /// Sets the clock, forward or back.
    pub fn set(&self, now: Timestamp) {
        self.now.store(now.as_micros(), Ordering::SeqCst);
    }

    fn next_id(&self) -> Uuid {
        Uuid::from_u64_pair(0, self.ids.fetch_add(1, Ordering::SeqCst))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.now.load(Ordering::SeqCst))
    }

    fn ordered_id(&self) -> Uuid {
        self.next_id()
    }

    fn random_id(&self) -> Uuid {
        self.next_id()
    }
}
