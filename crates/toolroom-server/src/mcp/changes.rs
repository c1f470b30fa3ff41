//! Whether what a client was told of is still so.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::message::{Id, notification_text};
use super::peer::Asker;
use super::refusal::Refusal;
use super::version::Era;

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
    tools: Option<String>,
    prompts: Option<Vec<Value>>,
    looks: u32,
}

impl<'a> Watch<'a> {
    /// From how it is now.
    pub(crate) async fn begin(desk: &'a Desk, asker: &'a Asker, kinds: Kinds) -> Self {
        let mut watch = Self { desk, asker, kinds, tools: None, prompts: None, looks: 0 };
        if kinds.tools {
            watch.tools = watch.tools().await;
        }
        if kinds.prompts {
            watch.prompts = desk.prompts(asker).await.ok();
        }
        watch
    }

    async fn tools(&self) -> Option<String> {
        let listed = self.desk.tools(self.asker).await.ok()?;
        Some(listed.text(Era::Modern).to_owned())
    }

    /// Waits until something is no longer as it was.
    pub(crate) async fn next(&mut self) -> Kind {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.looks = self.looks.wrapping_add(1);
            if self.kinds.tools {
                let listed = self.desk.tools(self.asker).await.ok();
                let text = listed.as_deref().map(|listed| listed.text(Era::Modern));
                if text.is_some() && text != self.tools.as_deref() {
                    self.tools = text.map(str::to_owned);
                    return Kind::Tools;
                }
            }
            if self.kinds.prompts && self.looks.is_multiple_of(PROMPTS_EVERY) {
                let prompts = self.desk.prompts(self.asker).await.ok();
                if prompts.is_some() && prompts != self.prompts {
                    self.prompts = prompts;
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
