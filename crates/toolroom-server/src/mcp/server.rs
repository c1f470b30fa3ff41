//! The request handler of both eras and transports.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::scope::Scope;

use crate::app::App;
use crate::calls::CallService;
use crate::mcp::calls::parked::ParkedCalls;
use crate::mcp::calls::progress::LogLevel;
use crate::mcp::calls::tasks::EXTENSION;
use crate::mcp::calls::undelivered_results::UndeliveredResults;
use crate::mcp::context::RequestContext;
use crate::mcp::fixtures::Fixtures;
use crate::mcp::protocol::message::OutgoingMessage;
use crate::mcp::protocol::message::Request;
use crate::mcp::protocol::params::Params;
use crate::mcp::protocol::reply::{Reuse, finish, reply, server_info};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::protocol::{Era, MODERN};
use crate::mcp::resources::ReadBudget;
use crate::mcp::sessions::session::{McpSession, McpSessions};
use crate::mcp::sessions::subscription::Subscriptions;
use crate::mcp::tool_listing::{ToolListing, ToolListings};

/// Instructions for models.
const INSTRUCTIONS: &str = "Tools of a Toolroom. Every call is checked against the rules of its owner and logged. A call \
                            that is denied stays denied; one that waits for approval says who can give it.";

/// Handles requests.
pub(crate) struct McpServer {
    pub(super) app: Arc<App>,
    /// Sessions of clients before 2026-07-28.
    pub(crate) sessions: McpSessions,
    /// Parked calls, found again by their arguments.
    pub(super) parked: ParkedCalls,
    /// Results of tasks that are not in the journal.
    pub(super) undelivered: Arc<UndeliveredResults>,
    /// Subscriptions to changes.
    pub(super) subscriptions: Subscriptions,
    listings: ToolListings,
    /// Memory for resources.
    pub(super) read_budget: ReadBudget,
    /// Fixtures of the official test suites.
    fixtures: Option<Arc<Fixtures>>,
}

impl McpServer {
    pub(crate) fn new(app: Arc<App>, fixtures: Option<Arc<Fixtures>>) -> Self {
        if let Some(fixtures) = &fixtures {
            fixtures.attach(&app);
        }
        Self {
            app,
            sessions: McpSessions::default(),
            parked: ParkedCalls::default(),
            undelivered: Arc::default(),
            subscriptions: Subscriptions::default(),
            listings: ToolListings::default(),
            read_budget: ReadBudget::default(),
            fixtures,
        }
    }

    pub(super) fn fixtures(&self) -> Option<&Arc<Fixtures>> {
        self.fixtures.as_ref()
    }

    /// The tools of a scope.
    pub(super) async fn tools(&self, scope: &Scope) -> Result<Arc<ToolListing>, RpcError> {
        let listed = self.listings.get(&self.app.room, &scope.project).await;
        listed.map_err(|error| RpcError::failure(&error))
    }

    /// The result of `initialize`.
    pub(crate) fn initialize(session: &McpSession) -> String {
        json!({
            "protocolVersion": session.version().as_str(),
            "capabilities": capabilities(Era::Legacy(session.version())),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        })
        .to_string()
    }

    /// Handles a request and returns the text of its result.
    pub(crate) async fn handle(
        self: &Arc<Self>,
        calls: &Arc<CallService>,
        context: &RequestContext,
        request: Request,
        stop: &CancellationToken,
    ) -> Result<OutgoingMessage, RpcError> {
        let result = match request.method.as_str() {
            "tools/call" => self.call(calls, context, request.params, stop).await,
            // Boxed, so that calls do not carry their state.
            "resources/read" => return Box::pin(self.read_resource(context, &request.params.others)).await,
            _ => Box::pin(self.handle_other(calls, context, request, stop)).await,
        };
        result.map(OutgoingMessage::from)
    }

    /// Handles all other methods.
    async fn handle_other(
        self: &Arc<Self>,
        calls: &Arc<CallService>,
        context: &RequestContext,
        Request { id, method, params }: Request,
        stop: &CancellationToken,
    ) -> Result<String, RpcError> {
        let Params { name, arguments, others: params, .. } = *params;
        let era = context.client.era;
        match (method.as_str(), &context.client.session) {
            ("tools/list", _) => {
                no_cursor(&params)?;
                let listed = self.tools(&context.caller.scope).await?;
                Ok(finish(era, Reuse::AWhile, format!("{{\"tools\":{}}}", listed.text(era))))
            }
            ("prompts/list", _) => {
                no_cursor(&params)?;
                self.list_prompts(context).await
            }
            ("prompts/get", _) => self.prompt(context, name, arguments, params).await,
            ("resources/list", _) => {
                no_cursor(&params)?;
                self.list_resources(context).await
            }
            ("resources/templates/list", _) => {
                no_cursor(&params)?;
                self.list_templates(context)
            }
            ("completion/complete", _) => Self::complete(context, &params),
            ("server/discover", None) => {
                let about = json!({
                    "supportedVersions": [MODERN],
                    "capabilities": capabilities(era),
                    "instructions": INSTRUCTIONS,
                });
                reply(era, Reuse::AWhile, &about)
            }
            ("tasks/get", None) => self.task(calls, context, &params).await,
            ("tasks/cancel", None) => self.cancel_task(calls, context, &params).await,
            ("tasks/update", None) => self.update_task(calls, context, &params).await,
            ("subscriptions/listen", None) => self.listen(context, &id, &params, stop.cancelled()).await,
            ("ping", Some(_)) => Ok("{}".to_owned()),
            ("logging/setLevel", Some(session)) => {
                let level = params.get("level").and_then(Value::as_str).and_then(LogLevel::from_name);
                session.set_level(level.ok_or_else(|| RpcError::invalid("unknown `level`"))?);
                Ok("{}".to_owned())
            }
            ("resources/subscribe", Some(_)) => self.subscribe(context, &params).await,
            ("resources/unsubscribe", Some(_)) => Ok("{}".to_owned()),
            _ => Err(RpcError::no_method(&method)),
        }
    }
}

/// Lists have a single page, so no cursor is valid.
fn no_cursor(params: &Map<String, Value>) -> Result<(), RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(RpcError::invalid("invalid `cursor`: lists have a single page")),
    }
}

/// The server's capabilities.
fn capabilities(era: Era) -> Value {
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {},
        "completions": {},
    });
    let Some(fields) = capabilities.as_object_mut() else { return capabilities };
    if era.is_modern() {
        fields.insert("extensions".to_owned(), json!({EXTENSION: {}}));
    } else {
        fields.insert("logging".to_owned(), json!({}));
        fields.insert("resources".to_owned(), json!({"subscribe": true}));
    }
    capabilities
}
