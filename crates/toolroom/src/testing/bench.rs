//! A bench for one tool.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{MemoryLedger, NoSeal, unguarded};
use crate::call::{CallReport, CallRequest, ClientResult};
use crate::catalog::RegisterError;
use crate::ledger::{CallFilter, CallRecord, Journal};
use crate::scope::Scope;
use crate::tool::Tool;
use crate::toolroom::Toolroom;

/// Exercises one tool through the whole call path without approvals: see [`unguarded`].
///
/// ```
/// use serde_json::json;
/// use toolroom::testing::Bench;
/// use toolroom::tool::{NoArguments, ToolError, tool_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bench = Bench::new(tool_fn("app:four", "Always four", |_context, _: NoArguments| async {
///     Ok::<_, ToolError>(4)
/// })?)?;
/// assert_eq!(bench.run(json!({})).await.result, Some(json!(4)));
/// assert!(!bench.run(json!({"surplus": 1})).await.success);
/// # Ok(())
/// # }
/// ```
pub struct Bench {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    tool: String,
}

impl Bench {
    /// A toolroom that holds this tool only.
    pub fn new(tool: impl Tool + 'static) -> Result<Self, RegisterError> {
        let ledger = Arc::new(MemoryLedger::new());
        let room = Toolroom::builder(Arc::clone(&ledger)).policy(unguarded()).seal(Arc::new(NoSeal)).build();
        let name = tool.spec().id.to_string();
        room.catalog().register(tool)?;
        Ok(Self { room, ledger, tool: name })
    }

    /// Calls the tool. Arguments that are no object count as text a model wrote.
    pub async fn run(&self, arguments: Value) -> ClientResult {
        self.report(arguments).await.for_client()
    }

    /// Calls the tool and gives the whole report.
    pub async fn report(&self, arguments: Value) -> CallReport {
        let request = match arguments {
            Value::Object(arguments) => self.request().arguments(arguments),
            Value::Null => self.request().arguments(Map::new()),
            text => self.request().arguments_text(text.to_string()),
        };
        self.room.call(request).await
    }

    /// A request to the tool, for everything [`Bench::run`] does not set.
    #[must_use]
    pub fn request(&self) -> CallRequest {
        CallRequest::new(self.tool.as_str())
    }

    /// The toolroom.
    #[must_use]
    pub fn room(&self) -> &Toolroom {
        &self.room
    }

    /// The ledger behind it.
    #[must_use]
    pub fn ledger(&self) -> &Arc<MemoryLedger> {
        &self.ledger
    }

    /// What the journal says, newest call first.
    pub async fn journal(&self) -> Vec<CallRecord> {
        self.ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap_or_default()
    }
}
