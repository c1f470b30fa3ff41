//! MCP over streamable HTTP, both eras at one address.
//!
//! An answer is a document, unless something is told before it: then it is the last event of a stream. In the later era
//! whoever closes the stream cancels; in the earlier one a notification does.

mod answering;
mod calls;
mod metadata;
mod said;

use std::sync::Arc;

use axum::extract::{Extension, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::events::Stream;
use super::need::Need;
use super::problem::Problem;
use super::reading::{is_json, whole};
use super::route::{ANYTHING, EVENTS, Route};
use super::server::Server;
use crate::identity::{Caller, Permission};
use crate::mcp::{
    Asker, Calls, Client, Id, Kinds, Message, Peer, Refusal, Request, Session, Voice, Watch,
    notification_text, result_text,
};
use crate::telemetry;
use answering::{Answering, document, frame, refused};
use said::{NAME_HEADERS, Said, said};

pub(super) use metadata::Challenge;

/// Where clients ask.
pub(super) const PATH: &str = "/mcp";

/// What opens a stream that lasts.
const LISTEN: &str = "subscriptions/listen";

/// By which a client of the earlier era is known.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

pub(super) fn routes() -> Vec<Route> {
    let call = Need::Permission(Permission::Call);
    let session = |route: Route| route.header("Mcp-Session-Id", ANYTHING, "Who it was before 2026-07-28.");
    let mut post = session(Route::post(PATH, call, "Takes a message of MCP.", post))
        .body::<RpcMessage>()
        .reply::<Map<String, Value>>(200, "The answer.")
        .stream::<Map<String, Value>>(200, "What is told meanwhile, and then the answer.")
        .reply_of(202, "", "It was taken, and wants no answer.")
        .reply::<Map<String, Value>>(400, "The message is none.")
        .reply::<Map<String, Value>>(404, "There is no such method, or the session is over.");
    for name in NAME_HEADERS {
        post = post.header(name, ANYTHING, "What the body says, too, since 2026-07-28.");
    }
    let mut routes = vec![
        post,
        session(Route::get(PATH, call, "Tells what changes, to clients of before 2026-07-28.", listen))
            .stream::<Map<String, Value>>(200, "What changes.")
            .refuse(404, "There is no such session."),
        session(Route::delete(PATH, call, "Ends a session.", end))
            .reply_of(204, "", "It is over.")
            .refuse(404, "There is no such session."),
    ];
    routes.extend(metadata::routes());
    routes
}

/// A message of JSON-RPC.
#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(example = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))]
struct RpcMessage {
    /// `2.0`.
    #[schemars(extend("enum" = ["2.0"]))]
    jsonrpc: String,
    /// What the answer is to be known by; a message without one wants none.
    id: Option<Value>,
    /// What is wanted.
    method: Option<String>,
    /// What it is wanted with.
    params: Option<Map<String, Value>>,
}

async fn post(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    request: HttpRequest,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(is_json) {
        let detail = "a message has to be JSON; send it with `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
    }
    let bytes = whole(body).await?;
    let message = match Message::read(&bytes) {
        Ok(message) => message,
        Err((id, refusal)) => return Ok(refused(StatusCode::BAD_REQUEST, id.as_ref(), &refusal)),
    };
    let peer = Arc::new(Peer {
        name: caller.name().into(),
        may_read: caller.may(Permission::Read),
        scope: caller.scope,
    });
    let visit = Visit { server, peer, headers: parts.headers };
    Ok(match message {
        Message::Request(request) => visit.request(request).await,
        Message::Notification { method, params } => visit.notification(&method, &params),
        Message::Response { id, outcome } => match visit.session() {
            Ok(session) => {
                session.answer(&id, outcome);
                StatusCode::ACCEPTED.into_response()
            }
            Err(gone) => gone.into_response(),
        },
    })
}

/// One message, and who sent it.
struct Visit {
    server: Arc<Server>,
    peer: Arc<Peer>,
    headers: HeaderMap,
}

/// Nobody is known by what a message says it is from.
enum Gone {
    Unnamed,
    Over,
}

impl Gone {
    const fn status(&self) -> StatusCode {
        match self {
            Self::Unnamed => StatusCode::BAD_REQUEST,
            Self::Over => StatusCode::NOT_FOUND,
        }
    }

    const fn text(&self) -> &'static str {
        match self {
            Self::Unnamed => "say who you are with `initialize` first, then send `Mcp-Session-Id`",
            Self::Over => "this session is over; begin another one with `initialize`",
        }
    }
}

impl IntoResponse for Gone {
    fn into_response(self) -> Response {
        refused(self.status(), None, &Refusal::new(Refusal::INVALID_REQUEST, self.text()))
    }
}

impl From<Gone> for Problem {
    fn from(gone: Gone) -> Self {
        Self::not_found(gone.text())
    }
}

/// The client of the earlier era that a message is from.
fn session(server: &Server, owner: &str, headers: &HeaderMap) -> Result<Arc<Session>, Gone> {
    let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).ok_or(Gone::Unnamed)?;
    server.mcp.sessions.find(owner, id).ok_or(Gone::Over)
}

impl Visit {
    fn session(&self) -> Result<Arc<Session>, Gone> {
        session(&self.server, &self.peer.name, &self.headers)
    }

    fn notification(&self, method: &str, params: &Map<String, Value>) -> Response {
        // Who has no session has nothing to say that would matter.
        if !self.headers.contains_key(SESSION) {
            return StatusCode::ACCEPTED.into_response();
        }
        let session = match self.session() {
            Ok(session) => session,
            Err(gone) => return gone.into_response(),
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
                Err(gone) => {
                    let refusal = Refusal::new(Refusal::INVALID_REQUEST, gone.text());
                    return refused(gone.status(), Some(&request.id), &refusal);
                }
            },
            Err(refusal) => return refused(StatusCode::BAD_REQUEST, Some(&request.id), &refusal),
        };
        self.work(client, request).await
    }

    /// Remembers a client that introduces itself.
    fn welcome(&self, request: &Request) -> Response {
        let Self { server, peer, .. } = self;
        let session = server.mcp.sessions.open(server.app.room.clock(), &peer.name, &request.params);
        let mut response =
            document(StatusCode::OK, result_text(&request.id, &crate::mcp::Desk::welcome(&session)));
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    async fn work(self, client: Client, request: Request) -> Response {
        let Self { server, peer, headers } = self;
        let is_modern = client.era.is_modern();
        let stop = match request.method.as_str() {
            LISTEN => server.ending.child_token(),
            _ => server.closing.child_token(),
        };
        // Whoever leaves without a word has cancelled, in the later era.
        let left = is_modern.then(|| stop.clone().drop_guard());
        let (voice, heard) = match may_hear(&client, &request) && accepts(&headers, EVENTS) {
            true => {
                let (voice, heard) = Voice::open();
                (voice, Some(heard))
            }
            false => (Voice::silent(), None),
        };
        let id = request.id.clone();
        let task = tokio::spawn(telemetry::carried(async move {
            let session = client.session.clone();
            let _working = session.as_ref().map(|session| session.running.begin(&request.id, &stop));
            let asker = Asker { peer, client, voice };
            let calls = Arc::clone(&server) as Arc<dyn Calls>;
            server.mcp.answer(&calls, &asker, request, &stop).await
        }));
        let answering = Answering { id, is_modern, task, left };
        match heard {
            Some(heard) => answering.told(heard).await,
            None => answering.silent().await,
        }
    }
}

/// Tells a client of the earlier era what changes.
async fn listen(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = session(&server, &caller.name(), &headers)?;
    let peer = Arc::new(Peer {
        name: caller.name().into(),
        may_read: caller.may(Permission::Read),
        scope: caller.scope,
    });
    let (stream, response) = Stream::open();
    let asker = Asker { peer, client: session.client(), voice: Voice::silent() };
    tokio::spawn(telemetry::carried(async move {
        let only = session.listens();
        let mut watch = Watch::begin(&server.mcp, &asker, Kinds::ALL).await;
        let follow = async {
            while let Ok(kind) = stream.meanwhile(watch.next()).await {
                let text = notification_text(kind.method(), &json!({}));
                if stream.send_text(frame(&text)).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = follow => {}
            () = only.cancelled() => {}
            () = session.over.cancelled() => {}
            () = server.ending.cancelled() => {}
        }
    }));
    Ok(response)
}

async fn end(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = session(&server, &caller.name(), &headers)?;
    server.mcp.sessions.close(&caller.name(), &session.id);
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Whether something may be told before the answer.
fn may_hear(client: &Client, request: &Request) -> bool {
    let wants_signs = || request.params.get("_meta").is_some_and(|meta| meta.get("progressToken").is_some());
    !client.era.is_modern() || client.level.is_some() || request.method == LISTEN || wants_signs()
}

/// Whether a client takes this kind of reply. One that does not say takes any.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut said =
        headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok()).peekable();
    said.peek().is_none()
        || said.flat_map(|accept| accept.split(',')).any(|accept| {
            let accept = accept.split(';').next().unwrap_or_default().trim();
            accept.eq_ignore_ascii_case(kind) || accept == "*/*"
        })
}
