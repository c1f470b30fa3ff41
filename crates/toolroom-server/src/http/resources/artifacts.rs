//! Artifacts: whole results that were shortened in the reply, and files that came with results.

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
use crate::http::extract::range::RequestedRange;
use crate::http::extract::{Json, Path, Query};
use crate::http::problem::Problem;
use crate::http::route::{ANY_TEXT, Route};
use crate::http::server::Server;
use crate::http::streams::artifact_body::ArtifactBody;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let read = Access::Permission(Permission::Read);
    vec![
        Route::get("/v1/artifacts/{artifact}", read, "Shows an artifact without its content.", show)
            .reply::<ArtifactDocument>(200, "The artifact, without its content."),
        Route::get(
            "/v1/artifacts/{artifact}/content",
            Access::Recipient,
            "Returns the content of an artifact, or the part that `Range` names. End users get files that were offered to them.",
            content,
        )
        .query::<ContentQuery>()
        .header("Range", ANY_TEXT, "Part of the content, such as `bytes=0-99`.")
        .response(200, JSON, "The content.")
        .response(200, "text/plain", "The content, of a result that is text.")
        .response(200, "*/*", "The content, of a file.")
        .response(206, JSON, "A part of the content.")
        .with_header("Content-Range", "The part, and the size of the whole.")
        .response(206, "text/plain", "A part of the content, of a result that is text.")
        .response(206, "*/*", "A part of the content, of a file.")
        .problem(416, "The artifact does not have these bytes.")
        .with_header("Content-Range", "The size of the whole."),
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
    /// `application/json`, `text/plain` for a result that is text, or the type of the file.
    media_type: String,
    /// Its size.
    bytes: u64,
    /// When it was stored: microseconds since the Unix epoch.
    kept_at: Timestamp,
}

async fn find(server: &Server, caller: &Caller, id: &ArtifactId) -> Result<ArtifactFacts, Problem> {
    let found = server.app.store.artifact_facts(&caller.scope, id).await?;
    found.ok_or_else(|| missing(id))
}

fn missing(id: &ArtifactId) -> Problem {
    let detail = format!("there is no artifact `{id}` (any more); `GET /v1/calls/ID` names that of a call");
    Problem::not_found(detail)
}

/// Whether a run with an agent of this caller offered it the file.
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
    /// Name of the file to save it in.
    #[serde(default)]
    name: Option<String>,
}

/// Always an attachment: content of unknown origin must not be shown as a page of this server.
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
    let (status, range) = match RequestedRange::read(wanted, length) {
        RequestedRange::All => (StatusCode::OK, 0..length),
        RequestedRange::Bytes(range) => (StatusCode::PARTIAL_CONTENT, range),
        RequestedRange::Beyond => {
            let detail = format!("`Range` is beyond the end; the artifact has {length} bytes");
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
