//! The streamable HTTP transport: a request is a POST, its response a JSON document or an event stream.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use toolroom_host::net::{Method, Request, Response};
use toolroom_host::sse::{Reader, StreamPosition};

use crate::mcp::auth::Challenge;
use crate::mcp::client::pending::{PendingRequest, PendingRequests};
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{MAX_MESSAGE_BYTES, cancelled, request, shortened, too_large};
use crate::mcp::transport::remote::Remote;
use crate::mcp::transport::{FAREWELL_TIMEOUT, OutgoingRequest};

/// How often an interrupted event stream is resumed for one response.
pub(crate) const MAX_RESUMED: u32 = 20;

/// The time to wait before a stream is resumed: by default, and at most if the server requests another.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);
pub(crate) const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// How often one request is repeated after a challenge.
const MAX_CHALLENGES: u32 = 3;

/// Bytes of an error response that are read.
const MAX_STATUS_BYTES: u64 = 64 * 1024;

/// Characters of an error response that are shown.
const MAX_STATUS_CHARS: usize = 200;

/// A connection over streamable HTTP. Dropping it ends its session.
pub(crate) struct StreamableHttp(pub(crate) Arc<HttpSession>);

/// The session, shared by all requests.
pub(crate) struct HttpSession {
    remote: Remote,
    pub(crate) pending: Arc<PendingRequests>,
    negotiated: Mutex<Negotiated>,
}

/// The negotiated version and session id.
#[derive(Debug, Clone, Default)]
struct Negotiated {
    version: Option<String>,
    is_stateless: bool,
    session_id: Option<String>,
    /// The session has ended or is about to.
    has_ended: bool,
}

impl StreamableHttp {
    pub(crate) fn new(remote: Remote, pending: Arc<PendingRequests>) -> Self {
        Self(Arc::new(HttpSession { remote, pending, negotiated: Mutex::default() }))
    }

    /// Sets the protocol version of the following requests.
    pub(crate) fn set_version(&self, version: Option<&str>, is_stateless: bool) {
        let mut negotiated = self.0.negotiated();
        negotiated.version = version.map(str::to_owned);
        negotiated.is_stateless = is_stateless;
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.0.pending.closed().is_none()
    }

    pub(crate) async fn request(&self, outgoing: &OutgoingRequest) -> Result<Value, McpError> {
        let session = &self.0;
        let mut waiting = session.pending.register(outgoing.progress.clone())?;
        if outgoing.is_cancellable {
            let session = Arc::clone(session);
            waiting = waiting.on_cancel(move |id| session.cancel(id));
        }
        let idle = waiting.idle(outgoing.timeout);
        let body = request(waiting.id, &outgoing.method, &outgoing.params(waiting.id));
        tokio::select! {
            biased;
            response = session.exchange(&mut waiting, outgoing, body) => response,
            () = idle => Err(outgoing.timed_out()),
        }
    }

    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), McpError> {
        self.0.send(message).await
    }

    /// Ends the session, if there is one.
    pub(crate) async fn close(&self) {
        if let Some(request) = self.0.end_session_request() {
            self.0.end_session(request).await;
        }
    }
}

impl Drop for StreamableHttp {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if let Some(request) = self.0.end_session_request() {
            let session = Arc::clone(&self.0);
            drop(runtime.spawn(async move { session.end_session(request).await }));
        }
    }
}

impl HttpSession {
    /// Opens the notification stream, or resumes a stream after the event `from`.
    pub(crate) async fn event_stream(&self, from: Option<&str>) -> Result<Response, McpError> {
        let mut request = Request::get(self.remote.url.clone());
        if let Some(id) = from {
            request = request.header("last-event-id", id)?;
        }
        let response = self.remote.http.send(self.with_token(request)?).await?;
        match body_kind(&response) {
            BodyKind::Events if response.status.is_success() => Ok(response),
            _ => Err(status_error(response).await),
        }
    }

    /// The request that ends the session. `None` if there is no session, or it has ended.
    fn end_session_request(&self) -> Option<Request> {
        let request = self.with_token(Request::new(Method::DELETE, self.remote.url.clone())).ok()?;
        let mut negotiated = self.negotiated();
        let is_over = negotiated.session_id.is_none() || std::mem::replace(&mut negotiated.has_ended, true);
        (!is_over).then_some(request)
    }

    /// Ignores the response: servers need not support `DELETE`.
    async fn end_session(&self, request: Request) {
        drop(timeout(FAREWELL_TIMEOUT, self.remote.http.send(request)).await);
    }

    fn negotiated(&self) -> MutexGuard<'_, Negotiated> {
        self.negotiated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(
        &self,
        waiting: &mut PendingRequest,
        outgoing: &OutgoingRequest,
        body: Vec<u8>,
    ) -> Result<Value, McpError> {
        let response = self.post(body, Some(&outgoing.method), &outgoing.headers).await?;
        if outgoing.method == "initialize" {
            let session_id = response.header("mcp-session-id").map(str::to_owned);
            let mut negotiated = self.negotiated();
            (negotiated.session_id, negotiated.has_ended) = (session_id, false);
        }
        if !response.status.is_success() {
            return self.error_response(waiting, response).await;
        }
        let mut position = match body_kind(&response) {
            BodyKind::Json => {
                let bytes = response.body.bytes_up_to(MAX_MESSAGE_BYTES as u64).await?;
                self.receive(Some(waiting.id), &bytes).await?;
                let received = waiting.try_response();
                return received.unwrap_or_else(|| Err(violation("the response belongs to another request")));
            }
            BodyKind::Events => self.read_events(waiting, response).await?,
            BodyKind::Empty => return Err(violation("a request was accepted without a response")),
            BodyKind::Other(kind) => {
                return Err(violation(&format!(
                    "the response has the media type `{}`",
                    shortened(&kind, 60)
                )));
            }
        };
        let mut resumed = 0;
        loop {
            if let Some(response) = waiting.try_response() {
                return response;
            }
            let can_resume = resumed < MAX_RESUMED && !self.negotiated().is_stateless;
            let Some(id) = position.id.clone().filter(|_| can_resume) else {
                return Err(McpError::Closed { why: "its response was interrupted".to_owned() });
            };
            resumed += 1;
            tokio::time::sleep(position.wait.unwrap_or(RETRY_AFTER).min(LONGEST_RETRY)).await;
            let response = self.event_stream(Some(&id)).await?;
            let next = self.read_events(waiting, response).await?;
            position = StreamPosition { id: next.id.or(position.id), wait: next.wait.or(position.wait) };
        }
    }

    /// Reads events until the response has arrived or the stream ends.
    async fn read_events(
        &self,
        waiting: &mut PendingRequest,
        response: Response,
    ) -> Result<StreamPosition, McpError> {
        let mut reader = Reader::default();
        let mut body = response.body;
        while let Some(bytes) = body.chunk().await? {
            self.pending.count_traffic(0, bytes.len())?;
            let mut messages = Vec::new();
            let pushed = reader.push(&bytes, |event| messages.push(event.data));
            pushed.map_err(|_| too_large())?;
            for message in messages.iter().filter(|message| !message.is_empty()) {
                self.receive(Some(waiting.id), message.as_bytes()).await?;
            }
            if !waiting.is_open() {
                break;
            }
        }
        Ok(reader.position().clone())
    }

    /// Handles a message and sends the replies. A reply that the server does not accept fails nothing else.
    pub(crate) async fn receive(&self, only_request: Option<i64>, bytes: &[u8]) -> Result<(), McpError> {
        for reply in self.pending.receive(only_request, bytes)? {
            if let Err(error) = self.send(reply).await {
                tracing::debug!(%error, "a server does not accept the response to its request");
            }
        }
        Ok(())
    }

    /// Notifies the server that a request is cancelled. In the stateless era the end of the response stream does so.
    fn cancel(self: Arc<Self>, id: i64) {
        let has_notification = !self.negotiated().is_stateless;
        if let (true, Ok(runtime)) = (has_notification, tokio::runtime::Handle::try_current()) {
            drop(
                runtime.spawn(async move { drop(timeout(FAREWELL_TIMEOUT, self.send(cancelled(id))).await) }),
            );
        }
    }

    async fn send(&self, message: Vec<u8>) -> Result<(), McpError> {
        let method = serde_json::from_slice::<Value>(&message).ok();
        let method = method.as_ref().and_then(|message| message.get("method")).and_then(Value::as_str);
        let response = self.post(message, method, &[]).await?;
        if response.status.is_success() { Ok(()) } else { Err(status_error(response).await) }
    }

    async fn error_response(
        &self,
        waiting: &mut PendingRequest,
        response: Response,
    ) -> Result<Value, McpError> {
        if response.status.as_u16() == 404 && self.negotiated().session_id.is_some() {
            self.negotiated().has_ended = true;
            return Err(McpError::SessionLost);
        }
        if matches!(body_kind(&response), BodyKind::Json) {
            let status = response.status.as_u16();
            let bytes = response.body.bytes_up_to(MAX_STATUS_BYTES).await?;
            if self.pending.receive(Some(waiting.id), &bytes).is_ok()
                && let Some(response) = waiting.try_response()
            {
                return response;
            }
            let text = shortened(&String::from_utf8_lossy(&bytes), MAX_STATUS_CHARS);
            return Err(McpError::Status { status, text });
        }
        Err(status_error(response).await)
    }

    async fn post(
        &self,
        body: Vec<u8>,
        method: Option<&str>,
        headers: &[(String, String)],
    ) -> Result<Response, McpError> {
        let mut challenges = 0;
        loop {
            let request = Request::post(self.remote.url.clone(), body.clone())
                .header("content-type", "application/json")?;
            let token = self.remote.token();
            let request = self.remote.with_credentials(request, token.as_ref())?;
            let response = self.remote.http.send(self.request(request, method, headers)?).await?;
            let Some(challenge) = Challenge::from_response(&response) else { return Ok(response) };
            let is_last = challenges == MAX_CHALLENGES;
            challenges += 1;
            if is_last || !self.remote.handle_challenge(&challenge, token.as_ref()).await? {
                return Err(McpError::Unauthorized { why: challenge.to_string() });
            }
        }
    }

    /// Adds the current token and the headers of the session.
    fn with_token(&self, request: Request) -> Result<Request, McpError> {
        let request = self.remote.with_credentials(request, self.remote.token().as_ref())?;
        self.request(request, None, &[])
    }

    /// Adds the headers of the session.
    fn request(
        &self,
        request: Request,
        method: Option<&str>,
        headers: &[(String, String)],
    ) -> Result<Request, McpError> {
        let negotiated = self.negotiated().clone();
        let mut request = request
            .header("accept", "application/json, text/event-stream")?
            // Compression would delay events.
            .header("accept-encoding", "identity")?;
        if let Some(version) = &negotiated.version {
            request = request.header("mcp-protocol-version", version)?;
        }
        if let Some(session_id) = &negotiated.session_id {
            request = request.secret_header("mcp-session-id", session_id)?;
        }
        if let Some(method) = method.filter(|_| negotiated.is_stateless) {
            request = request.header("mcp-method", method)?;
            for (name, value) in headers {
                request = request.header(name, value)?;
            }
        }
        Ok(request)
    }
}

/// The kind of a response body.
enum BodyKind {
    Json,
    Events,
    Empty,
    Other(String),
}

fn body_kind(response: &Response) -> BodyKind {
    let media = response.header("content-type").unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media.as_str() {
        "application/json" => BodyKind::Json,
        "text/event-stream" => BodyKind::Events,
        _ if matches!(response.status.as_u16(), 202 | 204) => BodyKind::Empty,
        _ => BodyKind::Other(media),
    }
}

async fn status_error(response: Response) -> McpError {
    let status = response.status.as_u16();
    let text = response.body.bytes_up_to(MAX_STATUS_BYTES).await.unwrap_or_default();
    McpError::Status { status, text: shortened(&String::from_utf8_lossy(&text), MAX_STATUS_CHARS) }
}

fn violation(why: &str) -> McpError {
    McpError::Protocol(why.to_owned())
}
