//! Runs: start one with a message, follow its events, resume or cancel it.

use std::sync::Arc;

use axum::extract::State;
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

use crate::agents::{AgentChoice, OpenAgentError, holds_secret};
use crate::documents::StreamedEvent;
use crate::http::access::Access;
use crate::http::extract::paging::invalid_cursor;
use crate::http::extract::{Json, Page, Path, Query};
use crate::http::middleware::idempotency;
use crate::http::problem::Problem;
use crate::http::resources::agents::not_kept;
use crate::http::resources::calls::check_context;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::streams::events::{Stream, relay};
use crate::identity::{Caller, Permission, Who};
use crate::runs::{Position, RunSubscriber, StartRunError, StartedRun};
use crate::telemetry;

/// The last event that a client has received.
const LAST_EVENT: &str = "last-event-id";

/// The entrance of these runs. The server resumes them after a restart and once their questions are answered.
pub(crate) const ENTRANCE: &str = "rest";

pub(crate) fn routes() -> Vec<Route> {
    let chat = Access::Permission(Permission::Chat);
    vec![
        Route::post("/v1/runs", chat, "Sends a message to an agent.", create)
            .body::<NewRun>()
            .idempotent()
            .reply::<RunReply>(200, "With `wait`: the answer, or what it waits for.")
            .reply::<RunReply>(202, "The run has started; its events are at `/v1/runs/{run}/events`.")
            .stream::<StreamedEvent<'_>>(200, "With `stream`: the events.")
            .problem(404, "Agent, conversation or model not found.")
            .problem(409, "The conversation belongs to another agent, or has an active run.")
            .problem(502, "No model available.")
            .problem(503, "The server is shutting down."),
        Route::get("/v1/runs", chat, "Lists runs, the newest first.", list)
            .query::<RunsQuery>()
            .reply::<RunList>(200, "The runs."),
        Route::get("/v1/runs/{run}", chat, "Shows a run.", show).reply::<RunReply>(200, "The run."),
        Route::get("/v1/runs/{run}/events", chat, "Streams the events of a run.", watch)
            .query::<EventsQuery>()
            .header(LAST_EVENT, Position::PATTERN, "Id of the last event that was received.")
            .stream::<StreamedEvent<'_>>(200, "Events until the run ends. Continue with `Last-Event-ID`."),
        Route::post("/v1/runs/{run}/resume", chat, "Resumes a run that waits or was interrupted.", resume)
            .reply::<RunReply>(202, "The run continues.")
            .problem(409, "The run has ended, or is active.")
            .problem(502, "No model available.")
            .problem(503, "The server is shutting down."),
        Route::post("/v1/runs/{run}/cancel", chat, "Cancels a run.", cancel)
            .reply::<RunReply>(200, "The run was cancelled.")
            .problem(409, "The run has ended."),
    ]
}

/// A message to an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"message": "What is 6*7?", "wait": true}))]
pub(crate) struct NewRun {
    /// The agent; `default` if absent.
    #[serde(default)]
    agent: Option<String>,
    /// The conversation to continue; a new one if absent.
    #[serde(default)]
    conversation: Option<String>,
    /// The message.
    #[schemars(regex(pattern = r"\S"))]
    message: String,
    /// Runtime context of the client about its user and situation, up to 64 KiB. It gives no rights.
    #[serde(default)]
    context: Map<String, Value>,
    /// Model to use instead of the agent's own, as `vendor/model`.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}/[!-~]{1,190}$"))]
    model: Option<String>,
    /// Reply when the run has ended or waits for an approval.
    #[serde(default)]
    wait: bool,
    /// Reply with a stream of events.
    #[serde(default)]
    stream: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunsQuery {
    /// Only runs in this state.
    #[serde(default)]
    state: Option<RunState>,
    /// Only runs of this conversation.
    #[serde(default)]
    conversation: Option<String>,
    /// Maximum number of entries.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    /// Id of the last event that was received, for clients that cannot send `Last-Event-ID`.
    #[serde(default)]
    #[schemars(regex(pattern = Position::PATTERN))]
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct RunList {
    /// The runs.
    runs: Vec<Run>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A run and its answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShownRun")]
pub(crate) struct RunReply {
    #[serde(flatten)]
    run: Run,
    /// The answer; empty until there is one.
    text: String,
    /// Calls that have to be answered before it continues.
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
    caller: Caller,
    headers: HeaderMap,
    Json(new): Json<NewRun>,
) -> Result<Response, Problem> {
    let (wait, stream) = (new.wait, new.stream);
    if stream && headers.contains_key(idempotency::HEADER) {
        let detail = "`stream` cannot be combined with `Idempotency-Key`, because a stream is not stored; leave one of them out, and \
                      read `/v1/runs/{run}/events` as often as you like";
        return Err(Problem::bad_request(detail));
    }
    let begun = begin(&server, &caller, new).await?;
    if stream {
        let (stream, response) = Stream::open();
        let subscriber = RunSubscriber::for_started(Arc::clone(&server.runs), caller.scope, &begun, None);
        tokio::spawn(telemetry::in_current_request(relay(stream, subscriber)));
        return Ok(response);
    }
    let status = match wait {
        true => {
            server.runs.wait_until_idle(&begun.run).await;
            StatusCode::OK
        }
        false => StatusCode::ACCEPTED,
    };
    Ok((status, Json(reply(&server, &caller, &begun.run).await?)).into_response())
}

/// Starts a run.
pub(crate) async fn begin(server: &Arc<Server>, caller: &Caller, new: NewRun) -> Result<StartedRun, Problem> {
    check_context(&new.context)?;
    if new.model.is_some() && holds_secret(&server.app, &caller.scope, &new.model).await.map_err(not_kept)? {
        let detail = "`model` contains a secret, which its vendor would read; nothing was sent";
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
                "there is no conversation `{id}`; leave it out to start one"
            )));
        }
        request.conversation = Some(id);
    }
    let begun = server.runs.send(&choice, request).await;
    begun.map_err(|error| match error {
        // A model that the request names is the client's mistake; one that the agent names is ours.
        StartRunError::Agent(OpenAgentError::Model(error)) if !choice.models.is_empty() => {
            Problem::not_found(format!("{:#}", anyhow::Error::from(error)))
        }
        error => error.into(),
    })
}

/// The agent and model of a run. The token of an end user names its agent.
pub(crate) fn choice(
    caller: &Caller,
    agent: Option<String>,
    model: Option<&str>,
) -> Result<AgentChoice, Problem> {
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
    Ok(AgentChoice { agent, models, ..AgentChoice::default() })
}

/// The run of this id, if the caller may talk to its agent.
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
    caller: Caller,
    Query(query): Query<RunsQuery>,
) -> Result<Json<RunList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    let before = page.after.as_deref().map(RunId::new);
    if let Some(last) = &before
        && server.app.store.run(&caller.scope, last).await?.is_none()
    {
        return Err(invalid_cursor());
    }
    let filter = RunFilter {
        conversation: query.conversation.as_deref().map(ConversationId::new),
        state: query.state,
        before,
        limit: Some(page.lookahead()),
        ..RunFilter::default()
    };
    let mut runs = server.app.store.runs(&caller.scope, filter).await?;
    let next_cursor = page.truncate(&mut runs, |run| run.id.to_string());
    runs.retain(|run| caller.may_talk_to(&run.agent));
    Ok(Json(RunList { runs, next_cursor }))
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RunReply>, Problem> {
    Ok(Json(reply(&server, &caller, &RunId::new(&id)).await?))
}

async fn watch(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = RunId::new(&id);
    let last = headers.get(LAST_EVENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let (last, after) = (position(last.as_deref())?, position(query.after.as_deref())?);
    let from = last.or(after);
    known(&server, &caller, &id).await?;
    let (stream, response) = Stream::open();
    let subscriber = RunSubscriber::new(Arc::clone(&server.runs), caller.scope, id, from);
    tokio::spawn(telemetry::in_current_request(relay(stream, subscriber)));
    Ok(response)
}

/// The position after which events are wanted; `None` for all.
fn position(text: Option<&str>) -> Result<Option<Position>, Problem> {
    let position = text.filter(|text| !text.is_empty()).map(str::parse::<Position>);
    position.transpose().map_err(|error| Problem::bad_request(error.to_string()))
}

async fn resume(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let id = known(&server, &caller, &RunId::new(&id)).await?.id;
    let begun = server.runs.resume(&caller.scope, &id).await?;
    Ok((StatusCode::ACCEPTED, Json(reply(&server, &caller, &begun.run).await?)).into_response())
}

async fn cancel(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RunReply>, Problem> {
    let id = known(&server, &caller, &RunId::new(&id)).await?.id;
    server.runs.cancel(&caller.scope, &id).await?;
    Ok(Json(reply(&server, &caller, &id).await?))
}
