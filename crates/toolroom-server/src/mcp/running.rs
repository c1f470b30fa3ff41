//! Requests of one client that are being worked on, so that they can be stopped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::message::Id;

/// How many can be stopped.
const MOST: usize = 4_096;

/// Requests by id.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<HashMap<Id, CancellationToken>>);

/// A request that is being worked on, until this is dropped.
pub(crate) struct Working<'a> {
    running: &'a Running,
    id: Id,
}

impl Running {
    /// Remembers that a request is worked on.
    pub(crate) fn begin(&self, id: &Id, stop: &CancellationToken) -> Working<'_> {
        let mut running = self.lock();
        if running.len() < MOST {
            running.insert(id.clone(), stop.clone());
        }
        Working { running: self, id: id.clone() }
    }

    /// Stops one.
    pub(crate) fn stop(&self, id: &Id) {
        if let Some(stop) = self.lock().get(id) {
            stop.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
    }
}
