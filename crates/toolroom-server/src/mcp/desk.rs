//! The desk: where requests of clients are answered, whichever way they came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest};
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

use super::approval::Parked;
use super::fixtures::Fixtures;
use super::listing::{Listed, Listings};
use super::message::Request;
use super::peer::Asker;
use super::progress::Level;
use super::refusal::Refusal;
use super::reply::{Reuse, finish, reply, server_info};
use super::session::{Session, Sessions};
use super::tasks::EXTENSION;
use super::version::MODERN;
use crate::app::App;

/// What models are told about the whole.
const INSTRUCTIONS: &str = "Tools of a Toolroom. Every call is checked against the rules of its owner and logged. A call \
                            that is denied stays denied; one that waits for approval says who can give it.";

/// The path of every call, with what a door does beside it.
pub(crate) trait Calls: Send + Sync {
    /// Makes a call.
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport>;

    /// Stops one that runs here. Says whether there is one.
    fn stop(&self, scope: &Scope, call: &CallId) -> bool;

    /// Is cancelled when everything is about to end.
    fn closing(&self) -> CancellationToken;

    /// Goes on with one that was parked.
    fn resume(&self, request: ResumeRequest) -> BoxFuture<'_, Result<CallReport, ResumeError>>;
}

/// The calls of one client that started us.
pub(crate) struct OwnCalls {
    pub(crate) app: Arc<App>,
    /// Those that run, to be stopped by their name.
    pub(crate) running: Mutex<HashMap<CallId, CancellationToken>>,
    pub(crate) closing: CancellationToken,
}

impl OwnCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls for OwnCalls {
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport> {
        Box::pin(async move {
            let id = request.id.clone();
            if let Some(id) = &id {
                self.lock().insert(id.clone(), request.cancellation.clone());
            }
            let report = self.app.room.call(request).await;
            id.map(|id| self.lock().remove(&id));
            report
        })
    }

    fn stop(&self, _scope: &Scope, call: &CallId) -> bool {
        let running = self.lock();
        running.get(call).inspect(|stop| stop.cancel()).is_some()
    }

    fn closing(&self) -> CancellationToken {
        self.closing.child_token()
    }

    fn resume(&self, request: ResumeRequest) -> BoxFuture<'_, Result<CallReport, ResumeError>> {
        Box::pin(self.app.room.resume(request))
    }
}

/// Answers requests.
pub(crate) struct Desk {
    pub(super) app: Arc<App>,
    /// Clients of the earlier era.
    pub(crate) sessions: Sessions,
    /// Calls that wait, for whoever asks for the same again.
    pub(super) parked: Parked,
    listings: Listings,
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
            listings: Listings::default(),
            fixtures,
        }
    }

    pub(super) fn fixtures(&self) -> Option<&Arc<Fixtures>> {
        self.fixtures.as_ref()
    }

    /// The tools that somebody is offered.
    pub(super) async fn tools(&self, asker: &Asker) -> Result<Arc<Listed>, Refusal> {
        let listed = self.listings.of(&self.app.room, &asker.peer.scope.project).await;
        listed.map_err(|error| Refusal::failure(&error))
    }

    /// Answers a client that introduces itself.
    pub(crate) fn welcome(session: &Session) -> String {
        json!({
            "protocolVersion": session.version().as_str(),
            "capabilities": capabilities(true),
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
        &self,
        calls: &Arc<dyn Calls>,
        asker: &Asker,
        request: Request,
        stop: &CancellationToken,
    ) -> Result<String, Refusal> {
        let Request { id, method, params } = request;
        let era = asker.client.era;
        match (method.as_str(), &asker.client.session) {
            ("tools/call", _) => self.call(calls, asker, params, stop).await,
            ("tools/list", _) => {
                whole(&params)?;
                let listed = self.tools(asker).await?;
                Ok(finish(era, Reuse::AWhile, format!("{{\"tools\":{}}}", listed.text(era))))
            }
            ("prompts/list", _) => {
                whole(&params)?;
                self.list_prompts(asker).await
            }
            ("prompts/get", _) => self.prompt(asker, params).await,
            ("resources/list", _) => {
                whole(&params)?;
                self.list_resources(asker).await
            }
            ("resources/templates/list", _) => {
                whole(&params)?;
                self.list_templates(asker)
            }
            ("resources/read", _) => self.read_resource(asker, &params).await,
            ("completion/complete", _) => Self::complete(asker, &params),
            ("server/discover", None) => {
                let about = json!({
                    "supportedVersions": [MODERN],
                    "capabilities": capabilities(false),
                    "instructions": INSTRUCTIONS,
                });
                reply(era, Reuse::AWhile, &about)
            }
            ("tasks/get", None) => self.task(asker, &params).await,
            ("tasks/cancel", None) => self.cancel_task(&**calls, asker, &params).await,
            ("tasks/update", None) => self.update_task(asker, &params).await,
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
fn capabilities(is_legacy: bool) -> Value {
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {},
        "completions": {},
    });
    let Some(fields) = capabilities.as_object_mut() else { return capabilities };
    if is_legacy {
        fields.insert("logging".to_owned(), json!({}));
        fields.insert("resources".to_owned(), json!({"subscribe": true}));
    } else {
        fields.insert("extensions".to_owned(), json!({EXTENSION: {}}));
    }
    capabilities
}
