//! Whether what a client was told of is still so.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::listing::Listed;
use super::message::{Id, notification_text};
use super::peer::Asker;
use super::refusal::Refusal;

/// Between two looks at the tools, which cost next to nothing.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// So many looks at the tools for one at the prompts, which are read from the database.
const PROMPTS_EVERY: u32 = 4;

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

/// Looks out for somebody.
pub(crate) struct Watch<'a> {
    desk: &'a Desk,
    asker: &'a Asker,
    kinds: Kinds,
    tools: Option<Arc<Listed>>,
    prompts: Option<Vec<Value>>,
    looks: u32,
}

impl<'a> Watch<'a> {
    /// From how it is now.
    pub(crate) async fn begin(desk: &'a Desk, asker: &'a Asker, kinds: Kinds) -> Self {
        let tools = if kinds.tools { desk.tools(asker).await.ok() } else { None };
        let prompts = if kinds.prompts { desk.prompts(asker).await.ok() } else { None };
        Self { desk, asker, kinds, tools, prompts, looks: 0 }
    }

    /// Waits until something is no longer as it was. What cannot be told now is looked at later.
    pub(crate) async fn next(&mut self) -> Kind {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.looks = self.looks.wrapping_add(1);
            if self.kinds.tools
                && let Ok(listed) = self.desk.tools(self.asker).await
            {
                let is_same = self.tools.as_ref().is_some_and(|known| known.is_same(&listed));
                self.tools = Some(listed);
                if !is_same {
                    return Kind::Tools;
                }
            }
            if self.kinds.prompts
                && self.looks.is_multiple_of(PROMPTS_EVERY)
                && let Ok(prompts) = self.desk.prompts(self.asker).await
            {
                let is_same = self.prompts.as_ref() == Some(&prompts);
                self.prompts = Some(prompts);
                if !is_same {
                    return Kind::Prompts;
                }
            }
        }
    }
}

impl Desk {
    /// Tells a client of the later era what changes, until it leaves or `over` resolves.
    pub(super) async fn listen(
        &self,
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
        let mut watch = Watch::begin(self, asker, kinds).await;
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
        let info = super::reply::server_info();
        let meta = json!({SUBSCRIPTION: id, "io.modelcontextprotocol/serverInfo": info});
        Ok(json!({"resultType": "complete", "_meta": meta}).to_string())
    }
}
