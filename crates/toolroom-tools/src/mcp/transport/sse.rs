//! The older HTTP+SSE transport: an event stream, whose first event names the URL to post messages to.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use toolroom_host::net::{Body, Request, Response, Url};
use toolroom_host::sse::Reader;

use crate::mcp::auth::Challenge;
use crate::mcp::client::pending::PendingRequests;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{cancelled, request, shortened, too_large};
use crate::mcp::transport::remote::Remote;
use crate::mcp::transport::{FAREWELL_TIMEOUT, OutgoingRequest};

/// Timeout for the event that names the URL for messages.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(15);

/// Queued responses to requests of the server.
const QUEUE: usize = 64;

/// An open event stream. Dropping it closes it.
pub(crate) struct SseTransport {
    session: Arc<SseSession>,
    reading: AbortHandle,
}
struct SseSession {
    remote: Remote,
    pending: Arc<PendingRequests>,
    /// The URL for messages; same origin as the stream.
    endpoint: String,
}

impl SseTransport {
    pub(crate) async fn open(remote: Remote, pending: Arc<PendingRequests>) -> Result<Self, McpError> {
        let response = connect(&remote).await?;
        if !response.status.is_success() {
            return Err(McpError::Status { status: response.status.as_u16(), text: String::new() });
        }
        let (sender, endpoint) = oneshot::channel();
        let (responses, mut queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(read(response.body, Arc::clone(&pending), sender, responses));
        let reading = task.abort_handle();
        let Ok(Ok(endpoint)) = timeout(ENDPOINT_TIMEOUT, endpoint).await else {
            reading.abort();
            return Err(pending.closed().unwrap_or_else(|| {
                McpError::Protocol("the stream names no endpoint for messages".to_owned())
            }));
        };
        let endpoint = same_origin(&remote.url, &endpoint).inspect_err(|_| reading.abort())?;
        let session = Arc::new(SseSession { remote, pending, endpoint });
        let responding = Arc::downgrade(&session);
        tokio::spawn(async move {
            while let Some(response) = queue.recv().await {
                let Some(session) = responding.upgrade() else { return };
                if let Err(error) = session.send(response).await {
                    tracing::debug!(%error, "a server does not accept the response to its request");
                }
            }
        });
        Ok(Self { session, reading })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.session.pending.closed().is_none()
    }

    pub(crate) async fn request(&self, outgoing: &OutgoingRequest) -> Result<Value, McpError> {
        let mut waiting = self.session.pending.register(outgoing.progress.clone())?;
        if outgoing.is_cancellable {
            let session = Arc::clone(&self.session);
            waiting = waiting.on_cancel(move |id| session.cancel(id));
        }
        let idle = waiting.idle(outgoing.timeout);
        let body = request(waiting.id, &outgoing.method, &outgoing.params(waiting.id));
        let response = async {
            self.session.send(body).await?;
            waiting.response().await
        };
        tokio::select! {
            biased;
            response = response => response,
            () = idle => Err(outgoing.timed_out()),
        }
    }

    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), McpError> {
        self.session.send(message).await
    }
}

/// Opens the stream; tries again once after a challenge.
async fn connect(remote: &Remote) -> Result<Response, McpError> {
    let mut is_retry = false;
    loop {
        let token = remote.token();
        let request = remote.with_credentials(Request::get(remote.url.clone()), token.as_ref())?;
        let request = request.header("accept", "text/event-stream")?.header("accept-encoding", "identity")?;
        let response = remote.http.send(request).await?;
        let Some(challenge) = Challenge::from_response(&response) else { return Ok(response) };
        if is_retry || !remote.handle_challenge(&challenge, token.as_ref()).await? {
            return Err(McpError::Unauthorized { why: challenge.to_string() });
        }
        is_retry = true;
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl SseSession {
    async fn send(&self, message: Vec<u8>) -> Result<(), McpError> {
        let request = Request::post(self.endpoint.clone(), message);
        let request = self.remote.with_credentials(request, self.remote.token().as_ref())?;
        let response = self.remote.http.send(request.header("content-type", "application/json")?).await?;
        match response.status {
            status if status.is_success() => Ok(()),
            status => Err(McpError::Status { status: status.as_u16(), text: String::new() }),
        }
    }

    /// Notifies the server that a request is cancelled.
    fn cancel(self: Arc<Self>, id: i64) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(
                runtime.spawn(async move { drop(timeout(FAREWELL_TIMEOUT, self.send(cancelled(id))).await) }),
            );
        }
    }
}

/// Reads the stream. Its end closes the connection.
async fn read(
    mut body: Body,
    pending: Arc<PendingRequests>,
    endpoint: oneshot::Sender<String>,
    responses: mpsc::Sender<Vec<u8>>,
) {
    let mut endpoint = Some(endpoint);
    let mut reader = Reader::default();
    let why = loop {
        let bytes = match body.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break "it ended the stream".to_owned(),
            Err(error) => break error.to_string(),
        };
        if pending.count_traffic(0, bytes.len()).is_err() {
            return;
        }
        let mut events = Vec::new();
        if reader.push(&bytes, |event| events.push(event)).is_err() {
            break too_large().to_string();
        }
        for event in events {
            if event.name.as_deref() == Some("endpoint") {
                drop(endpoint.take().map(|endpoint| endpoint.send(event.data)));
                continue;
            }
            match pending.receive(None, event.data.as_bytes()) {
                Ok(replies) => replies.into_iter().for_each(|reply| drop(responses.try_send(reply))),
                Err(error) => tracing::debug!(%error, "ignored an invalid event of a server"),
            }
        }
        if pending.closed().is_some() {
            return;
        }
    };
    pending.close(&McpError::Closed { why });
}

/// The URL for messages. Another origin is an error: it would receive our credentials.
pub(crate) fn same_origin(stream: &str, endpoint: &str) -> Result<String, McpError> {
    let bad = || McpError::Protocol(format!("`{}` is not a valid endpoint", shortened(endpoint, 80)));
    let stream = Url::parse(stream).map_err(|_| bad())?;
    let joined = stream.join(endpoint.trim()).map_err(|_| bad())?;
    if joined.origin() == stream.origin() {
        return Ok(joined.into());
    }
    Err(McpError::Protocol("its endpoint for messages has another origin".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_posted_to_the_origin_of_the_stream_only() {
        let stream = "https://x.example/sse";
        assert_eq!(same_origin(stream, "/messages?id=1").unwrap(), "https://x.example/messages?id=1");
        assert_eq!(same_origin(stream, "https://x.example/m").unwrap(), "https://x.example/m");
        for foreign in ["https://y.example/m", "//y.example/m", "http://x.example/m", "https://x.example:8/m"]
        {
            assert!(same_origin(stream, foreign).is_err(), "{foreign}");
        }
    }
}
