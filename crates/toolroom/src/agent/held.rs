//! A run in our hands.

use std::sync::Arc;

use crate::conversation::{Conversations, RunId};

/// Says that this process works on a run. Dropped before the run has ended or waits, it gives the run back: whoever
/// stopped polling, or failed in between, would otherwise keep everybody out of the conversation.
pub(super) struct Held {
    conversations: Arc<dyn Conversations>,
    run: Option<RunId>,
}

impl Held {
    /// From the moment the run is asked for, as nobody knows when whoever waits for it is gone.
    pub(super) fn new(conversations: &Arc<dyn Conversations>, run: &RunId) -> Self {
        Self { conversations: Arc::clone(conversations), run: Some(run.clone()) }
    }

    /// The run is not ours, or no longer.
    pub(super) fn is_over(&mut self) {
        self.run = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(run) = &self.run {
            self.conversations.let_go(run);
        }
    }
}
