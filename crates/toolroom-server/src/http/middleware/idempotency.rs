//! `Idempotency-Key`: a request that is sent again under the same key gets the stored reply and is not repeated.
//!
//! A request with a key runs to its end even if the client disconnects, so that the client can ask for the reply again.
//! Replies are stored sealed, because some of them contain an API key.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::Route;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest, Sha256};
use toolroom::ledger::Seal as _;
use toolroom_store::{ReplyClaim, ReplyName, StoredReply};

use crate::http::extract::json::{JSON, read_body};
use crate::http::middleware::permits::Permit;
use crate::http::pipeline;
use crate::http::problem::Problem;
use crate::http::server::Server;
use crate::identity::{Caller, Who};
use crate::telemetry;

/// The header with the key.
pub(crate) const HEADER: &str = "idempotency-key";

/// Marks a replayed reply.
pub(crate) const REPLAYED: &str = "idempotent-replayed";

/// Purpose of the seal.
const PURPOSE: &str = "kept reply";

/// Longest key.
const KEY_CHARS: usize = 200;

/// Pattern of a key.
pub(crate) const KEY_PATTERN: &str = "^[!-~]{1,200}$";

/// The largest reply that is stored.
const REPLY_BYTES: usize = 16 * 1024 * 1024;

/// When to ask again for a reply that is not ready.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Whether the request has an `Idempotency-Key`.
pub(crate) fn has_key(request: &Request) -> bool {
    request.headers().contains_key(HEADER)
}

/// Handles a request with an `Idempotency-Key`, or replays the stored reply.
pub(crate) async fn once(
    server: &Arc<Server>,
    caller: &Caller,
    permit: Option<Arc<Permit>>,
    request: Request,
    handler: Arc<Route>,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let key = parts.headers.get(HEADER).and_then(|key| key.to_str().ok());
    let is_key =
        |key: &&str| (1..=KEY_CHARS).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    let key = key.filter(is_key).ok_or_else(|| {
        Problem::bad_request(format!("`Idempotency-Key` must have 1 to {KEY_CHARS} visible ASCII characters"))
    })?;
    // Only the hash is stored: a client may write anything into a header.
    let name = hex::encode(Sha256::digest(key.as_bytes()));
    let body = read_body(body).await?;
    let mut hash = Sha256::new();
    for part in [parts.method.as_str().as_bytes(), b" ", parts.uri.to_string().as_bytes(), b"\n", &body] {
        hash.update(part);
    }
    let fingerprint = hex::encode(hash.finalize());
    let name = ReplyName { project: caller.scope.project.clone(), caller: namespace(caller, &body), name };
    let request = Request::from_parts(parts, Body::from(body));
    // A claimed key promises a reply, so the task outlives the client, and shutdown waits for it.
    let (server, tracked) = (Arc::clone(server), server.calls.detached().track());
    let task = tokio::spawn(telemetry::in_current_request(async move {
        let reply = claim_and_run(&server, name, &fingerprint, request, &handler).await;
        drop((permit, tracked));
        reply
    }));
    task.await.map_err(|error| Problem::failure(&error))?
}

/// The namespace of the caller's keys. Replies of different agents are kept apart, because an end user may have tokens for
/// several agents.
fn namespace(caller: &Caller, body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct AgentField {
        agent: Option<String>,
    }
    let agent = match &caller.who {
        Who::EndUser(user) => Some(user.agent.to_string()),
        Who::Owner | Who::Key(_) => {
            serde_json::from_slice::<AgentField>(body).ok().and_then(|fields| fields.agent)
        }
    };
    let caller = caller.name();
    // JSON, because the name of a user may contain any character.
    agent.map_or(caller.clone(), |agent| serde_json::json!([caller, agent]).to_string())
}

/// Claims the key and runs the handler, or replays the stored reply.
async fn claim_and_run(
    server: &Arc<Server>,
    name: ReplyName,
    fingerprint: &str,
    request: Request,
    handler: &Route,
) -> Result<Response, Problem> {
    match server.app.store.claim_reply(&name, fingerprint).await? {
        ReplyClaim::New => store_reply(server, name, pipeline::run(handler, request).await).await,
        ReplyClaim::Stored(kept) => replay(server, &kept),
        ReplyClaim::InProgress => {
            let detail = "the request with this `Idempotency-Key` is still running, or the server ended while it ran; \
                          send it again for its reply, or look with `GET /v1/calls` or `GET /v1/runs` what it did \
                          before you use another key";
            let problem = Problem::new(StatusCode::CONFLICT, "in_progress", detail);
            Err(Problem { retry_after: Some(RETRY_AFTER), ..problem })
        }
        ReplyClaim::Mismatch => {
            let detail = "this `Idempotency-Key` belongs to another request; use a new one for each request";
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "name_taken", detail))
        }
    }
}

/// Stores a final reply. After a server error or a rate limit the client may try again with the same key.
async fn store_reply(server: &Server, name: ReplyName, response: Response) -> Result<Response, Problem> {
    let (parts, body) = response.into_parts();
    let is_document = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == JSON);
    let is_final = !parts.status.is_server_error() && parts.status != StatusCode::TOO_MANY_REQUESTS;
    let bytes = axum::body::to_bytes(body, REPLY_BYTES).await.map_err(|error| Problem::failure(&error))?;
    let reply = match is_document && is_final {
        true => {
            let sealed = server.app.vault.seal(PURPOSE, &bytes).map_err(|error| Problem::failure(&error))?;
            Some(StoredReply { status: parts.status.as_u16(), body: STANDARD_NO_PAD.encode(sealed) })
        }
        false => None,
    };
    server.app.store.store_reply(name, reply).await?;
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

/// The stored reply.
fn replay(server: &Server, kept: &StoredReply) -> Result<Response, Problem> {
    let opened = STANDARD_NO_PAD.decode(&kept.body).ok();
    let opened = opened.and_then(|sealed| server.app.vault.open(PURPOSE, &sealed).ok());
    let body = opened.ok_or_else(|| {
        Problem::conflict("the request was done, but its reply cannot be read: the master key was changed")
    })?;
    let status = StatusCode::from_u16(kept.status).map_err(|error| Problem::failure(&error))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(JSON)),
        (header::HeaderName::from_static(REPLAYED), HeaderValue::from_static("true")),
    ];
    Ok((status, headers, body.to_vec()).into_response())
}
