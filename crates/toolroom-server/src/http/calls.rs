//! Calls: made, looked up, gone on with, stopped.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom::call::{CallReport, CallRequest, Outcome};
use toolroom::tool::{ErrorKind, RaisedBy};

use super::need::Need;
use super::problem::Problem;
use super::reading::{Body, Document};
use super::route::Route;
use super::server::Server;
use crate::documents::{CallDocument, Surface};
use crate::identity::{Caller, Permission};

/// What the journal says of calls that came in here.
const ENTRANCE: &str = "rest";

pub(super) fn routes() -> Vec<Route> {
    let call = Need::Permission(Permission::Call);
    vec![
        Route::post("/v1/calls", call, "Calls a tool.", create)
            .body::<NewCall>()
            .reply::<CallDocument>(200, "The call has ended; `outcome` says how.")
            .reply::<CallDocument>(202, "The call waits for somebody to approve it.")
            .reply::<CallDocument>(404, "There is no such tool.")
            .reply::<CallDocument>(429, "Too many calls; try again after `retry_after` seconds."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewCall {
    /// The tool: id, alias or unique name.
    tool: String,
    /// What to call it with.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// What the client says about its user and situation.
    #[serde(default)]
    context: Map<String, Value>,
    /// Milliseconds after which to give up.
    #[serde(default)]
    #[schemars(range(min = 1))]
    timeout_ms: Option<u64>,
}

async fn create(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewCall>,
) -> Result<Response, Problem> {
    let mut request = CallRequest::new(new.tool)
        .arguments(new.arguments)
        .context(new.context)
        .scope(caller.scope.clone())
        .entrance(ENTRANCE)
        // Whoever goes away is not waited for.
        .cancellation(server.ending.child_token());
    request.timeout = new.timeout_ms.map(Duration::from_millis);
    Ok(reply(&server.app.room.call(request).await))
}

/// A report, with the status that says how it ended.
pub(super) fn reply(report: &CallReport) -> Response {
    (status(&report.outcome), Document(CallDocument::of(report, Surface::Web))).into_response()
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
