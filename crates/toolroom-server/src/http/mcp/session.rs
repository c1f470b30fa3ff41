//! Clients of the earlier era, as a request names them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use super::answering::refused;
use super::said;
use crate::http::problem::Problem;
use crate::http::server::Server;
use crate::identity::Caller;
use crate::mcp::{MODERN, McpSession, RpcError};

/// By which a client of the earlier era is known.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Why nobody is known by what a message says it is from.
pub(super) enum SessionError {
    Unnamed,
    Over,
}

impl SessionError {
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::Unnamed => StatusCode::BAD_REQUEST,
            Self::Over => StatusCode::NOT_FOUND,
        }
    }

    pub(super) const fn text(&self) -> &'static str {
        match self {
            Self::Unnamed => "say who you are with `initialize` first, then send `Mcp-Session-Id`",
            Self::Over => "this session is over; begin another one with `initialize`",
        }
    }
}

impl IntoResponse for SessionError {
    fn into_response(self) -> Response {
        refused(self.status(), None, &RpcError::new(RpcError::INVALID_REQUEST, self.text()))
    }
}

/// The client that a message is from.
pub(super) fn named(
    server: &Server,
    owner: &str,
    headers: &HeaderMap,
) -> Result<Arc<McpSession>, SessionError> {
    let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).ok_or(SessionError::Unnamed)?;
    server.mcp.sessions.find(owner, id).ok_or(SessionError::Over)
}

/// The client for whom something is asked without a message, which only the earlier era has.
pub(super) fn asked_for(
    server: &Server,
    owner: &str,
    headers: &HeaderMap,
) -> Result<Arc<McpSession>, Problem> {
    if said::version(headers).as_deref() == Some(MODERN) {
        return Err(Problem::method_not_allowed());
    }
    named(server, owner, headers).map_err(|stranger| match stranger {
        SessionError::Unnamed => Problem::bad_request(stranger.text()),
        SessionError::Over => Problem::not_found(stranger.text()),
    })
}

/// Ends one.
pub(super) async fn end(
    State(server): State<Arc<Server>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = asked_for(&server, &caller.name(), &headers)?;
    server.mcp.sessions.close(&caller.name(), &session.id);
    Ok(StatusCode::NO_CONTENT.into_response())
}
