//! Telling watchers what happens.

use std::sync::{Arc, Mutex, PoisonError};

use super::request::Watcher;
use crate::clock::Clock;
use crate::conversation::{NumberedEvent, RunEvent};

/// Numbers the events of one run and keeps those that will be stored. Shared with the tools that run, whose signs of
/// life come from tasks of their own.
pub(super) struct Teller {
    clock: Arc<dyn Clock>,
    watcher: Option<Watcher>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    next: u64,
    /// Structural ones, not stored yet.
    structural: Vec<NumberedEvent>,
}

impl Teller {
    pub(super) fn new(clock: Arc<dyn Clock>, watcher: Option<Watcher>, next: u64) -> Self {
        Self { clock, watcher, told: Mutex::new(Told { next, structural: Vec::new() }) }
    }

    /// Whether pieces that are not stored reach anybody.
    pub(super) fn is_watched(&self) -> bool {
        self.watcher.is_some()
    }

    pub(super) fn tell(&self, event: RunEvent) {
        let structural = event.is_structural();
        if !structural && !self.is_watched() {
            return;
        }
        // Held while the watcher looks, so that it sees events in their order.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let event = NumberedEvent { seq: told.next, at: self.clock.now(), event };
        told.next += 1;
        if let Some(watcher) = &self.watcher {
            watcher(&event);
        }
        if structural {
            told.structural.push(event);
        }
    }

    /// What is to be stored since the last time.
    pub(super) fn take(&self) -> Vec<NumberedEvent> {
        std::mem::take(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner).structural)
    }
}
