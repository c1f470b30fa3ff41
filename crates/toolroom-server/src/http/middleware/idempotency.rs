//! Requests that may be sent twice: whoever names one with `Idempotency-Key` gets the same reply again, and nothing is
//! done a second time.
//!
//! A named request is worked on to its end even when its sender goes away, so that they can ask for the reply again.
//! Replies are kept sealed, because some of them hold a key.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest, Sha256};
use toolroom::ledger::Seal as _;
use toolroom_store::{ReplyClaim, ReplyName, StoredReply};

use crate::http::door::Inside;
use crate::http::door::Visitor;
use crate::http::extract::body::JSON;
use crate::http::extract::body::whole;
use crate::http::problem::Problem;
use crate::http::server::Server;
use crate::identity::{Caller, Who};
use crate::telemetry;

/// The header that names a request.
pub(crate) const HEADER: &str = "idempotency-key";

/// Says that a reply was given before.
pub(crate) const REPLAYED: &str = "idempotent-replayed";

/// What the seal is for.
const PURPOSE: &str = "kept reply";

/// Longest name.
const NAME_CHARS: usize = 200;

/// What a name looks like.
pub(crate) const NAME_PATTERN: &str = "^[!-~]{1,200}$";

/// The largest reply that is kept.
const REPLY_BYTES: usize = 16 * 1024 * 1024;

/// When to ask again for a reply that is being worked on.
const SOON: Duration = Duration::from_secs(1);

/// Whether a request has a name.
pub(crate) fn is_named(request: &Request) -> bool {
    request.headers().contains_key(HEADER)
}

/// Answers a named request once.
pub(crate) async fn once(
    server: &Arc<Server>,
    caller: &Caller,
    visitor: Box<Visitor>,
    inside: Inside,
) -> Response {
    named(server, caller, visitor, inside).await.unwrap_or_else(IntoResponse::into_response)
}

async fn named(
    server: &Arc<Server>,
    caller: &Caller,
    mut visitor: Box<Visitor>,
    inside: Inside,
) -> Result<Response, Problem> {
    let name = visitor.request.headers().get(HEADER);
    let is_name = |name: &&str| {
        (1..=NAME_CHARS).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let name = name.and_then(|name| name.to_str().ok()).filter(is_name).ok_or_else(|| {
        Problem::bad_request(format!("`Idempotency-Key` has 1 to {NAME_CHARS} visible characters"))
    })?;
    // Its hash alone is kept: a client may write anything into a header.
    let name = hex::encode(Sha256::digest(name.as_bytes()));
    let (parts, body) = std::mem::take(&mut visitor.request).into_parts();
    let body = whole(body).await?;
    let (project, caller) = (caller.scope.project.clone(), name_space(caller, &body));
    let name = ReplyName { project, caller, name };
    let mut hash = Sha256::new();
    for part in [parts.method.as_str().as_bytes(), b" ", parts.uri.to_string().as_bytes(), b"\n", &body] {
        hash.update(part);
    }
    let asked = hex::encode(hash.finalize());
    visitor.request = Request::from_parts(parts, Body::from(body));
    // From here on it is done to its end, and waited for when everything ends: a name that is taken stands for work.
    let (server, tracked) = (Arc::clone(server), server.calls.detached().track());
    let worked = tokio::spawn(telemetry::carried(async move {
        let done = claimed(&server, name, &asked, visitor, inside).await;
        drop(tracked);
        done
    }));
    worked.await.map_err(|error| Problem::failure(&error))?
}

/// Whose names these are: those of a caller, or of a caller and the agent that the request is for. One user may have tokens
/// for several agents, and no agent's reply is for another one.
fn name_space(caller: &Caller, body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Addressed {
        agent: Option<String>,
    }
    let agent = match &caller.who {
        Who::EndUser(user) => Some(user.agent.to_string()),
        Who::Owner | Who::Key(_) => {
            serde_json::from_slice::<Addressed>(body).ok().and_then(|asked| asked.agent)
        }
    };
    let caller = caller.name();
    // JSON, because a user may be called anything.
    agent.map_or(caller.clone(), |agent| serde_json::json!([caller, agent]).to_string())
}

/// Does what was asked under this name, or says what was replied before.
async fn claimed(
    server: &Arc<Server>,
    name: ReplyName,
    asked: &str,
    visitor: Box<Visitor>,
    inside: Inside,
) -> Result<Response, Problem> {
    match server.app.store.claim_reply(&name, asked).await? {
        ReplyClaim::New => {}
        ReplyClaim::Stored(kept) => return again(server, &kept),
        ReplyClaim::InProgress => {
            let detail = "this request is being worked on, or the server ended in the middle of it; ask again for its \
                          reply, or look with `GET /v1/calls` or `GET /v1/runs` what became of it before you send it \
                          under another name";
            let problem = Problem::new(StatusCode::CONFLICT, "in_progress", detail);
            return Err(Problem { retry_after: Some(SOON), ..problem });
        }
        ReplyClaim::Mismatch => {
            let detail =
                "another request was sent under this `Idempotency-Key`; take a new one for each request";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "name_taken", detail));
        }
    }
    let place = visitor.place.clone();
    let kept = keep(server, name, inside.answer(server, visitor).await).await;
    drop(place);
    kept
}

/// Keeps a reply if it says what was done. What was refused or failed may be tried again under the same name.
async fn keep(server: &Server, name: ReplyName, response: Response) -> Result<Response, Problem> {
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

fn again(server: &Server, kept: &StoredReply) -> Result<Response, Problem> {
    let opened = STANDARD_NO_PAD.decode(&kept.body).ok();
    let opened = opened.and_then(|sealed| server.app.vault.open(PURPOSE, &sealed).ok());
    let body = opened.ok_or_else(|| {
        Problem::conflict(
            "this was done, but what was replied can no longer be read: the master key was changed",
        )
    })?;
    let status = StatusCode::from_u16(kept.status).map_err(|error| Problem::failure(&error))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(JSON)),
        (header::HeaderName::from_static(REPLAYED), HeaderValue::from_static("true")),
    ];
    Ok((status, headers, body.to_vec()).into_response())
}
