//! Looks at what can change, once for all who want to hear of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use toolroom::scope::Scope;

use crate::mcp::server::McpServer;
use crate::mcp::tool_listing::ToolListing;

/// Between two looks at the tools, which cost next to nothing.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// So many looks at the tools for one at the prompts, which are read from the database.
const PROMPTS_EVERY: u32 = 4;

/// How often something has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::mcp) struct ChangeCounts {
    pub(in crate::mcp) tools: u64,
    pub(in crate::mcp) prompts: u64,
    /// Whether somebody has looked.
    pub(in crate::mcp) is_known: bool,
}

/// Where each watcher tells what it sees. There is one as long as somebody wants to hear it.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ChangePollers(Mutex<HashMap<Scope, Arc<watch::Sender<ChangeCounts>>>>);

impl ChangePollers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Arc<watch::Sender<ChangeCounts>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a watcher that nobody hears. Says whether it did.
    fn retire(&self, scope: &Scope, news: &watch::Sender<ChangeCounts>) -> bool {
        let mut watchers = self.lock();
        // Whoever comes to hear it does so under the same lock.
        let is_over = news.receiver_count() == 0;
        if is_over {
            watchers.remove(scope);
        }
        is_over
    }
}

impl McpServer {
    /// What changes for those of a scope.
    pub(in crate::mcp) fn watch(self: &Arc<Self>, scope: &Scope) -> watch::Receiver<ChangeCounts> {
        let mut watchers = self.lookouts.watchers.lock();
        if let Some(news) = watchers.get(scope) {
            return news.subscribe();
        }
        let (news, heard) = watch::channel(ChangeCounts::default());
        let news = Arc::new(news);
        watchers.insert(scope.clone(), Arc::clone(&news));
        tokio::spawn(follow(Arc::clone(self), scope.clone(), news));
        heard
    }
}

/// Looks until nobody wants to hear of it.
async fn follow(desk: Arc<McpServer>, scope: Scope, news: Arc<watch::Sender<ChangeCounts>>) {
    let mut known = Snapshot::default();
    for look in 0_u32.. {
        let changed = known.look(&desk, &scope, look.is_multiple_of(PROMPTS_EVERY)).await;
        news.send_if_modified(|news| {
            let is_first = !std::mem::replace(&mut news.is_known, true);
            news.tools += u64::from(changed.tools);
            news.prompts += u64::from(changed.prompts);
            is_first || changed.tools || changed.prompts
        });
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = news.closed() => {
                if desk.lookouts.watchers.retire(&scope, &news) {
                    return;
                }
            }
        }
    }
}

/// What was there at the last look.
#[derive(Default)]
struct Snapshot {
    tools: Option<Arc<ToolListing>>,
    prompts: Option<Vec<Value>>,
}

/// What is no longer as it was.
struct Changed {
    tools: bool,
    prompts: bool,
}

impl Snapshot {
    /// Looks again. What cannot be told now is looked at later.
    async fn look(&mut self, desk: &McpServer, scope: &Scope, also_at_prompts: bool) -> Changed {
        let mut changed = Changed { tools: false, prompts: false };
        if let Ok(listed) = desk.tools(scope).await {
            let before = self.tools.replace(Arc::clone(&listed));
            changed.tools = before.is_some_and(|before| !before.is_same(&listed));
        }
        if also_at_prompts && let Ok(prompts) = desk.prompts(scope).await {
            changed.prompts = self.prompts.as_ref().is_some_and(|before| *before != prompts);
            self.prompts = Some(prompts);
        }
        changed
    }
}
