//! A server over streamable HTTP: a request is a POST, its answer a document or a stream of events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use toolroom_host::net::{Method, Request, Response};
use toolroom_host::sse::{Reader, StreamPosition};

use crate::mcp::auth::Challenge;
use crate::mcp::client::pending::{Desk, Ticket};
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{MAX_MESSAGE_BYTES, cancelled, request, shortened, too_large};
use crate::mcp::transport::remote::Remote;
use crate::mcp::transport::{Ask, LAST_WORD};

/// How often a stream that ended early is taken up again for one answer.
pub(crate) const MAX_RESUMED: u32 = 20;

/// How long to wait before that if the server does not say, and at most.
pub(crate) const RESUME_AFTER: Duration = Duration::from_secs(1);
pub(crate) const RESUME_AT_MOST: Duration = Duration::from_secs(30);

/// How often one request is sent again with other credentials.
const MAX_CHALLENGES: u32 = 3;

/// What is read of an answer that is none.
const MAX_STATUS_BYTES: u64 = 64 * 1024;

/// What is told of it.
const MAX_STATUS_CHARS: usize = 200;

/// Where a server is, and how it is talked to. One of these is one session.
pub(crate) struct StreamableHttp(pub(crate) Arc<Line>);

/// The way to a server, shared by all who use it.
pub(crate) struct Line {
    remote: Remote,
    pub(crate) desk: Arc<Desk>,
    spoken: Mutex<Spoken>,
}

/// What was agreed upon.
#[derive(Debug, Clone, Default)]
struct Spoken {
    version: Option<String>,
    is_stateless: bool,
    session: Option<String>,
    /// The session is over, or about to be.
    has_left: bool,
}

impl StreamableHttp {
    pub(crate) fn new(remote: Remote, desk: Arc<Desk>) -> Self {
        Self(Arc::new(Line { remote, desk, spoken: Mutex::default() }))
    }

    /// From now on this version is spoken.
    pub(crate) fn speak(&self, version: Option<&str>, is_stateless: bool) {
        let mut spoken = self.0.spoken();
        spoken.version = version.map(str::to_owned);
        spoken.is_stateless = is_stateless;
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.0.desk.closed().is_none()
    }

    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Value, McpError> {
        let line = &self.0;
        let mut ticket = line.desk.open(ask.progress.clone())?;
        if ask.may_cancel {
            let line = Arc::clone(line);
            ticket = ticket.telling(move |id| line.take_back(id));
        }
        let silence = ticket.silence(ask.patience);
        let body = request(ticket.id, &ask.method, &ask.params(ticket.id));
        tokio::select! {
            biased;
            answer = line.exchange(&mut ticket, ask, body) => answer,
            () = silence => Err(ask.silent()),
        }
    }

    pub(crate) async fn tell(&self, message: Vec<u8>) -> Result<(), McpError> {
        self.0.tell(message).await
    }

    /// Ends the session, where there is one.
    pub(crate) async fn close(&self) {
        if let Some(farewell) = self.0.farewell() {
            self.0.leave(farewell).await;
        }
    }
}

/// Whoever is done with a server lets go of it, and the server of their session, whichever way it came to that.
impl Drop for StreamableHttp {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if let Some(farewell) = self.0.farewell() {
            let line = Arc::clone(&self.0);
            drop(runtime.spawn(async move { line.leave(farewell).await }));
        }
    }
}

impl Line {
    /// Opens a stream of what comes, or takes one up again.
    pub(crate) async fn listen(&self, from: Option<&str>) -> Result<Response, McpError> {
        let mut request = Request::get(self.remote.url.clone());
        if let Some(id) = from {
            request = request.header("last-event-id", id)?;
        }
        let response = self.remote.http.send(self.with_token(request)?).await?;
        match kind(&response) {
            Kind::Events if response.status.is_success() => Ok(response),
            _ => Err(status_of(response).await),
        }
    }

    /// What ends the session; nothing where there is none any more.
    fn farewell(&self) -> Option<Request> {
        let request = self.with_token(Request::new(Method::DELETE, self.remote.url.clone())).ok()?;
        let mut spoken = self.spoken();
        let is_over = spoken.session.is_none() || std::mem::replace(&mut spoken.has_left, true);
        (!is_over).then_some(request)
    }

    /// Servers need not know the method, and whatever they say changes nothing: one that says nothing is left all the same.
    async fn leave(&self, farewell: Request) {
        drop(timeout(LAST_WORD, self.remote.http.send(farewell)).await);
    }

    fn spoken(&self) -> MutexGuard<'_, Spoken> {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(&self, ticket: &mut Ticket, ask: &Ask, body: Vec<u8>) -> Result<Value, McpError> {
        let response = self.post(body, Some(&ask.method), &ask.headers).await?;
        if ask.method == "initialize" {
            let session = response.header("mcp-session-id").map(str::to_owned);
            let mut spoken = self.spoken();
            (spoken.session, spoken.has_left) = (session, false);
        }
        if !response.status.is_success() {
            return self.refused(ticket, response).await;
        }
        let mut place = match kind(&response) {
            Kind::Document => {
                let bytes = whole(response).await?;
                self.take(Some(ticket.id), &bytes).await?;
                let answered = ticket.ready();
                return answered.unwrap_or_else(|| Err(nonsense("the answer is not that to the request")));
            }
            Kind::Events => self.read(ticket, response).await?,
            Kind::Nothing => return Err(nonsense("a request is taken and not answered")),
            Kind::Other(kind) => {
                return Err(nonsense(&format!("the answer is `{}`", shortened(&kind, 60))));
            }
        };
        let mut resumed = 0;
        loop {
            if let Some(answer) = ticket.ready() {
                return answer;
            }
            let Some(id) = place.id.clone().filter(|_| resumed < MAX_RESUMED && !self.spoken().is_stateless)
            else {
                return Err(McpError::Closed { why: "its answer broke off".to_owned() });
            };
            resumed += 1;
            tokio::time::sleep(place.wait.unwrap_or(RESUME_AFTER).min(RESUME_AT_MOST)).await;
            let response = self.listen(Some(&id)).await?;
            let next = self.read(ticket, response).await?;
            place = StreamPosition { id: next.id.or(place.id), wait: next.wait.or(place.wait) };
        }
    }

    /// Reads events until the answer is there or they end.
    async fn read(&self, ticket: &mut Ticket, response: Response) -> Result<StreamPosition, McpError> {
        let mut reader = Reader::default();
        let mut body = response.body;
        while let Some(bytes) = body.chunk().await? {
            self.desk.count(0, bytes.len())?;
            let mut messages = Vec::new();
            let pushed = reader.push(&bytes, |event| messages.push(event.data));
            pushed.map_err(|_| too_large())?;
            for message in messages.iter().filter(|message| !message.is_empty()) {
                self.take(Some(ticket.id), message.as_bytes()).await?;
            }
            if !ticket.is_open() {
                break;
            }
        }
        Ok(reader.position().clone())
    }

    /// Gives a message to the desk, and sends what it says to that. A server that does not take the answer to its own
    /// question goes without it; what it was asked is not touched by that.
    pub(crate) async fn take(&self, asked: Option<i64>, bytes: &[u8]) -> Result<(), McpError> {
        for reply in self.desk.take(asked, bytes)? {
            if let Err(error) = self.tell(reply).await {
                tracing::debug!(%error, "a server does not take the answer to its question");
            }
        }
        Ok(())
    }

    /// Says that nobody waits for a request any more. In the newer era the end of its stream says so.
    fn take_back(self: Arc<Self>, id: i64) {
        let is_told = !self.spoken().is_stateless;
        if let (true, Ok(runtime)) = (is_told, tokio::runtime::Handle::try_current()) {
            drop(runtime.spawn(async move { drop(timeout(LAST_WORD, self.tell(cancelled(id))).await) }));
        }
    }

    async fn tell(&self, message: Vec<u8>) -> Result<(), McpError> {
        let method = serde_json::from_slice::<Value>(&message).ok();
        let method = method.as_ref().and_then(|message| message.get("method")).and_then(Value::as_str);
        let response = self.post(message, method, &[]).await?;
        if response.status.is_success() { Ok(()) } else { Err(status_of(response).await) }
    }

    async fn refused(&self, ticket: &mut Ticket, response: Response) -> Result<Value, McpError> {
        if response.status.as_u16() == 404 && self.spoken().session.is_some() {
            self.spoken().has_left = true;
            return Err(McpError::SessionLost);
        }
        if matches!(kind(&response), Kind::Document) {
            let status = response.status.as_u16();
            let bytes = response.body.bytes_up_to(MAX_STATUS_BYTES).await?;
            if self.desk.take(Some(ticket.id), &bytes).is_ok()
                && let Some(answer) = ticket.ready()
            {
                return answer;
            }
            let text = shortened(&String::from_utf8_lossy(&bytes), MAX_STATUS_CHARS);
            return Err(McpError::Status { status, text });
        }
        Err(status_of(response).await)
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
            let shown = self.remote.token();
            let request = self.remote.with_credentials(request, shown.as_ref())?;
            let response = self.remote.http.send(self.request(request, method, headers)?).await?;
            let Some(challenge) = Challenge::of(&response) else { return Ok(response) };
            let is_last = challenges == MAX_CHALLENGES;
            challenges += 1;
            if is_last || !self.remote.challenged(&challenge, shown.as_ref()).await? {
                return Err(McpError::Unauthorized { why: challenge.to_string() });
            }
        }
    }

    /// A request with the token of now, and everything that belongs to the session.
    fn with_token(&self, request: Request) -> Result<Request, McpError> {
        let request = self.remote.with_credentials(request, self.remote.token().as_ref())?;
        self.request(request, None, &[])
    }

    /// The request with everything that belongs to the session.
    fn request(
        &self,
        request: Request,
        method: Option<&str>,
        headers: &[(String, String)],
    ) -> Result<Request, McpError> {
        let spoken = self.spoken().clone();
        let mut request = request
            .header("accept", "application/json, text/event-stream")?
            // What is compressed arrives late.
            .header("accept-encoding", "identity")?;
        if let Some(version) = &spoken.version {
            request = request.header("mcp-protocol-version", version)?;
        }
        if let Some(session) = &spoken.session {
            request = request.secret_header("mcp-session-id", session)?;
        }
        if let Some(method) = method.filter(|_| spoken.is_stateless) {
            request = request.header("mcp-method", method)?;
            for (name, value) in headers {
                request = request.header(name, value)?;
            }
        }
        Ok(request)
    }
}

/// What an answer is made of.
enum Kind {
    Document,
    Events,
    Nothing,
    Other(String),
}

fn kind(response: &Response) -> Kind {
    let media = response.header("content-type").unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media.as_str() {
        "application/json" => Kind::Document,
        "text/event-stream" => Kind::Events,
        _ if matches!(response.status.as_u16(), 202 | 204) => Kind::Nothing,
        _ => Kind::Other(media),
    }
}

async fn whole(response: Response) -> Result<toolroom_host::net::Bytes, McpError> {
    Ok(response.body.bytes_up_to(MAX_MESSAGE_BYTES as u64).await?)
}

async fn status_of(response: Response) -> McpError {
    let status = response.status.as_u16();
    let text = response.body.bytes_up_to(MAX_STATUS_BYTES).await.unwrap_or_default();
    McpError::Status { status, text: shortened(&String::from_utf8_lossy(&text), MAX_STATUS_CHARS) }
}

fn nonsense(why: &str) -> McpError {
    McpError::Nonsense(why.to_owned())
}
