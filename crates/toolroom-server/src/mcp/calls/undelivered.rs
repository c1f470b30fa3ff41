//! What kept parked calls from going on that had become tasks: nobody waited for it any more, and the journal does not say.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolroom::ledger::CallId;

use crate::mcp::protocol::rpc_error::RpcError;

/// So many are kept.
const MOST: usize = 1_024;

/// What would have been answered: the fields of a result, or why there is none.
type Answer = Result<String, RpcError>;

/// Answers that nobody heard, by call.
#[derive(Debug, Default)]
pub(in crate::mcp) struct UndeliveredMessages(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    answers: HashMap<CallId, Answer>,
    /// The oldest first.
    order: VecDeque<CallId>,
}

impl UndeliveredMessages {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what nobody may hear.
    pub(in crate::mcp) fn keep(&self, call: &CallId, answer: Answer) {
        let mut kept = self.lock();
        if kept.answers.insert(call.clone(), answer).is_none() {
            kept.order.push_back(call.clone());
        }
        while kept.order.len() > MOST {
            let Some(oldest) = kept.order.pop_front() else { break };
            kept.answers.remove(&oldest);
        }
    }

    /// Somebody has heard it, or it is tried again.
    pub(in crate::mcp) fn forget(&self, call: &CallId) {
        let mut kept = self.lock();
        if kept.answers.remove(call).is_some() {
            kept.order.retain(|other| other != call);
        }
    }

    /// What came of a call, if nobody heard it.
    pub(in crate::mcp) fn of(&self, call: &CallId) -> Option<Answer> {
        self.lock().answers.get(call).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_heard_is_kept_until_somebody_does_and_not_without_end() {
        let (unheard, call) = (UndeliveredMessages::default(), CallId::new("call_x"));
        assert_eq!(unheard.of(&call), None);
        unheard.keep(&call, Ok("first".to_owned()));
        unheard.keep(&call, Err(RpcError::busy()));
        assert_eq!(unheard.of(&call), Some(Err(RpcError::busy())));
        unheard.forget(&call);
        assert_eq!(unheard.of(&call), None);
        unheard.keep(&call, Ok("again".to_owned()));
        for number in 0..MOST {
            unheard.keep(&CallId::new(&format!("call_{number}")), Ok(String::new()));
        }
        let kept = unheard.lock();
        assert_eq!((kept.answers.len(), kept.order.len()), (MOST, MOST));
        drop(kept);
        assert_eq!(unheard.of(&call), None, "the oldest goes");
    }
}
