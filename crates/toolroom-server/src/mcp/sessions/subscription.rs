//! Subscriptions to changes of the lists of tools and prompts.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::calls::{CallerLimit, CallerPermit};
use crate::mcp::context::{McpCaller, RequestContext};
use crate::mcp::protocol::message::{Id, notification_text};
use crate::mcp::protocol::reply::{SERVER_INFO, server_info};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;
use crate::mcp::sessions::change_poller::{ChangeCounts, ChangePollers};

/// Subscriptions of one caller.
const MAX_PER_CALLER: usize = 256;

/// Key of the subscription id in notifications.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A list that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
}

impl ListKind {
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
        }
    }
}

/// Which lists a client subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListKinds {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
}

impl ListKinds {
    pub(crate) const ALL: Self = Self { tools: true, prompts: true };

    fn parse(filter: &Map<String, Value>) -> Self {
        let wants = |name: &str| filter.get(name).and_then(Value::as_bool) == Some(true);
        Self { tools: wants("toolsListChanged"), prompts: wants("promptsListChanged") }
    }

    /// The acknowledged filter.
    fn filter(self) -> Value {
        let mut filter = Map::new();
        for (name, wanted) in [("toolsListChanged", self.tools), ("promptsListChanged", self.prompts)] {
            if wanted {
                filter.insert(name.to_owned(), Value::Bool(true));
            }
        }
        Value::Object(filter)
    }
}

/// All subscriptions.
pub(in crate::mcp) struct Subscriptions {
    limit: CallerLimit,
    pub(in crate::mcp) pollers: ChangePollers,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self { limit: CallerLimit::new(MAX_PER_CALLER), pollers: ChangePollers::default() }
    }
}

/// A subscription.
pub(crate) struct ChangeSubscription {
    kinds: ListKinds,
    counts: watch::Receiver<ChangeCounts>,
    /// The changes that were reported.
    seen: ChangeCounts,
    _permit: CallerPermit,
}

impl ChangeSubscription {
    /// Subscribes to changes from now on.
    ///
    /// # Errors
    /// If the caller has too many subscriptions.
    pub(crate) async fn open(
        server: &Arc<McpServer>,
        caller: &McpCaller,
        kinds: ListKinds,
    ) -> Result<Self, RpcError> {
        let permit = server.subscriptions.limit.try_acquire(&caller.name).ok_or_else(RpcError::busy)?;
        let mut counts = server.change_counts(&caller.scope);
        // Changes are relative to the first poll.
        let seen = counts.wait_for(|counts| counts.is_known).await.map(|counts| *counts).unwrap_or_default();
        // Without the permission to read, the client does not see the prompts that can change.
        let kinds = ListKinds { prompts: kinds.prompts && caller.may_read, ..kinds };
        Ok(Self { kinds, counts, seen, _permit: permit })
    }

    /// Waits for the next change.
    pub(crate) async fn next(&mut self) -> ListKind {
        loop {
            let now = *self.counts.borrow_and_update();
            if self.kinds.tools && now.tools != self.seen.tools {
                self.seen.tools = now.tools;
                return ListKind::Tools;
            }
            if self.kinds.prompts && now.prompts != self.seen.prompts {
                self.seen.prompts = now.prompts;
                return ListKind::Prompts;
            }
            if self.counts.changed().await.is_err() {
                // The poller has ended.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl McpServer {
    /// `subscriptions/listen`: notifies a modern client of changes until it leaves or `over` resolves.
    pub(in crate::mcp) async fn listen(
        self: &Arc<Self>,
        context: &RequestContext,
        id: &Id,
        params: &Map<String, Value>,
        over: impl Future<Output = ()>,
    ) -> Result<String, RpcError> {
        let filter = params.get("notifications").and_then(Value::as_object);
        let filter = filter.ok_or_else(|| RpcError::invalid("missing `notifications`"))?;
        let kinds = ListKinds::parse(filter);
        let meta = json!({SUBSCRIPTION: id});
        let acknowledged = json!({"notifications": kinds.filter(), "_meta": meta});
        let mut subscription = ChangeSubscription::open(self, &context.caller, kinds).await?;
        let follow = async {
            let mut text = notification_text("notifications/subscriptions/acknowledged", &acknowledged);
            while context.channel.send(text).await {
                text = notification_text(subscription.next().await.method(), &json!({"_meta": meta}));
            }
        };
        tokio::select! {
            () = follow => {}
            () = over => {}
        }
        let meta = json!({SUBSCRIPTION: id, SERVER_INFO: server_info()});
        Ok(json!({"resultType": "complete", "_meta": meta}).to_string())
    }
}
