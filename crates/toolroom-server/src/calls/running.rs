//! The calls that run in this process, by id, so that any interface can cancel them.

use std::collections::hash_map;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use tokio_util::sync::CancellationToken;
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

/// Running calls by id.
#[derive(Debug, Default)]
pub(crate) struct RunningCalls(Mutex<HashMap<CallId, (Scope, CancellationToken)>>);

/// Keeps a call registered until it is dropped.
pub(super) struct RunningCall {
    running: Arc<RunningCalls>,
    /// `None` if another task had registered the call already.
    call: Option<CallId>,
}

impl RunningCalls {
    /// Registers a call until the guard is dropped. An earlier registration of the same call stays.
    pub(super) fn register(
        running: &Arc<Self>,
        call: CallId,
        scope: Scope,
        stop: CancellationToken,
    ) -> RunningCall {
        let call = running.calls(|calls| match calls.entry(call) {
            hash_map::Entry::Vacant(vacant) => {
                let call = vacant.key().clone();
                vacant.insert((scope, stop));
                Some(call)
            }
            hash_map::Entry::Occupied(_) => None,
        });
        RunningCall { running: Arc::clone(running), call }
    }

    /// Cancels a call that is visible in `scope`. Returns whether there is one.
    pub(crate) fn cancel(&self, scope: &Scope, call: &CallId) -> bool {
        self.calls(|calls| match calls.get(call) {
            Some((owner, stop)) if scope.covers(owner) => {
                stop.cancel();
                true
            }
            _ => false,
        })
    }

    /// Whether a call runs that is visible in `scope`.
    pub(crate) fn contains(&self, scope: &Scope, call: &CallId) -> bool {
        self.calls(|calls| calls.get(call).is_some_and(|(owner, _)| scope.covers(owner)))
    }

    fn calls<T>(&self, with: impl FnOnce(&mut HashMap<CallId, (Scope, CancellationToken)>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            self.running.calls(|calls| calls.remove(call));
        }
    }
}
