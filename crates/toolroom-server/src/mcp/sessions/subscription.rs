//! Whether what a client was told of is still so.

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

/// So many of one caller look out at once.
const MOST_OF_ONE: usize = 256;

/// The key under which a notification says which stream it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What can change.
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

/// What somebody wants to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListKinds {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
}

impl ListKinds {
    pub(crate) const ALL: Self = Self { tools: true, prompts: true };

    fn read(filter: &Map<String, Value>) -> Self {
        let wants = |name: &str| filter.get(name).and_then(Value::as_bool) == Some(true);
        Self { tools: wants("toolsListChanged"), prompts: wants("promptsListChanged") }
    }

    /// What of it is promised.
    fn told(self) -> Value {
        let mut told = Map::new();
        for (name, wanted) in [("toolsListChanged", self.tools), ("promptsListChanged", self.prompts)] {
            if wanted {
                told.insert(name.to_owned(), Value::Bool(true));
            }
        }
        Value::Object(told)
    }
}

/// Those who look out, and what they look at.
pub(in crate::mcp) struct Subscriptions {
    limit: CallerLimit,
    pub(in crate::mcp) watchers: ChangePollers,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self { limit: CallerLimit::new(MOST_OF_ONE), watchers: ChangePollers::default() }
    }
}

/// Looks out for somebody.
pub(crate) struct ChangeSubscription {
    kinds: ListKinds,
    news: watch::Receiver<ChangeCounts>,
    /// What they know.
    seen: ChangeCounts,
    _permit: CallerPermit,
}

impl ChangeSubscription {
    /// From how it is now.
    ///
    /// # Errors
    /// When too many look out for this caller.
    pub(crate) async fn begin(
        desk: &Arc<McpServer>,
        caller: &McpCaller,
        kinds: ListKinds,
    ) -> Result<Self, RpcError> {
        let permit = desk.lookouts.limit.try_acquire(&caller.name).ok_or_else(RpcError::busy)?;
        let mut news = desk.watch(&caller.scope);
        // What nobody has looked at yet cannot be told to have changed.
        let seen = news.wait_for(|news| news.is_known).await.map(|news| *news).unwrap_or_default();
        // Whoever may not read sees none of the prompts that can change.
        let kinds = ListKinds { prompts: kinds.prompts && caller.may_read, ..kinds };
        Ok(Self { kinds, news, seen, _permit: permit })
    }

    /// Waits until something is no longer as it was.
    pub(crate) async fn next(&mut self) -> ListKind {
        loop {
            let now = *self.news.borrow_and_update();
            if self.kinds.tools && now.tools != self.seen.tools {
                self.seen.tools = now.tools;
                return ListKind::Tools;
            }
            if self.kinds.prompts && now.prompts != self.seen.prompts {
                self.seen.prompts = now.prompts;
                return ListKind::Prompts;
            }
            if self.news.changed().await.is_err() {
                // Nobody looks any more: nothing is heard.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl McpServer {
    /// Tells a client of the later era what changes, until it leaves or `over` resolves.
    pub(in crate::mcp) async fn listen(
        self: &Arc<Self>,
        context: &RequestContext,
        id: &Id,
        params: &Map<String, Value>,
        over: impl Future<Output = ()>,
    ) -> Result<String, RpcError> {
        let filter = params.get("notifications").and_then(Value::as_object);
        let filter = filter.ok_or_else(|| RpcError::invalid("`notifications` says what is wanted"))?;
        let kinds = ListKinds::read(filter);
        let meta = json!({SUBSCRIPTION: id});
        let told = json!({"notifications": kinds.told(), "_meta": meta});
        let mut watch = ChangeSubscription::begin(self, &context.caller, kinds).await?;
        let follow = async {
            let mut text = notification_text("notifications/subscriptions/acknowledged", &told);
            while context.channel.tell(text).await {
                text = notification_text(watch.next().await.method(), &json!({"_meta": meta}));
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
