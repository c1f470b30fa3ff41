//! Whole results of calls whose reply was shortened, and files that came with results.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::clock::Timestamp;
use toolroom::conversation::{Conversations as _, RunId};
use toolroom::ledger::{ArtifactId, CallId, Journal as _};
use toolroom::tool::{Offer, bare_name};
use toolroom_store::ArtifactFacts;

use crate::documents::percent_encoded;
use crate::http::access::Access;
use crate::http::extract::json::JSON;
use crate::http::extract::range::Part;
use crate::http::extract::{Json, Path, Query};
use crate::http::problem::Problem;
use crate::http::route::{ANY_TEXT, Route};
use crate::http::server::Server;
use crate::http::streams::artifact_body::ArtifactBody;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let read = Access::Permission(Permission::Read);
    vec![
        Route::get("/v1/artifacts/{artifact}", read, "Says what an artifact is.", show)
            .reply::<ArtifactDocument>(200, "What it is, without its content."),
        Route::get(
            "/v1/artifacts/{artifact}/content",
            Access::Recipient,
            "Gives the bytes of an artifact, or with `Range` some of them; an end user gets files that were offered to them.",
            content,
        )
        .query::<ContentQuery>()
        .header("Range", ANY_TEXT, "Which bytes, as in `bytes=0-99`.")
        .response(200, JSON, "All of them.")
        .response(200, "text/plain", "All of them, of a result that was one text.")
        .response(200, "*/*", "All of them, of a file that came with a result.")
        .response(206, JSON, "Some of them.")
        .with_header("Content-Range", "Which ones, and of how many.")
        .response(206, "text/plain", "Some of them, of a result that was one text.")
        .response(206, "*/*", "Some of them, of a file that came with a result.")
        .problem(416, "It has no such bytes.")
        .with_header("Content-Range", "How many it has."),
    ]
}

/// An artifact, without its content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifact")]
struct ArtifactDocument {
    /// Its id.
    id: ArtifactId,
    /// The call it came from.
    call_id: CallId,
    /// `application/json`, `text/plain` for a result that was one text, or the type of a file that came with a result.
    media_type: String,
    /// How large it is.
    bytes: u64,
    /// When it was kept: microseconds since the Unix epoch.
    kept_at: Timestamp,
}

async fn find(server: &Server, caller: &Caller, id: &ArtifactId) -> Result<ArtifactFacts, Problem> {
    let found = server.app.store.artifact_facts(&caller.scope, id).await?;
    found.ok_or_else(|| missing(id))
}

fn missing(id: &ArtifactId) -> Problem {
    let detail =
        format!("there is no artifact `{id}`, or no longer; `GET /v1/calls/ID` names that of a call");
    Problem::not_found(detail)
}

/// Whether a call offered this file to the caller, in a run with an agent that they may talk to.
async fn is_offered(
    server: &Server,
    caller: &Caller,
    id: &ArtifactId,
    call: &CallId,
) -> Result<bool, Problem> {
    let store = &server.app.store;
    let Some(call) = store.call(&caller.scope, call).await? else { return Ok(false) };
    let is_named = call.offers.iter().filter_map(Offer::file).any(|file| file.artifact == *id);
    let Some(run) = call.run.filter(|_| is_named) else { return Ok(false) };
    let run = store.run(&caller.scope, &RunId::new(&run)).await?;
    Ok(run.is_some_and(|run| caller.may_talk_to(&run.agent)))
}

async fn show(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ArtifactDocument>, Problem> {
    let id = ArtifactId::new(&id);
    let ArtifactFacts { call, media_type, bytes, kept_at } = find(&server, &caller, &id).await?;
    Ok(Json(ArtifactDocument { id, call_id: call, media_type, bytes, kept_at }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContentQuery {
    /// What the file is to be called that it is saved in.
    #[serde(default)]
    name: Option<String>,
}

/// Nothing of ours is ever shown as a page of ours: what is kept here may be anybody's.
fn disposition(name: Option<&str>) -> String {
    match name {
        None => "attachment".to_owned(),
        Some(name) => format!("attachment; filename*=UTF-8''{}", percent_encoded(&bare_name(name))),
    }
}

async fn content(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<ContentQuery>,
) -> Result<Response, Problem> {
    let id = ArtifactId::new(&id);
    let artifact = find(&server, &caller, &id).await?;
    if !caller.may(Permission::Read) && !is_offered(&server, &caller, &id, &artifact.call).await? {
        return Err(missing(&id));
    }
    let length = artifact.bytes;
    let wanted = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let (status, range) = match Part::read(wanted, length) {
        Part::All => (StatusCode::OK, 0..length),
        Part::Bytes(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::Beyond => {
            let detail = format!("it has {length} bytes, and those in `Range` are not among them");
            let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, "no_such_range", detail);
            let told = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
            return Ok((told, problem).into_response());
        }
    };
    let kept = ArtifactBody::new(server.app.store.clone(), caller.scope, id, range.clone());
    let mut response = (status, Body::new(kept)).into_response();
    let told = response.headers_mut();
    let media_type = HeaderValue::from_str(&artifact.media_type).map_err(|error| Problem::failure(&error))?;
    told.insert(header::CONTENT_TYPE, media_type);
    let disposition = disposition(query.name.as_deref());
    let disposition = HeaderValue::from_str(&disposition).map_err(|error| Problem::failure(&error))?;
    told.insert(header::CONTENT_DISPOSITION, disposition);
    told.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    told.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if status == StatusCode::PARTIAL_CONTENT {
        let text = format!("bytes {}-{}/{length}", range.start, range.end.saturating_sub(1));
        let value = HeaderValue::from_str(&text).map_err(|error| Problem::failure(&error))?;
        told.insert(header::CONTENT_RANGE, value);
    }
    Ok(response)
}
