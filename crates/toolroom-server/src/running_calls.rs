//! Calls that this process is working on for somebody outside, whichever door they came in by, so that they can be stopped.

use std::collections::hash_map;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use tokio_util::sync::CancellationToken;
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

/// Calls by id.
#[derive(Debug, Default)]
pub(crate) struct RunningCalls(Mutex<HashMap<CallId, (Scope, CancellationToken)>>);

/// A call that is being worked on, until this is dropped.
pub(crate) struct Entry {
    running: Arc<RunningCalls>,
    /// None, if somebody else works on it.
    call: Option<CallId>,
}

impl RunningCalls {
    /// Remembers a call for as long as the entry lives. Whoever wants the same one takes nothing away from who works on
    /// it.
    pub(crate) fn enter(self: &Arc<Self>, call: CallId, scope: Scope, stop: CancellationToken) -> Entry {
        let call = self.calls(|calls| match calls.entry(call) {
            hash_map::Entry::Vacant(place) => {
                let call = place.key().clone();
                place.insert((scope, stop));
                Some(call)
            }
            hash_map::Entry::Occupied(_) => None,
        });
        Entry { running: Arc::clone(self), call }
    }

    /// Stops a call that somebody of `scope` may see. Says whether there is one.
    pub(crate) fn stop(&self, scope: &Scope, call: &CallId) -> bool {
        self.calls(|calls| match calls.get(call) {
            Some((owner, stop)) if scope.covers(owner) => {
                stop.cancel();
                true
            }
            _ => false,
        })
    }

    /// Whether a call is worked on that somebody of `scope` may see.
    pub(crate) fn knows(&self, scope: &Scope, call: &CallId) -> bool {
        self.calls(|calls| calls.get(call).is_some_and(|(owner, _)| scope.covers(owner)))
    }

    fn calls<T>(&self, with: impl FnOnce(&mut HashMap<CallId, (Scope, CancellationToken)>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            self.running.calls(|calls| calls.remove(call));
        }
    }
}
