//! A message of a client, and what comes back.

use std::sync::Arc;

use axum::extract::{Extension, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;

use super::answering::{PendingResponse, accepts, document, refused};
use super::said::{RequestKind, said};
use super::session::{SESSION, SessionError, named};
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

/// What opens a stream that lasts.
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
        let detail = "a message has to be JSON; send it with `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
    }
    let bytes = read_body(body).await?;
    let message = match Message::read(&bytes) {
        Ok(message) => message,
        Err(InvalidMessage { id, refusal, .. }) => {
            return Ok(refused(StatusCode::BAD_REQUEST, id.as_ref(), &refusal));
        }
    };
    let place = permit.map(|Extension(permit)| RequestPermit::of(permit)).unwrap_or_default();
    let visit =
        PostedMessage { server, caller: McpCaller::authenticated(caller), headers: parts.headers, place };
    Ok(match message {
        Message::Request(request) => visit.request(request).await,
        Message::Notification { method, params } => visit.notification(&method, &params),
        Message::Response { id, outcome } => match visit.session() {
            Ok(session) => {
                session.answer(&id, outcome);
                StatusCode::ACCEPTED.into_response()
            }
            Err(stranger) => stranger.into_response(),
        },
    })
}

/// One message, and who sent it.
struct PostedMessage {
    server: Arc<Server>,
    caller: Arc<McpCaller>,
    headers: HeaderMap,
    place: RequestPermit,
}

/// What is kept while a request is worked on.
struct RequestGuard {
    _tracked: TrackedCall,
    /// What it is stopped by, in a session.
    _working: Option<RunningRequest>,
}

impl PostedMessage {
    fn session(&self) -> Result<Arc<McpSession>, SessionError> {
        named(&self.server, &self.caller.name, &self.headers)
    }

    fn notification(&self, method: &str, params: &Map<String, Value>) -> Response {
        // Who has no session has nothing to say that would matter.
        if !self.headers.contains_key(SESSION) {
            return StatusCode::ACCEPTED.into_response();
        }
        let session = match self.session() {
            Ok(session) => session,
            Err(stranger) => return stranger.into_response(),
        };
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId").and_then(|id| Id::deserialize(id).ok())
        {
            session.running.stop(&id);
        }
        StatusCode::ACCEPTED.into_response()
    }

    async fn request(self, request: Request) -> Response {
        let client = match said(&self.headers, &request) {
            Ok(RequestKind::Modern(client)) => client,
            Ok(RequestKind::Hello) => return self.welcome(&request),
            Ok(RequestKind::InSession) => match self.session() {
                Ok(session) => session.client(),
                Err(stranger) => {
                    let refusal = RpcError::new(RpcError::INVALID_REQUEST, stranger.text());
                    return refused(stranger.status(), Some(&request.id), &refusal);
                }
            },
            Err(refusal) => return refused(StatusCode::BAD_REQUEST, Some(&request.id), &refusal),
        };
        let stop = match request.method.as_str() {
            LISTEN => self.server.ending.child_token(),
            _ => self.server.calls.closing().child_token(),
        };
        match self.begin(&client, &request.id, &stop) {
            Ok(begun) => self.work(client, request, stop, begun).await,
            Err(refusal) => {
                let status = match refusal.code {
                    RpcError::BUSY => StatusCode::TOO_MANY_REQUESTS,
                    _ => StatusCode::BAD_REQUEST,
                };
                refused(status, Some(&request.id), &refusal)
            }
        }
    }

    /// Remembers a client that introduces itself.
    fn welcome(&self, request: &Request) -> Response {
        let Self { server, caller, .. } = self;
        let session = server.mcp.sessions.open(server.app.room.clock(), &caller.name, &request.params.others);
        let mut response = document(StatusCode::OK, result_text(&request.id, &McpServer::welcome(&session)));
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    /// Before anything is done: what cancels a request may come right behind it. In the earlier era it goes on when its
    /// sender leaves, so there may only be so many.
    fn begin(&self, client: &McpClient, id: &Id, stop: &CancellationToken) -> Result<RequestGuard, RpcError> {
        let detached = self.server.calls.detached();
        Ok(match &client.session {
            Some(session) => RequestGuard {
                _tracked: detached.detach(&self.caller.name).ok_or_else(RpcError::busy)?,
                _working: Some(session.running.begin(id, stop)?),
            },
            None => RequestGuard { _tracked: detached.track(), _working: None },
        })
    }

    async fn work(
        self,
        client: McpClient,
        request: Request,
        stop: CancellationToken,
        begun: RequestGuard,
    ) -> Response {
        let Self { server, caller, headers, place } = self;
        let is_modern = client.era.is_modern();
        let takes_streams = accepts(&headers, EVENTS);
        let (channel, heard) = match takes_streams && may_hear(&client, &request) {
            true => {
                let (channel, heard) = ClientChannel::open();
                (channel, Some(heard))
            }
            false => (ClientChannel::silent(), None),
        };
        let id = request.id.clone();
        let trace = telemetry::current().and_then(|visit| visit.within(traceparent(&headers, &request)?));
        // Whoever leaves without a word has cancelled, in the later era.
        let left = is_modern.then(|| stop.clone());
        let work = async move {
            let context = RequestContext { caller, client, channel, place };
            let answer = server.mcp.answer(&server.calls, &context, request, &stop).await;
            drop(begun);
            answer
        };
        let work: BoxFuture<'static, Result<OutgoingMessage, RpcError>> = match trace {
            Some(visit) => Box::pin(visit.during(work)),
            None => Box::pin(work),
        };
        let work = match left {
            Some(left) => CancelOnDisconnect::new(left, work),
            None => CancelOnDisconnect::detached(work),
        };
        PendingResponse { id, is_modern, takes_streams, work, heard }.answered().await
    }
}

/// The trace that a request says itself it is part of. What its headers say is read with them, and comes first.
fn traceparent<'a>(headers: &HeaderMap, request: &'a Request) -> Option<&'a str> {
    let said = request.params.meta.traceparent.as_ref()?.as_str()?;
    (!headers.contains_key("traceparent")).then_some(said)
}

/// Whether something may be told before the answer.
fn may_hear(client: &McpClient, request: &Request) -> bool {
    let wants_signs = client.level.is_some() || request.params.meta.progress_token.is_some();
    wants_signs || client.hears_questions() || request.method == LISTEN
}
