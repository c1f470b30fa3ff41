//! A message of a client, and what comes back.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;

use super::answering::{Answering, accepts, document, refused};
use super::said::{Said, said};
use super::session::{SESSION, Stranger, named};
use crate::http::door::Visitor;
use crate::http::extract::body::is_json;
use crate::http::extract::body::whole;
use crate::http::middleware::host_check;
use crate::http::problem::Problem;
use crate::http::route::EVENTS;
use crate::http::server::Server;
use crate::http::streams::cancel_on_disconnect::Attended;
use crate::mcp::{
    Asker, Calls, Client, Desk, GoingOn, Id, Message, NoMessage, Peer, Place, Refusal, Request, Session,
    Told, Voice, Working, result_text,
};
use crate::telemetry;

/// What opens a stream that lasts.
const LISTEN: &str = "subscriptions/listen";

pub(super) fn take(server: Arc<Server>, visitor: Box<Visitor>) -> BoxFuture<'static, Response> {
    Box::pin(async { taken(server, visitor).await.unwrap_or_else(IntoResponse::into_response) })
}

async fn taken(server: Arc<Server>, visitor: Box<Visitor>) -> Result<Response, Problem> {
    let Visitor { request, caller, place, .. } = *visitor;
    let Some(caller) = caller else { return Err(Problem::forbidden("nobody knows who this is")) };
    let (parts, body) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(is_json) {
        let detail = "a message has to be JSON; send it with `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
    }
    let bytes = whole(body).await?;
    let message = match Message::read(&bytes) {
        Ok(message) => message,
        Err(NoMessage { id, refusal, .. }) => {
            return Ok(refused(StatusCode::BAD_REQUEST, id.as_ref(), &refusal));
        }
    };
    let place = place.map(|host_check::Place(held)| Place::of(held)).unwrap_or_default();
    let visit = Visit { server, peer: Peer::of(caller), headers: parts.headers, place };
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
struct Visit {
    server: Arc<Server>,
    peer: Arc<Peer>,
    headers: HeaderMap,
    place: Place,
}

/// What is kept while a request is worked on.
struct Begun {
    _going_on: GoingOn,
    /// What it is stopped by, in a session.
    _working: Option<Working>,
}

impl Visit {
    fn session(&self) -> Result<Arc<Session>, Stranger> {
        named(&self.server, &self.peer.name, &self.headers)
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
            Ok(Said::Modern(client)) => client,
            Ok(Said::Hello) => return self.welcome(&request),
            Ok(Said::InSession) => match self.session() {
                Ok(session) => session.client(),
                Err(stranger) => {
                    let refusal = Refusal::new(Refusal::INVALID_REQUEST, stranger.text());
                    return refused(stranger.status(), Some(&request.id), &refusal);
                }
            },
            Err(refusal) => return refused(StatusCode::BAD_REQUEST, Some(&request.id), &refusal),
        };
        let stop = match request.method.as_str() {
            LISTEN => self.server.ending.child_token(),
            _ => self.server.closing.child_token(),
        };
        match self.begin(&client, &request.id, &stop) {
            Ok(begun) => self.work(client, request, stop, begun).await,
            Err(refusal) => {
                let status = match refusal.code {
                    Refusal::BUSY => StatusCode::TOO_MANY_REQUESTS,
                    _ => StatusCode::BAD_REQUEST,
                };
                refused(status, Some(&request.id), &refusal)
            }
        }
    }

    /// Remembers a client that introduces itself.
    fn welcome(&self, request: &Request) -> Response {
        let Self { server, peer, .. } = self;
        let session = server.mcp.sessions.open(server.app.room.clock(), &peer.name, &request.params.others);
        let mut response = document(StatusCode::OK, result_text(&request.id, &Desk::welcome(&session)));
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    /// Before anything is done: what cancels a request may come right behind it. In the earlier era it goes on when its
    /// sender leaves, so there may only be so many.
    fn begin(&self, client: &Client, id: &Id, stop: &CancellationToken) -> Result<Begun, Refusal> {
        let undertakings = &self.server.undertakings;
        Ok(match &client.session {
            Some(session) => Begun {
                _going_on: undertakings.begin(&self.peer.name)?,
                _working: Some(session.running.begin(id, stop)?),
            },
            None => Begun { _going_on: undertakings.begin_attended(), _working: None },
        })
    }

    async fn work(self, client: Client, request: Request, stop: CancellationToken, begun: Begun) -> Response {
        let Self { server, peer, headers, place } = self;
        let is_modern = client.era.is_modern();
        let takes_streams = accepts(&headers, EVENTS);
        let (voice, heard) = match takes_streams && may_hear(&client, &request) {
            true => {
                let (voice, heard) = Voice::open();
                (voice, Some(heard))
            }
            false => (Voice::silent(), None),
        };
        let id = request.id.clone();
        let trace = telemetry::current().and_then(|visit| visit.within(traceparent(&headers, &request)?));
        // Whoever leaves without a word has cancelled, in the later era.
        let left = is_modern.then(|| stop.clone());
        let work = async move {
            let asker = Asker { peer, client, voice, place };
            let calls = Arc::clone(&server) as Arc<dyn Calls>;
            let answer = server.mcp.answer(&calls, &asker, request, &stop).await;
            drop(begun);
            answer
        };
        let work: BoxFuture<'static, Result<Told, Refusal>> = match trace {
            Some(visit) => Box::pin(visit.during(work)),
            None => Box::pin(work),
        };
        let work = match left {
            Some(left) => Attended::new(left, work),
            None => Attended::lasting(work),
        };
        Answering { id, is_modern, takes_streams, work, heard }.answered().await
    }
}

/// The trace that a request says itself it is part of. What its headers say is read with them, and comes first.
fn traceparent<'a>(headers: &HeaderMap, request: &'a Request) -> Option<&'a str> {
    let said = request.params.meta.traceparent.as_ref()?.as_str()?;
    (!headers.contains_key("traceparent")).then_some(said)
}

/// Whether something may be told before the answer.
fn may_hear(client: &Client, request: &Request) -> bool {
    let wants_signs = client.level.is_some() || request.params.meta.progress_token.is_some();
    wants_signs || client.hears_questions() || request.method == LISTEN
}
