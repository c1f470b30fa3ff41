//! Requests of one client that are being worked on, so that they can be stopped.

use std::collections::hash_map;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::message::Id;
use crate::mcp::protocol::rpc_error::RpcError;

/// Requests by id.
#[derive(Debug, Default)]
pub(crate) struct RunningRequests(Mutex<HashMap<Id, CancellationToken>>);

/// A request that is being worked on, until this is dropped.
pub(crate) struct RunningRequest {
    running: Arc<RunningRequests>,
    id: Id,
}

impl RunningRequests {
    /// Remembers that a request is worked on, before anything is done for it: what cancels it may come right behind.
    ///
    /// # Errors
    /// When another one with this id is: nobody could say which of them an answer belongs to.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &Id,
        stop: &CancellationToken,
    ) -> Result<RunningRequest, RpcError> {
        match self.lock().entry(id.clone()) {
            hash_map::Entry::Vacant(place) => place.insert(stop.clone()),
            hash_map::Entry::Occupied(_) => {
                let text = "a request with this `id` is being worked on; take another one for each";
                return Err(RpcError::new(RpcError::INVALID_REQUEST, text));
            }
        };
        Ok(RunningRequest { running: Arc::clone(self), id: id.clone() })
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

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_for_one_request_at_a_time() {
        let running = Arc::new(RunningRequests::default());
        let (id, first, second) =
            (Id::Text("a".to_owned()), CancellationToken::new(), CancellationToken::new());
        let working = running.begin(&id, &first).unwrap();
        assert!(running.begin(&id, &second).is_err());
        running.stop(&id);
        assert!(first.is_cancelled() && !second.is_cancelled());
        drop(working);
        let _working = running.begin(&id, &second).unwrap();
        running.stop(&id);
        assert!(second.is_cancelled());
    }
}
