//! `POST /mcp`.

use std::sync::Arc;

use axum::extract::{Extension, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;

use super::request_kind::{RequestKind, request_kind};
use super::response::{PendingResponse, accepts, document, refused};
use super::session::{SESSION, SessionError, session};
use crate::calls::TrackedCall;
use crate::http::extract::json::{is_json, read_body};
use crate::http::middleware::permits::Permit;
use crate::http::problem::Problem;
use crate::http::route::EVENTS;
use crate::http::server::Server;
use crate::http::streams::cancel_on_disconnect::CancelOnDisconnect;
use crate::identity::Caller;
use crate::mcp::{
    ClientChannel, Id, InvalidMessage, McpCaller, McpClient, McpServer, McpSession, Message, OutgoingMessage,
    Request, RequestContext, RequestPermit, RpcError, RunningRequest, result_text,
};
use crate::telemetry;

/// The method of subscriptions.
const LISTEN: &str = "subscriptions/listen";

/// Handles one message.
pub(super) async fn take(
    State(server): State<Arc<Server>>,
    caller: Caller,
    permit: Option<Extension<Arc<Permit>>>,
    request: HttpRequest,
) -> Result<Response, Problem> {
    let response = answer(Arc::clone(&server), caller, permit, request).await;
    server.adaptive_yield.yield_if_contended().await;
    response
}

async fn answer(
    server: Arc<Server>,
    caller: Caller,
    permit: Option<Extension<Arc<Permit>>>,
    request: HttpRequest,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(is_json) {
        let detail = "the message must be JSON; send it with `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
    }
    let bytes = read_body(body).await?;
    let message = match Message::parse(&bytes) {
        Ok(message) => message,
        Err(InvalidMessage { id, refusal, .. }) => {
            return Ok(refused(StatusCode::BAD_REQUEST, id.as_ref(), &refusal));
        }
    };
    let permit = permit.map(|Extension(permit)| RequestPermit::new(permit)).unwrap_or_default();
    let posted =
        PostedMessage { server, caller: McpCaller::authenticated(caller), headers: parts.headers, permit };
    Ok(match message {
        Message::Request(request) => posted.request(request).await,
        Message::Notification { method, params } => posted.notification(&method, &params),
        Message::Response { id, outcome } => match posted.session() {
            Ok(session) => {
                session.handle_response(&id, outcome);
                StatusCode::ACCEPTED.into_response()
            }
            Err(error) => error.into_response(),
        },
    })
}

/// A message and its sender.
struct PostedMessage {
    server: Arc<Server>,
    caller: Arc<McpCaller>,
    headers: HeaderMap,
    permit: RequestPermit,
}

/// Held while a request is processed.
struct RequestGuard {
    _tracked: TrackedCall,
    /// Lets the session cancel the request.
    _running: Option<RunningRequest>,
}

impl PostedMessage {
    fn session(&self) -> Result<Arc<McpSession>, SessionError> {
        session(&self.server, &self.caller.name, &self.headers)
    }

    fn notification(&self, method: &str, params: &Map<String, Value>) -> Response {
        // Without a session, notifications have no effect.
        if !self.headers.contains_key(SESSION) {
            return StatusCode::ACCEPTED.into_response();
        }
        let session = match self.session() {
            Ok(session) => session,
            Err(error) => return error.into_response(),
        };
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId").and_then(|id| Id::deserialize(id).ok())
        {
            session.running.stop(&id);
        }
        StatusCode::ACCEPTED.into_response()
    }

    async fn request(self, request: Request) -> Response {
        let client = match request_kind(&self.headers, &request) {
            Ok(RequestKind::Modern(client)) => client,
            Ok(RequestKind::Initialize) => return self.initialize(&request),
            Ok(RequestKind::InSession) => match self.session() {
                Ok(session) => session.client(),
                Err(error) => {
                    let refusal = RpcError::new(RpcError::INVALID_REQUEST, error.text());
                    return refused(error.status(), Some(&request.id), &refusal);
                }
            },
            Err(refusal) => return refused(StatusCode::BAD_REQUEST, Some(&request.id), &refusal),
        };
        let stop = match request.method.as_str() {
            LISTEN => self.server.ending.child_token(),
            _ => self.server.calls.closing().child_token(),
        };
        match self.begin(&client, &request.id, &stop) {
            Ok(guard) => self.work(client, request, stop, guard).await,
            Err(refusal) => {
                let status = match refusal.code {
                    RpcError::BUSY => StatusCode::TOO_MANY_REQUESTS,
                    _ => StatusCode::BAD_REQUEST,
                };
                refused(status, Some(&request.id), &refusal)
            }
        }
    }

    /// Opens a session.
    fn initialize(&self, request: &Request) -> Response {
        let Self { server, caller, .. } = self;
        let session = server.mcp.sessions.open(server.app.room.clock(), &caller.name, &request.params.others);
        let mut response =
            document(StatusCode::OK, result_text(&request.id, &McpServer::initialize(&session)));
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    /// Registers the request before any work, because its cancellation may follow immediately. With a session it outlives its
    /// connection, so the number is limited.
    fn begin(&self, client: &McpClient, id: &Id, stop: &CancellationToken) -> Result<RequestGuard, RpcError> {
        let detached = self.server.calls.detached();
        Ok(match &client.session {
            Some(session) => RequestGuard {
                _tracked: detached.detach(&self.caller.name).ok_or_else(RpcError::busy)?,
                _running: Some(session.running.register(id, stop)?),
            },
            None => RequestGuard { _tracked: detached.track(), _running: None },
        })
    }

    async fn work(
        self,
        client: McpClient,
        request: Request,
        stop: CancellationToken,
        guard: RequestGuard,
    ) -> Response {
        let Self { server, caller, headers, permit } = self;
        let is_modern = client.era.is_modern();
        let takes_streams = accepts(&headers, EVENTS);
        let (channel, messages) = match takes_streams && may_stream(&client, &request) {
            true => {
                let (channel, messages) = ClientChannel::open();
                (channel, Some(messages))
            }
            false => (ClientChannel::silent(), None),
        };
        let id = request.id.clone();
        let trace = telemetry::current_request()
            .and_then(|current| current.with_traceparent(traceparent(&headers, &request)?));
        // A modern client cancels by closing the connection.
        let cancelled_by_disconnect = is_modern.then(|| stop.clone());
        let work = async move {
            let context = RequestContext { caller, client, channel, permit };
            let result = server.mcp.handle(&server.calls, &context, request, &stop).await;
            drop(guard);
            result
        };
        let work: BoxFuture<'static, Result<OutgoingMessage, RpcError>> = match trace {
            Some(visit) => Box::pin(visit.scope(work)),
            None => Box::pin(work),
        };
        let work = match cancelled_by_disconnect {
            Some(stop) => CancelOnDisconnect::new(stop, work),
            None => CancelOnDisconnect::detached(work),
        };
        PendingResponse { id, is_modern, takes_streams, work, messages }.respond().await
    }
}

/// The trace context in `_meta`. That of the headers takes precedence.
fn traceparent<'a>(headers: &HeaderMap, request: &'a Request) -> Option<&'a str> {
    let traceparent = request.params.meta.traceparent.as_ref()?.as_str()?;
    (!headers.contains_key("traceparent")).then_some(traceparent)
}

/// Whether messages may precede the response.
fn may_stream(client: &McpClient, request: &Request) -> bool {
    let wants_notifications = client.level.is_some() || request.params.meta.progress_token.is_some();
    wants_notifications || client.accepts_input_requests() || request.method == LISTEN
}
