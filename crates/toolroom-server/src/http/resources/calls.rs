//! Calls: make, list, show, resume and cancel them.
//!
//! A call is cancelled when its client disconnects. With an `Idempotency-Key` it continues, because the client can ask
//! for the reply again.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolroom::approval::Responder;
use toolroom::call::{CallReport, CallRequest, MAX_CONTEXT_BYTES, Outcome, ResumeError, ResumeRequest};
use toolroom::clock::Timestamp;
use toolroom::conversation::{ConversationId, Conversations as _};
use toolroom::ledger::{CallFilter, CallId, CallRecord, CallStatus, Journal as _};
use toolroom::scope::Scope;
use toolroom::tool::{ErrorKind, RaisedBy};

use crate::documents::{CallDocument, Surface, whole_number};
use crate::http::access::Access;
use crate::http::extract::{Json, Page, Path, Query};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::streams::cancel_on_disconnect::CancelOnDisconnect;
use crate::identity::{Caller, Permission};

/// The entrance of these calls in the journal.
pub(crate) const ENTRANCE: &str = "rest";

/// Longest timeout of a call.
const MAX_TIMEOUT: Duration = Duration::from_hours(24);

pub(crate) fn routes() -> Vec<Route> {
    let call = Access::Permission(Permission::Call);
    let read = Access::Permission(Permission::Read);
    let outcome = |route: Route| {
        route
            .reply::<CallDocument>(200, "The call has ended; `outcome` says how.")
            .reply::<CallDocument>(202, "The call waits for approval.")
            .reply::<CallDocument>(404, "Tool not found.")
            .reply::<CallDocument>(429, "Too many calls; try again after `retry_after` seconds.")
    };
    vec![
        outcome(Route::post("/v1/calls", call, "Calls a tool.", create).body::<NewCall>().idempotent())
            .problem(404, "The conversation is not found in this project."),
        Route::get("/v1/calls", read, "Lists the calls of the project, the newest first.", list)
            .query::<CallsQuery>()
            .reply::<CallList>(200, "The calls."),
        Route::get("/v1/calls/{call}", read, "Shows a call.", show)
            .reply::<CallRecord>(200, "The journal record of the call."),
        Route::post("/v1/calls/{call}/cancel", call, "Cancels a call that runs on this server.", cancel)
            .reply::<CancelReply>(202, "The call is being cancelled; its record will show how it ended.")
            .problem(409, "The call does not run on this server."),
        outcome(
            Route::post("/v1/calls/{call}/resume", call, "Runs a call that was approved.", resume)
                .idempotent()
                .problem(409, "The call has ended, or belongs to a run."),
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"tool": "calculator", "arguments": {"expression": "6*7"}}))]
struct NewCall {
    /// The tool: id, alias or unique name.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Runtime context of the client about its user and situation, up to 64 KiB. It gives no rights.
    #[serde(default)]
    context: Map<String, Value>,
    /// A conversation of the caller that the call belongs to: its provenance counts, and answers given there apply.
    #[serde(default)]
    conversation: Option<String>,
    /// Timeout in milliseconds.
    #[serde(default, deserialize_with = "whole_number")]
    #[schemars(range(min = 1, max = 86_400_000))]
    timeout_ms: Option<u64>,
}

async fn create(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Json(new): Json<NewCall>,
) -> Result<Response, Problem> {
    check_context(&new.context)?;
    let timeout = new.timeout_ms.map(Duration::from_millis);
    if timeout.is_some_and(|timeout| timeout.is_zero() || timeout > MAX_TIMEOUT) {
        return Err(Problem::bad_request("`timeout_ms` must be a number from 1 to 86400000"));
    }
    let stop = server.calls.closing().child_token();
    let mut request = CallRequest::through(ENTRANCE, new.tool, caller.scope.clone(), stop.clone())
        .id(CallId::fresh(server.app.room.clock()))
        .arguments(new.arguments)
        .context(new.context)
        .source(caller.source())
        .metadata(caller.facts());
    request.timeout = timeout;
    request.caller = Some(caller.call_owner());
    if let Some(id) = new.conversation {
        let id = ConversationId::new(&id);
        if !server.app.store.was_started_by(&caller.scope, &id, &caller.call_owner()).await? {
            let detail = format!("there is no conversation `{id}` of this caller; leave it out");
            return Err(Problem::not_found(detail));
        }
        request = request.conversation(id.as_str(), None);
    }
    let worker = Arc::clone(&server);
    let report = Box::pin(async move { worker.calls.call(request).await });
    let report = CancelOnDisconnect::new(stop, report).await?;
    reply(&server, &caller.scope, &report, &caller.responder()).await
}

/// Refuses a runtime context that is too large.
pub(crate) fn check_context(context: &Map<String, Value>) -> Result<(), Problem> {
    let size = serde_json::to_vec(context).map_err(|error| Problem::failure(&error))?.len();
    match size <= MAX_CONTEXT_BYTES {
        true => Ok(()),
        false => {
            let detail =
                format!("`context` has {size} bytes of JSON; up to {MAX_CONTEXT_BYTES} are accepted");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail))
        }
    }
}

/// The report of a call, with the status of its outcome.
async fn reply(
    server: &Server,
    scope: &Scope,
    report: &CallReport,
    responder: &Responder,
) -> Result<Response, Problem> {
    let room = &server.app.room;
    let question = match report.outcome {
        Outcome::Pending(_) => room.approvals().question(scope, &report.call_id).await?,
        Outcome::Done(_) | Outcome::Failed(_) | Outcome::Denied(_) => None,
    };
    let answers = question.map_or(Ok(&[][..]), |question| room.answers(&question, responder))?;
    let document = CallDocument::of(report, Surface::Web(answers));
    let mut response = (status(&report.outcome), Json(document)).into_response();
    if let Outcome::Failed(error) = &report.outcome
        && response.status() == StatusCode::TOO_MANY_REQUESTS
    {
        let seconds = error.retry_after().unwrap_or_default().as_secs().max(1);
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

fn status(outcome: &Outcome) -> StatusCode {
    match outcome {
        Outcome::Pending(_) => StatusCode::ACCEPTED,
        Outcome::Failed(error) if error.raised_by() == RaisedBy::Kernel => match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::OK,
        },
        Outcome::Done(_) | Outcome::Failed(_) | Outcome::Denied(_) => StatusCode::OK,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CallsQuery {
    /// Only calls of this tool: id, alias or unique name.
    #[serde(default)]
    tool: Option<String>,
    /// Only calls with this status.
    #[serde(default)]
    status: Option<CallStatus>,
    /// Only calls of this run.
    #[serde(default)]
    run: Option<String>,
    /// Only calls since this time: microseconds since the Unix epoch.
    #[serde(default)]
    since: Option<i64>,
    /// Maximum number of entries.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct CallList {
    /// The calls, the newest first.
    calls: Vec<CallRecord>,
    /// Cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Query(query): Query<CallsQuery>,
) -> Result<Json<CallList>, Problem> {
    let page = Page::new(query.limit, query.cursor.as_deref())?;
    // The name of a tool that no longer exists is used as it is.
    let catalog = server.app.room.catalog();
    let tool = query.tool.map(|name| match catalog.find(&caller.scope.project, &name) {
        Ok(entry) => entry.spec().id.to_string(),
        Err(_) => name,
    });
    let filter = CallFilter {
        tool,
        status: query.status,
        since: query.since.map(Timestamp::from_micros),
        run: query.run,
        before: page.after.as_deref().map(CallId::new),
        id_suffix: None,
        limit: Some(page.lookahead()),
    };
    let mut calls = server.app.store.calls(&caller.scope, filter).await?;
    let next_cursor = page.truncate(&mut calls, |call| call.id.to_string());
    calls.iter_mut().for_each(|call| hide_detail(&caller, call));
    Ok(Json(CallList { calls, next_cursor }))
}

/// Removes the cause of an error, which only callers who may manage the project see.
fn hide_detail(caller: &Caller, call: &mut CallRecord) {
    if !caller.may(Permission::Manage) {
        call.detail = None;
    }
}

async fn find(server: &Server, caller: &Caller, id: &str) -> Result<CallRecord, Problem> {
    let found = server.app.store.call(&caller.scope, &CallId::new(id)).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no call `{id}`; see `GET /v1/calls`")))
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<CallRecord>, Problem> {
    let mut call = find(&server, &caller, &id).await?;
    hide_detail(&caller, &mut call);
    Ok(Json(call))
}

#[derive(Serialize, JsonSchema)]
struct CancelReply {
    /// The call.
    call_id: CallId,
}

async fn cancel(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let call_id = CallId::new(&id);
    if server.calls.running().cancel(&caller.scope, &call_id) {
        return Ok((StatusCode::ACCEPTED, Json(CancelReply { call_id })).into_response());
    }
    let call = find(&server, &caller, &id).await?;
    Err(Problem::conflict(match call.status {
        CallStatus::Begun => {
            format!("`{id}` does not run on this server, or belongs to a run; cancel the run")
        }
        CallStatus::Pending => format!("`{id}` is not running: it waits for an answer, or to be resumed"),
        status => format!("`{id}` has ended: {status}"),
    }))
}

async fn resume(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    if let Some(run) = find(&server, &caller, &id).await?.run {
        return Err(Problem::conflict(format!("`{id}` belongs to the run `{run}`, which resumes it")));
    }
    check_made_by(&server, &caller, &CallId::new(&id)).await?;
    let stop = server.calls.closing().child_token();
    let (source, responder) = (caller.source(), caller.responder());
    let mut request = ResumeRequest::new(CallId::new(&id), caller.scope);
    request.source = Some(source);
    request.cancellation = stop.clone();
    CancelOnDisconnect::new(stop, Box::pin(async move { resume_latest(&server, request, &responder).await }))
        .await?
}

/// Refuses to run a parked call for another caller than the one that made it: its result is for that caller.
async fn check_made_by(server: &Server, caller: &Caller, id: &CallId) -> Result<(), Problem> {
    let asked = server
        .app
        .room
        .question_details(&caller.scope, id)
        .await
        .map_err(|error| Problem::failure(&error))?;
    // The arguments of a call that has ended are not stored, and it does not run again.
    let waits = asked.filter(|asked| asked.arguments.is_some());
    if caller.is_owner() || waits.is_none_or(|asked| asked.caller == Some(caller.call_owner())) {
        return Ok(());
    }
    Err(Problem::forbidden(format!("`{id}` was made by another caller, which has to resume it")))
}

/// Resumes a parked call, or the one that replaced it.
async fn resume_latest(
    server: &Server,
    mut request: ResumeRequest,
    responder: &Responder,
) -> Result<Response, Problem> {
    loop {
        let call = request.call.clone();
        match server.calls.resume(request.clone()).await {
            Ok(report) => return reply(server, &request.scope, &report, responder).await,
            // The arguments were edited: run the call that replaced it.
            Err(ResumeError::Replaced { by, .. }) => request.call = by,
            Err(ResumeError::NotFound(_)) => {
                return Err(Problem::not_found(format!(
                    "`{call}` was never parked; see `GET /v1/approvals`"
                )));
            }
            Err(
                error @ (ResumeError::Over { .. }
                | ResumeError::Unrepeatable { .. }
                | ResumeError::NotKept(_)),
            ) => {
                return Err(Problem::conflict(error.to_string()));
            }
            Err(error @ (ResumeError::Broken(_) | ResumeError::Sealed(_) | ResumeError::Ledger(_))) => {
                return Err(Problem::failure(&error));
            }
        }
    }
}
