//! Sessions: the one a request names, its notification stream, its end.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::request_kind;
use super::response::{MESSAGE, accepts, refused};
use crate::http::problem::Problem;
use crate::http::route::EVENTS;
use crate::http::server::Server;
use crate::http::streams::events::Stream;
use crate::identity::Caller;
use crate::mcp::{ChangeSubscription, ListKinds, MODERN, McpCaller, McpSession, RpcError, notification_text};
use crate::telemetry;

/// `Retry-After` for a client with too many streams.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The header with the session id.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Why a request has no session.
pub(super) enum SessionError {
    Missing,
    Ended,
}

impl SessionError {
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::Missing => StatusCode::BAD_REQUEST,
            Self::Ended => StatusCode::NOT_FOUND,
        }
    }

    pub(super) const fn text(&self) -> &'static str {
        match self {
            Self::Missing => "missing `Mcp-Session-Id`; open a session with `initialize` first",
            Self::Ended => "the session has ended; open another one with `initialize`",
        }
    }
}

impl IntoResponse for SessionError {
    fn into_response(self) -> Response {
        refused(self.status(), None, &RpcError::new(RpcError::INVALID_REQUEST, self.text()))
    }
}

/// The session of a message.
pub(super) fn session(
    server: &Server,
    owner: &str,
    headers: &HeaderMap,
) -> Result<Arc<McpSession>, SessionError> {
    let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).ok_or(SessionError::Missing)?;
    server.mcp.sessions.find(owner, id).ok_or(SessionError::Ended)
}

/// The session of a `GET` or `DELETE`, which modern clients do not use.
pub(super) fn session_for(
    server: &Server,
    owner: &str,
    headers: &HeaderMap,
) -> Result<Arc<McpSession>, Problem> {
    if request_kind::version(headers).as_deref() == Some(MODERN) {
        return Err(Problem::method_not_allowed());
    }
    session(server, owner, headers).map_err(|error| match error {
        SessionError::Missing => Problem::bad_request(error.text()),
        SessionError::Ended => Problem::not_found(error.text()),
    })
}

/// `DELETE /mcp`: ends a session.
pub(super) async fn end(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = session_for(&server, &caller.name(), &headers)?;
    server.mcp.sessions.close(&caller.name(), &session.id);
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `GET /mcp`: the notification stream of a session.
pub(super) async fn open_stream(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let caller = McpCaller::authenticated(caller);
    let session = session_for(&server, &caller.name, &headers)?;
    if !accepts(&headers, EVENTS) {
        let detail = "changes are sent as an event stream; use `Accept: text/event-stream`";
        return Err(Problem::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", detail));
    }
    let subscription = ChangeSubscription::open(&server.mcp, &caller, ListKinds::ALL).await;
    let mut subscription = subscription.map_err(|refusal| Problem::too_many(refusal.message, RETRY_AFTER))?;
    let (stream, response) = Stream::open();
    tokio::spawn(telemetry::in_current_request(async move {
        let session_stream = session.open_stream();
        let follow = async {
            while let Ok(kind) = stream.keep_alive_until(subscription.next()).await {
                let text = notification_text(kind.method(), &json!({}));
                if stream.send_message(MESSAGE, text.into()).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = follow => {}
            () = session_stream.ended() => {}
            () = server.ending.cancelled() => {}
        }
    }));
    Ok(response)
}
