//! Whether what a client was told of is still so.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::desk::Desk;
use super::message::{Id, notification_text};
use super::peer::{Asker, Peer};
use super::refusal::Refusal;
use super::reply::{SERVER_INFO, server_info};
use super::tally::{Counted, Tally};
use super::watcher::{News, Watchers};

/// So many of one caller look out at once.
const MOST_OF_ONE: usize = 256;

/// The key under which a notification says which stream it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Prompts,
}

impl Kind {
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
        }
    }
}

/// What somebody wants to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
}

impl Kinds {
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
pub(super) struct Lookouts {
    tally: Tally,
    pub(super) watchers: Watchers,
}

impl Default for Lookouts {
    fn default() -> Self {
        Self { tally: Tally::new(MOST_OF_ONE), watchers: Watchers::default() }
    }
}

/// Looks out for somebody.
pub(crate) struct Watch {
    kinds: Kinds,
    news: watch::Receiver<News>,
    /// What they know.
    seen: News,
    _counted: Counted,
}

impl Watch {
    /// From how it is now.
    ///
    /// # Errors
    /// When too many look out for this caller.
    pub(crate) async fn begin(desk: &Arc<Desk>, peer: &Peer, kinds: Kinds) -> Result<Self, Refusal> {
        let counted = desk.lookouts.tally.count(&peer.name).ok_or_else(Refusal::busy)?;
        let mut news = desk.watch(&peer.scope);
        // What nobody has looked at yet cannot be told to have changed.
        let seen = news.wait_for(|news| news.is_known).await.map(|news| *news).unwrap_or_default();
        // Whoever may not read sees none of the prompts that can change.
        let kinds = Kinds { prompts: kinds.prompts && peer.may_read, ..kinds };
        Ok(Self { kinds, news, seen, _counted: counted })
    }

    /// Waits until something is no longer as it was.
    pub(crate) async fn next(&mut self) -> Kind {
        loop {
            let now = *self.news.borrow_and_update();
            if self.kinds.tools && now.tools != self.seen.tools {
                self.seen.tools = now.tools;
                return Kind::Tools;
            }
            if self.kinds.prompts && now.prompts != self.seen.prompts {
                self.seen.prompts = now.prompts;
                return Kind::Prompts;
            }
            if self.news.changed().await.is_err() {
                // Nobody looks any more: nothing is heard.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Desk {
    /// Tells a client of the later era what changes, until it leaves or `over` resolves.
    pub(super) async fn listen(
        self: &Arc<Self>,
        asker: &Asker,
        id: &Id,
        params: &Map<String, Value>,
        over: impl Future<Output = ()>,
    ) -> Result<String, Refusal> {
        let filter = params.get("notifications").and_then(Value::as_object);
        let filter = filter.ok_or_else(|| Refusal::invalid("`notifications` says what is wanted"))?;
        let kinds = Kinds::read(filter);
        let meta = json!({SUBSCRIPTION: id});
        let told = json!({"notifications": kinds.told(), "_meta": meta});
        let mut watch = Watch::begin(self, &asker.peer, kinds).await?;
        let follow = async {
            let mut text = notification_text("notifications/subscriptions/acknowledged", &told);
            while asker.voice.tell(text).await {
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
