//! The desk: where requests of clients are answered, whichever way they came.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest};
use toolroom::scope::Scope;

use super::changes::Lookouts;
use super::fixtures::Fixtures;
use super::listing::{Listed, Listings};
use super::message::Request;
use super::params::Params;
use super::parked::Parked;
use super::peer::Asker;
use super::progress::Level;
use super::refusal::Refusal;
use super::reply::{Reuse, finish, reply, server_info};
use super::resources::Contents;
use super::session::{Session, Sessions};
use super::tasks::EXTENSION;
use super::told::Told;
use super::undertakings::Undertakings;
use super::unheard::Unheard;
use super::version::{Era, MODERN};
use crate::app::App;
use crate::running_calls::RunningCalls;

/// What models are told about the whole.
const INSTRUCTIONS: &str = "Tools of a Toolroom. Every call is checked against the rules of its owner and logged. A call \
                            that is denied stays denied; one that waits for approval says who can give it.";

/// The path of every call, with what a door does beside it.
pub(crate) trait Calls: Send + Sync {
    /// Makes a call.
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport>;

    /// Those that run here, or wait for their turn.
    fn running(&self) -> &RunningCalls;

    /// What goes on when whoever asked for it has left.
    fn undertakings(&self) -> &Undertakings;

    /// Is cancelled when everything is about to end.
    fn closing(&self) -> CancellationToken;

    /// Goes on with one that was parked.
    fn resume(&self, request: ResumeRequest) -> BoxFuture<'_, Result<CallReport, ResumeError>>;
}

/// Answers requests.
pub(crate) struct Desk {
    pub(super) app: Arc<App>,
    /// Clients of the earlier era.
    pub(crate) sessions: Sessions,
    /// Calls that wait, for whoever asks for the same again.
    pub(super) parked: Parked,
    /// What became of tasks, where the journal does not say it.
    pub(super) unheard: Arc<Unheard>,
    /// Who wants to hear of changes.
    pub(super) lookouts: Lookouts,
    listings: Listings,
    /// Contents of resources on their way to whoever reads them.
    pub(super) contents: Contents,
    /// What the official suites look for.
    fixtures: Option<Arc<Fixtures>>,
}

impl Desk {
    pub(crate) fn new(app: Arc<App>, fixtures: Option<Arc<Fixtures>>) -> Self {
        if let Some(fixtures) = &fixtures {
            fixtures.attach(&app);
        }
        Self {
            app,
            sessions: Sessions::default(),
            parked: Parked::default(),
            unheard: Arc::default(),
            lookouts: Lookouts::default(),
            listings: Listings::default(),
            contents: Contents::default(),
            fixtures,
        }
    }

    pub(super) fn fixtures(&self) -> Option<&Arc<Fixtures>> {
        self.fixtures.as_ref()
    }

    /// The tools that somebody is offered.
    pub(super) async fn tools(&self, scope: &Scope) -> Result<Arc<Listed>, Refusal> {
        let listed = self.listings.of(&self.app.room, &scope.project).await;
        listed.map_err(|error| Refusal::failure(&error))
    }

    /// Answers a client that introduces itself.
    pub(crate) fn welcome(session: &Session) -> String {
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
        calls: &Arc<dyn Calls>,
        asker: &Asker,
        request: Request,
        stop: &CancellationToken,
    ) -> Result<Told, Refusal> {
        let answer = match request.method.as_str() {
            "tools/call" => self.call(calls, asker, request.params, stop).await,
            // What is rarer takes no room in each of them.
            "resources/read" => return Box::pin(self.read_resource(asker, &request.params.others)).await,
            _ => Box::pin(self.answer_otherwise(calls, asker, request, stop)).await,
        };
        answer.map(Told::from)
    }

    /// Answers whatever calls no tool.
    async fn answer_otherwise(
        self: &Arc<Self>,
        calls: &Arc<dyn Calls>,
        asker: &Asker,
        Request { id, method, params }: Request,
        stop: &CancellationToken,
    ) -> Result<String, Refusal> {
        let Params { name, arguments, others: params, .. } = *params;
        let era = asker.client.era;
        match (method.as_str(), &asker.client.session) {
            ("tools/list", _) => {
                whole(&params)?;
                let listed = self.tools(&asker.peer.scope).await?;
                Ok(finish(era, Reuse::AWhile, format!("{{\"tools\":{}}}", listed.text(era))))
            }
            ("prompts/list", _) => {
                whole(&params)?;
                self.list_prompts(asker).await
            }
            ("prompts/get", _) => self.prompt(asker, name, arguments, params).await,
            ("resources/list", _) => {
                whole(&params)?;
                self.list_resources(asker).await
            }
            ("resources/templates/list", _) => {
                whole(&params)?;
                self.list_templates(asker)
            }
            ("completion/complete", _) => Self::complete(asker, &params),
            ("server/discover", None) => {
                let about = json!({
                    "supportedVersions": [MODERN],
                    "capabilities": capabilities(era),
                    "instructions": INSTRUCTIONS,
                });
                reply(era, Reuse::AWhile, &about)
            }
            ("tasks/get", None) => self.task(&**calls, asker, &params).await,
            ("tasks/cancel", None) => self.cancel_task(&**calls, asker, &params).await,
            ("tasks/update", None) => self.update_task(&**calls, asker, &params).await,
            ("subscriptions/listen", None) => self.listen(asker, &id, &params, stop.cancelled()).await,
            ("ping", Some(_)) => Ok("{}".to_owned()),
            ("logging/setLevel", Some(session)) => {
                let level = params.get("level").and_then(Value::as_str).and_then(Level::of);
                session
                    .set_level(level.ok_or_else(|| Refusal::invalid("`level` is none of the known ones"))?);
                Ok("{}".to_owned())
            }
            ("resources/subscribe", Some(_)) => self.subscribe(asker, &params).await,
            ("resources/unsubscribe", Some(_)) => Ok("{}".to_owned()),
            _ => Err(Refusal::no_method(&method)),
        }
    }
}

/// Lists are given whole, so nobody can be in the middle of one.
fn whole(params: &Map<String, Value>) -> Result<(), Refusal> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(Refusal::invalid("`cursor` is none of ours: lists are given whole")),
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
