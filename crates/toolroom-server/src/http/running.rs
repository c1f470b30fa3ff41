//! Calls that this process is working on for somebody outside, so that they can be stopped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

/// Calls by id.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<HashMap<CallId, (Scope, CancellationToken)>>);

/// A call that is being worked on, until this is dropped.
pub(super) struct Entry {
    running: Arc<Running>,
    call: CallId,
}

impl Running {
    /// Remembers a call for as long as the entry lives.
    pub(super) fn enter(self: &Arc<Self>, call: CallId, scope: Scope, stop: CancellationToken) -> Entry {
        self.calls(|calls| calls.insert(call.clone(), (scope, stop)));
        Entry { running: Arc::clone(self), call }
    }

    /// Stops a call that somebody of `scope` may see. Says whether there is one.
    pub(super) fn stop(&self, scope: &Scope, call: &CallId) -> bool {
        self.calls(|calls| match calls.get(call) {
            Some((owner, stop)) if scope.covers(owner) => {
                stop.cancel();
                true
            }
            _ => false,
        })
    }

    fn calls<T>(&self, with: impl FnOnce(&mut HashMap<CallId, (Scope, CancellationToken)>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.running.calls(|calls| calls.remove(&self.call));
    }
}
