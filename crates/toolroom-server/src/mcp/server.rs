//! The desk: where requests of clients are answered, whichever way they came.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::scope::Scope;

use crate::app::App;
use crate::calls::CallService;
use crate::mcp::calls::parked::ParkedCalls;
use crate::mcp::calls::progress::LogLevel;
use crate::mcp::calls::tasks::EXTENSION;
use crate::mcp::calls::undelivered::UndeliveredMessages;
use crate::mcp::context::RequestContext;
use crate::mcp::fixtures::Fixtures;
use crate::mcp::protocol::message::Request;
use crate::mcp::protocol::outgoing::OutgoingMessage;
use crate::mcp::protocol::params::Params;
use crate::mcp::protocol::reply::{Reuse, finish, reply, server_info};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::protocol::version::{Era, MODERN};
use crate::mcp::resources::ReadBudget;
use crate::mcp::sessions::session::{McpSession, McpSessions};
use crate::mcp::sessions::subscription::Subscriptions;
use crate::mcp::tool_listing::{ToolListing, ToolListings};

/// What models are told about the whole.
const INSTRUCTIONS: &str = "Tools of a Toolroom. Every call is checked against the rules of its owner and logged. A call \
                            that is denied stays denied; one that waits for approval says who can give it.";

/// Answers requests.
pub(crate) struct McpServer {
    pub(super) app: Arc<App>,
    /// Clients of the earlier era.
    pub(crate) sessions: McpSessions,
    /// Calls that wait, for whoever asks for the same again.
    pub(super) parked: ParkedCalls,
    /// What became of tasks, where the journal does not say it.
    pub(super) unheard: Arc<UndeliveredMessages>,
    /// Who wants to hear of changes.
    pub(super) lookouts: Subscriptions,
    listings: ToolListings,
    /// ReadBudget of resources on their way to whoever reads them.
    pub(super) contents: ReadBudget,
    /// What the official suites look for.
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
            unheard: Arc::default(),
            lookouts: Subscriptions::default(),
            listings: ToolListings::default(),
            contents: ReadBudget::default(),
            fixtures,
        }
    }

    pub(super) fn fixtures(&self) -> Option<&Arc<Fixtures>> {
        self.fixtures.as_ref()
    }

    /// The tools that somebody is offered.
    pub(super) async fn tools(&self, scope: &Scope) -> Result<Arc<ToolListing>, RpcError> {
        let listed = self.listings.of(&self.app.room, &scope.project).await;
        listed.map_err(|error| RpcError::failure(&error))
    }

    /// Answers a client that introduces itself.
    pub(crate) fn welcome(session: &McpSession) -> String {
        json!({
            "protocolVersion": session.version().as_str(),
            "capabilities": capabilities(Era::Legacy(session.version())),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        })
        .to_string()
    }

    /// Answers a request: with the text of its result, or why there is none.
    ///
    /// # Errors
    /// When it is none that can be answered.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        calls: &Arc<CallService>,
        context: &RequestContext,
        request: Request,
        stop: &CancellationToken,
    ) -> Result<OutgoingMessage, RpcError> {
        let answer = match request.method.as_str() {
            "tools/call" => self.call(calls, context, request.params, stop).await,
            // What is rarer takes no room in each of them.
            "resources/read" => return Box::pin(self.read_resource(context, &request.params.others)).await,
            _ => Box::pin(self.answer_otherwise(calls, context, request, stop)).await,
        };
        answer.map(OutgoingMessage::from)
    }

    /// Answers whatever calls no tool.
    async fn answer_otherwise(
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
                whole(&params)?;
                let listed = self.tools(&context.caller.scope).await?;
                Ok(finish(era, Reuse::AWhile, format!("{{\"tools\":{}}}", listed.text(era))))
            }
            ("prompts/list", _) => {
                whole(&params)?;
                self.list_prompts(context).await
            }
            ("prompts/get", _) => self.prompt(context, name, arguments, params).await,
            ("resources/list", _) => {
                whole(&params)?;
                self.list_resources(context).await
            }
            ("resources/templates/list", _) => {
                whole(&params)?;
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
                let level = params.get("level").and_then(Value::as_str).and_then(LogLevel::of);
                session
                    .set_level(level.ok_or_else(|| RpcError::invalid("`level` is none of the known ones"))?);
                Ok("{}".to_owned())
            }
            ("resources/subscribe", Some(_)) => self.subscribe(context, &params).await,
            ("resources/unsubscribe", Some(_)) => Ok("{}".to_owned()),
            _ => Err(RpcError::no_method(&method)),
        }
    }
}

/// Lists are given whole, so nobody can be in the middle of one.
fn whole(params: &Map<String, Value>) -> Result<(), RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(RpcError::invalid("`cursor` is none of ours: lists are given whole")),
    }
}

/// What we can do. The earlier era sets what it wants to be told of once, the later one in each request.
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
