//! The calls of the one client that started us.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest, Seat};
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

use super::desk::Calls;
use super::lasting::Lasting;
use crate::app::App;

/// Makes them, and knows which ones run.
pub(super) struct OwnCalls {
    app: Arc<App>,
    /// Those that run, to be stopped by their name.
    running: Mutex<HashMap<CallId, CancellationToken>>,
    lasting: Lasting,
    closing: CancellationToken,
}

impl OwnCalls {
    /// `closing` stops what still runs.
    pub(super) fn new(app: Arc<App>, closing: CancellationToken) -> Self {
        Self { app, running: Mutex::default(), lasting: Lasting::default(), closing }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls for OwnCalls {
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport> {
        Box::pin(async move {
            let id = request.id.clone();
            if let Some(id) = &id {
                self.lock().insert(id.clone(), request.cancellation.clone());
            }
            // Whoever starts us sits at this machine.
            let report = self.app.room.call(request.seat(Seat::Here)).await;
            id.map(|id| self.lock().remove(&id));
            report
        })
    }

    fn stop(&self, _scope: &Scope, call: &CallId) -> bool {
        let running = self.lock();
        running.get(call).inspect(|stop| stop.cancel()).is_some()
    }

    fn is_running(&self, _scope: &Scope, call: &CallId) -> bool {
        self.lock().contains_key(call)
    }

    fn lasting(&self) -> &Lasting {
        &self.lasting
    }

    fn closing(&self) -> CancellationToken {
        self.closing.child_token()
    }

    fn resume(&self, request: ResumeRequest) -> BoxFuture<'_, Result<CallReport, ResumeError>> {
        Box::pin(async move {
            let (call, stop) = (request.call.clone(), request.cancellation.clone());
            // Whoever wants the same one takes nothing away from who works on it.
            let is_first = match self.lock().entry(call.clone()) {
                Entry::Occupied(_) => false,
                Entry::Vacant(place) => {
                    place.insert(stop);
                    true
                }
            };
            let resumed = self.app.room.resume(request).await;
            if is_first {
                self.lock().remove(&call);
            }
            resumed
        })
    }
}
