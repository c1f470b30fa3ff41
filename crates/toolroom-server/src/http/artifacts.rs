//! Whole results of calls whose reply was shortened.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts as _, CallId};

use super::need::Need;
use super::problem::Problem;
use super::range::Part;
use super::reading::{Document, JSON, Path};
use super::route::{ANYTHING, Route};
use super::server::Server;
use crate::identity::{Caller, Permission};

pub(super) fn routes() -> Vec<Route> {
    let read = Need::Permission(Permission::Read);
    vec![
        Route::get("/v1/artifacts/{artifact}", read, "Says what an artifact is.", show)
            .reply::<ArtifactDocument>(200, "What it is, without its content."),
        Route::get(
            "/v1/artifacts/{artifact}/content",
            read,
            "Gives the bytes of an artifact, or with `Range` some of them.",
            content,
        )
        .header("Range", ANYTHING, "Which bytes, as in `bytes=0-99`.")
        .reply_of(200, JSON, "All of them.")
        .reply_of(200, "text/plain", "All of them, of a result that was one text.")
        .reply_of(206, JSON, "Some of them.")
        .with("Content-Range", "Which ones, and of how many.")
        .reply_of(206, "text/plain", "Some of them, of a result that was one text.")
        .reply_of(416, "", "It has no such bytes.")
        .with("Content-Range", "How many it has."),
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
    /// `application/json`, or `text/plain` for a result that was one text.
    #[schemars(extend("enum" = [JSON, "text/plain"]))]
    media_type: &'static str,
    /// How large it is.
    bytes: usize,
    /// When it was kept: microseconds since the Unix epoch.
    kept_at: Timestamp,
}

async fn find(server: &Server, caller: &Caller, id: &str) -> Result<Artifact, Problem> {
    let found = server.app.store.artifact(&caller.scope, &ArtifactId::new(id)).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no artifact `{id}`")))
}

async fn show(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Document<ArtifactDocument>, Problem> {
    let Artifact { id, call, media_type, bytes, kept_at, .. } = find(&server, &caller, &id).await?;
    Ok(Document(ArtifactDocument { id, call_id: call, media_type, bytes: bytes.len(), kept_at }))
}

async fn content(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let artifact = find(&server, &caller, &id).await?;
    let length = artifact.bytes.len();
    let wanted = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let (status, range) = match Part::read(wanted, length) {
        Part::All => (StatusCode::OK, 0..length),
        Part::Bytes(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::Beyond => {
            let told = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, told).into_response());
        }
    };
    let bytes = artifact.bytes.get(range.clone()).unwrap_or_default().to_vec();
    let mut response = (status, bytes).into_response();
    let told = response.headers_mut();
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static(artifact.media_type));
    told.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    told.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if status == StatusCode::PARTIAL_CONTENT {
        let text = format!("bytes {}-{}/{length}", range.start, range.end.saturating_sub(1));
        let value = HeaderValue::from_str(&text).map_err(|error| Problem::failure(&error))?;
        told.insert(header::CONTENT_RANGE, value);
    }
    Ok(response)
}
