//! The running requests of one client, so that it can cancel them.

use std::collections::hash_map;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::message::Id;
use crate::mcp::protocol::rpc_error::RpcError;

/// Running requests by id.
#[derive(Debug, Default)]
pub(crate) struct RunningRequests(Mutex<HashMap<Id, CancellationToken>>);

/// Keeps a request registered until it is dropped.
pub(crate) struct RunningRequest {
    running: Arc<RunningRequests>,
    id: Id,
}

impl RunningRequests {
    /// Registers a request before any work: its cancellation may follow immediately.
    ///
    /// # Errors
    /// If a request with this id is running.
    pub(crate) fn register(
        self: &Arc<Self>,
        id: &Id,
        stop: &CancellationToken,
    ) -> Result<RunningRequest, RpcError> {
        match self.lock().entry(id.clone()) {
            hash_map::Entry::Vacant(vacant) => vacant.insert(stop.clone()),
            hash_map::Entry::Occupied(_) => {
                let text = "a request with this `id` is running; use another `id`";
                return Err(RpcError::new(RpcError::INVALID_REQUEST, text));
            }
        };
        Ok(RunningRequest { running: Arc::clone(self), id: id.clone() })
    }

    /// Stops a request.
    pub(crate) fn stop(&self, id: &Id) {
        if let Some(stop) = self.lock().get(id) {
            stop.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_belongs_to_one_running_request() {
        let running = Arc::new(RunningRequests::default());
        let (id, first, second) =
            (Id::Text("a".to_owned()), CancellationToken::new(), CancellationToken::new());
        let registered = running.register(&id, &first).unwrap();
        assert!(running.register(&id, &second).is_err());
        running.stop(&id);
        assert!(first.is_cancelled() && !second.is_cancelled());
        drop(registered);
        let _registered = running.register(&id, &second).unwrap();
        running.stop(&id);
        assert!(second.is_cancelled());
    }
}
