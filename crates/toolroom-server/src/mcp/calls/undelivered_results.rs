//! Results of parked calls that became tasks, failed to resume, and are not in the journal.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolroom::ledger::CallId;

use crate::mcp::protocol::rpc_error::RpcError;

/// The oldest are dropped.
const MAX_RESULTS: usize = 1_024;

/// The fields of a result, or an error.
type CallResultText = Result<String, RpcError>;

/// Undelivered results by call.
#[derive(Debug, Default)]
pub(in crate::mcp) struct UndeliveredResults(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    results: HashMap<CallId, CallResultText>,
    /// Oldest first.
    order: VecDeque<CallId>,
}

impl UndeliveredResults {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the result of a call.
    pub(in crate::mcp) fn insert(&self, call: &CallId, result: CallResultText) {
        let mut entries = self.lock();
        if entries.results.insert(call.clone(), result).is_none() {
            entries.order.push_back(call.clone());
        }
        while entries.order.len() > MAX_RESULTS {
            let Some(oldest) = entries.order.pop_front() else { break };
            entries.results.remove(&oldest);
        }
    }

    /// Removes the result of a call: it was delivered, or the call is resumed again.
    pub(in crate::mcp) fn remove(&self, call: &CallId) {
        let mut entries = self.lock();
        if entries.results.remove(call).is_some() {
            entries.order.retain(|other| other != call);
        }
    }

    /// The undelivered result of a call.
    pub(in crate::mcp) fn get(&self, call: &CallId) -> Option<CallResultText> {
        self.lock().results.get(call).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_kept_until_it_is_removed_and_the_oldest_is_dropped() {
        let (undelivered, call) = (UndeliveredResults::default(), CallId::new("call_x"));
        assert_eq!(undelivered.get(&call), None);
        undelivered.insert(&call, Ok("first".to_owned()));
        undelivered.insert(&call, Err(RpcError::busy()));
        assert_eq!(undelivered.get(&call), Some(Err(RpcError::busy())));
        undelivered.remove(&call);
        assert_eq!(undelivered.get(&call), None);
        undelivered.insert(&call, Ok("again".to_owned()));
        for number in 0..MAX_RESULTS {
            undelivered.insert(&CallId::new(&format!("call_{number}")), Ok(String::new()));
        }
        let entries = undelivered.lock();
        assert_eq!((entries.results.len(), entries.order.len()), (MAX_RESULTS, MAX_RESULTS));
        drop(entries);
        assert_eq!(undelivered.get(&call), None, "the oldest goes");
    }
}
