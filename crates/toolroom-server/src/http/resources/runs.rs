//! Runs: begun by a message, watched, gone on with, stopped.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolroom::agent::SendRequest;
use toolroom::conversation::{
    ConversationId, Conversations as _, NumberedEvent, Run, RunEvent, RunFilter, RunId, RunState,
};
use toolroom::ledger::CallId;
use toolroom::model::Message;
use toolroom_models::vendor::ModelName;

use crate::agents::{Choice, OpenAgentError, holds_secret};
use crate::documents::StreamedEvent;
use crate::http::access::Need;
use crate::http::extract::body::Body;
use crate::http::extract::body::Document;
use crate::http::extract::body::Path;
use crate::http::extract::body::Query;
use crate::http::extract::paging::Page;
use crate::http::extract::paging::not_ours;
use crate::http::middleware::idempotency;
use crate::http::problem::Problem;
use crate::http::resources::agents::not_kept;
use crate::http::resources::calls::check_context;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::streams::events::Stream;
use crate::http::streams::events::relay;
use crate::identity::{Caller, Permission, Who};
use crate::runs::{Position, RunSubscriber, StartRunError, StartedRun};
use crate::telemetry;

/// Where a client says what it has read.
const LAST_EVENT: &str = "last-event-id";

/// What is kept of where a run came from. Those are taken up after a restart.
pub(crate) const ENTRANCE: &str = "rest";

pub(crate) fn routes() -> Vec<Route> {
    let chat = Need::Permission(Permission::Chat);
    vec![
        Route::post("/v1/runs", chat, "Sends a message to an agent.", create)
            .body::<NewRun>()
            .repeatable()
            .reply::<RunReply>(200, "With `wait`: the answer, or what it waits for.")
            .reply::<RunReply>(202, "The run has begun; watch it at `/v1/runs/{run}/events`.")
            .stream::<StreamedEvent<'_>>(200, "With `stream`: what happens.")
            .refuse(404, "There is no such agent, conversation or model.")
            .refuse(409, "The conversation is another agent's, or somebody is being answered in it.")
            .refuse(502, "No model can be asked.")
            .refuse(503, "The server is about to end."),
        Route::get("/v1/runs", chat, "Lists runs, the newest first.", list)
            .query::<RunsQuery>()
            .reply::<RunList>(200, "The runs."),
        Route::get("/v1/runs/{run}", chat, "Shows one run.", show).reply::<RunReply>(200, "The run."),
        Route::get("/v1/runs/{run}/events", chat, "Streams what happens in a run.", watch)
            .query::<EventsQuery>()
            .header(LAST_EVENT, Position::PATTERN, "The id of the last event that was read.")
            .stream::<StreamedEvent<'_>>(200, "Events, until the run ends; go on with `Last-Event-ID`."),
        Route::post(
            "/v1/runs/{run}/resume",
            chat,
            "Goes on with a run that waits or was broken off.",
            resume,
        )
        .reply::<RunReply>(202, "It goes on.")
        .refuse(409, "It is over, or goes on already.")
        .refuse(502, "No model can be asked.")
        .refuse(503, "The server is about to end."),
        Route::post("/v1/runs/{run}/cancel", chat, "Stops a run.", cancel)
            .reply::<RunReply>(200, "It has stopped.")
            .refuse(409, "It is over."),
    ]
}

/// A message to an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"message": "What is 6*7?", "wait": true}))]
pub(crate) struct NewRun {
    /// Who answers; `default` if absent.
    #[serde(default)]
    agent: Option<String>,
    /// The conversation to go on in; a new one if absent.
    #[serde(default)]
    conversation: Option<String>,
    /// What is said.
    #[schemars(regex(pattern = r"\S"))]
    message: String,
    /// What the client says about its user and situation, up to 64 KiB. It gives no rights.
    #[serde(default)]
    context: Map<String, Value>,
    /// Another model than the agent's own, as `vendor/model`.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}/[!-~]{1,190}$"))]
    model: Option<String>,
    /// Reply when there is an answer, or somebody has to be asked.
    #[serde(default)]
    wait: bool,
    /// Reply with a stream of events.
    #[serde(default)]
    stream: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunsQuery {
    /// Only those in this state.
    #[serde(default)]
    state: Option<RunState>,
    /// Only those of this conversation.
    #[serde(default)]
    conversation: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page before ended: its `next_cursor`.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    /// The id of the last event that was read, for clients that cannot send `Last-Event-ID`.
    #[serde(default)]
    #[schemars(regex(pattern = Position::PATTERN))]
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct RunList {
    /// The runs.
    runs: Vec<Run>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A run, and what it says.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShownRun")]
pub(crate) struct RunReply {
    #[serde(flatten)]
    run: Run,
    /// The answer; empty if there is none yet.
    text: String,
    /// The calls that have to be answered before it goes on.
    waiting: Vec<CallId>,
}

impl RunReply {
    fn of(run: Run, events: &[NumberedEvent]) -> Self {
        let text = events.iter().rev().find_map(|event| match &event.event {
            RunEvent::Done { text, .. } => Some(text.clone()),
            _ => None,
        });
        let waiting = match (run.state, events.iter().rev().find_map(waiting_for)) {
            (RunState::Waiting, Some(calls)) => calls,
            _ => Vec::new(),
        };
        Self { run, text: text.unwrap_or_default(), waiting }
    }
}

fn waiting_for(event: &NumberedEvent) -> Option<Vec<CallId>> {
    match &event.event {
        RunEvent::Waiting { calls } => Some(calls.clone()),
        _ => None,
    }
}

async fn create(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Body(new): Body<NewRun>,
) -> Result<Response, Problem> {
    let (wait, stream) = (new.wait, new.stream);
    if stream && headers.contains_key(idempotency::HEADER) {
        let detail = "a stream is told once, so `stream` does not go with `Idempotency-Key`; leave one of them out, and \
                      read `/v1/runs/{run}/events` as often as you like";
        return Err(Problem::bad_request(detail));
    }
    let begun = begin(&server, &caller, new).await?;
    if stream {
        let (stream, response) = Stream::open();
        let subscriber = RunSubscriber::for_started(Arc::clone(&server.runs), caller.scope, &begun, None);
        tokio::spawn(telemetry::carried(relay(stream, subscriber)));
        return Ok(response);
    }
    let status = match wait {
        true => {
            server.runs.wait_until_idle(&begun.run).await;
            StatusCode::OK
        }
        false => StatusCode::ACCEPTED,
    };
    Ok((status, Document(reply(&server, &caller, &begun.run).await?)).into_response())
}

/// Begins a run for somebody.
pub(crate) async fn begin(server: &Arc<Server>, caller: &Caller, new: NewRun) -> Result<StartedRun, Problem> {
    check_context(&new.context)?;
    if new.model.is_some() && holds_secret(&server.app, &caller.scope, &new.model).await.map_err(not_kept)? {
        let detail = "`model` holds a secret, and its vendor would read it; nothing was sent";
        return Err(Problem::bad_request(detail));
    }
    let choice = choice(caller, new.agent, new.model.as_deref())?;
    let mut request = SendRequest::new(String::new()).scope(caller.scope.clone());
    request.message = Message::user(new.message);
    request.entrance = ENTRANCE.into();
    request.caller = Some(caller.call_owner());
    request.context = new.context;
    if let Some(id) = new.conversation {
        let id = ConversationId::new(&id);
        let known = server.app.store.conversation(&caller.scope, &id).await?;
        if known.is_none() {
            return Err(Problem::not_found(format!(
                "there is no conversation `{id}`; leave it out to begin one"
            )));
        }
        request.conversation = Some(id);
    }
    let begun = server.runs.send(&choice, request).await;
    begun.map_err(|error| match error {
        // Whoever names a model that is not here is wrong; we are, if the agent does.
        StartRunError::Agent(OpenAgentError::Model(error)) if !choice.models.is_empty() => {
            Problem::not_found(format!("{:#}", anyhow::Error::from(error)))
        }
        error => error.into(),
    })
}

/// Who answers. An end user's token names the one agent they may talk to.
pub(crate) fn choice(caller: &Caller, agent: Option<String>, model: Option<&str>) -> Result<Choice, Problem> {
    let agent = match &caller.who {
        Who::EndUser(user) if agent.as_deref().is_some_and(|agent| agent != user.agent.as_str()) => {
            return Err(Problem::forbidden(format!("this token is for the agent `{}`", user.agent)));
        }
        Who::EndUser(user) => Some(user.agent.to_string()),
        Who::Owner | Who::Key(_) => agent,
    };
    let models = match model {
        Some(_) if matches!(caller.who, Who::EndUser(_)) => {
            return Err(Problem::forbidden("this token does not choose the model"));
        }
        Some(model) => {
            vec![model.parse::<ModelName>().map_err(|error| Problem::bad_request(error.to_string()))?]
        }
        None => Vec::new(),
    };
    Ok(Choice { agent, models, ..Choice::default() })
}

/// The run of that id, which has to be theirs.
pub(crate) async fn known(server: &Server, caller: &Caller, id: &RunId) -> Result<Run, Problem> {
    let run = server.app.store.run(&caller.scope, id).await?.filter(|run| caller.may_talk_to(&run.agent));
    run.ok_or_else(|| Problem::not_found(format!("there is no run `{id}`; see `GET /v1/runs`")))
}

async fn reply(server: &Server, caller: &Caller, id: &RunId) -> Result<RunReply, Problem> {
    let run = known(server, caller, id).await?;
    let events = server.app.store.events(&caller.scope, id, 0).await?;
    Ok(RunReply::of(run, &events))
}

async fn list(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<RunsQuery>,
) -> Result<Document<RunList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let before = page.after.as_deref().map(RunId::new);
    if let Some(last) = &before
        && server.app.store.run(&caller.scope, last).await?.is_none()
    {
        return Err(not_ours());
    }
    let filter = RunFilter {
        conversation: query.conversation.as_deref().map(ConversationId::new),
        state: query.state,
        before,
        limit: Some(page.and_one_more()),
        ..RunFilter::default()
    };
    let mut runs = server.app.store.runs(&caller.scope, filter).await?;
    let next_cursor = page.cut(&mut runs, |run| run.id.to_string());
    runs.retain(|run| caller.may_talk_to(&run.agent));
    Ok(Document(RunList { runs, next_cursor }))
}

async fn show(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Document<RunReply>, Problem> {
    Ok(Document(reply(&server, &caller, &RunId::new(&id)).await?))
}

async fn watch(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = RunId::new(&id);
    let last = headers.get(LAST_EVENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let (last, after) = (place(last.as_deref())?, place(query.after.as_deref())?);
    let from = last.or(after);
    known(&server, &caller, &id).await?;
    let (stream, response) = Stream::open();
    let subscriber = RunSubscriber::new(Arc::clone(&server.runs), caller.scope, id, from);
    tokio::spawn(telemetry::carried(relay(stream, subscriber)));
    Ok(response)
}

/// Where somebody is in a run; at its beginning, if they say nothing.
fn place(text: Option<&str>) -> Result<Option<Position>, Problem> {
    let place = text.filter(|text| !text.is_empty()).map(str::parse::<Position>);
    place.transpose().map_err(|error| Problem::bad_request(error.to_string()))
}

async fn resume(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let id = known(&server, &caller, &RunId::new(&id)).await?.id;
    let begun = server.runs.resume(&caller.scope, &id).await?;
    Ok((StatusCode::ACCEPTED, Document(reply(&server, &caller, &begun.run).await?)).into_response())
}

async fn cancel(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Document<RunReply>, Problem> {
    let id = known(&server, &caller, &RunId::new(&id)).await?.id;
    server.runs.cancel(&caller.scope, &id).await?;
    Ok(Document(reply(&server, &caller, &id).await?))
}
