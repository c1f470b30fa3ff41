//! Polls what can change, once per scope for all its subscribers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use toolroom::scope::Scope;

use crate::mcp::server::McpServer;
use crate::mcp::tool_listing::ToolListing;

/// Polling interval of tools, which is cheap.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Prompts are polled every so many times, because they are read from the database.
const PROMPTS_EVERY: u32 = 4;

/// Counts changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::mcp) struct ChangeCounts {
    pub(in crate::mcp) tools: u64,
    pub(in crate::mcp) prompts: u64,
    /// Whether there was a first poll.
    pub(in crate::mcp) is_known: bool,
}

/// The pollers by scope. A poller runs while it has subscribers.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ChangePollers(Mutex<HashMap<Scope, Arc<watch::Sender<ChangeCounts>>>>);

impl ChangePollers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Arc<watch::Sender<ChangeCounts>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a poller without subscribers. Returns whether it was removed.
    fn retire(&self, scope: &Scope, counts: &watch::Sender<ChangeCounts>) -> bool {
        let mut pollers = self.lock();
        // New subscribers take the same lock.
        let is_over = counts.receiver_count() == 0;
        if is_over {
            pollers.remove(scope);
        }
        is_over
    }
}

impl McpServer {
    /// Subscribes to the changes of a scope.
    pub(in crate::mcp) fn change_counts(self: &Arc<Self>, scope: &Scope) -> watch::Receiver<ChangeCounts> {
        let mut pollers = self.subscriptions.pollers.lock();
        if let Some(counts) = pollers.get(scope) {
            return counts.subscribe();
        }
        let (counts, receiver) = watch::channel(ChangeCounts::default());
        let counts = Arc::new(counts);
        pollers.insert(scope.clone(), Arc::clone(&counts));
        tokio::spawn(poll(Arc::clone(self), scope.clone(), counts));
        receiver
    }
}

/// Polls until there are no subscribers.
async fn poll(server: Arc<McpServer>, scope: Scope, counts: Arc<watch::Sender<ChangeCounts>>) {
    let mut known = Snapshot::default();
    for round in 0_u32.. {
        let changed = known.update(&server, &scope, round.is_multiple_of(PROMPTS_EVERY)).await;
        counts.send_if_modified(|counts| {
            let is_first = !std::mem::replace(&mut counts.is_known, true);
            counts.tools += u64::from(changed.tools);
            counts.prompts += u64::from(changed.prompts);
            is_first || changed.tools || changed.prompts
        });
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = counts.closed() => {
                if server.subscriptions.pollers.retire(&scope, &counts) {
                    return;
                }
            }
        }
    }
}

/// The lists at the last poll.
#[derive(Default)]
struct Snapshot {
    tools: Option<Arc<ToolListing>>,
    prompts: Option<Vec<Value>>,
}

/// Which lists have changed.
struct Changed {
    tools: bool,
    prompts: bool,
}

impl Snapshot {
    /// Polls again. A list that cannot be read counts as unchanged.
    async fn update(&mut self, server: &McpServer, scope: &Scope, with_prompts: bool) -> Changed {
        let mut changed = Changed { tools: false, prompts: false };
        if let Ok(listed) = server.tools(scope).await {
            let before = self.tools.replace(Arc::clone(&listed));
            changed.tools = before.is_some_and(|before| !before.is_same(&listed));
        }
        if with_prompts && let Ok(prompts) = server.prompts(scope).await {
            changed.prompts = self.prompts.as_ref().is_some_and(|before| *before != prompts);
            self.prompts = Some(prompts);
        }
        changed
    }
}
