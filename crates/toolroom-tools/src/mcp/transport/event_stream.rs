//! A server over the older transport: one stream of events that stays open, and an address to post messages to, which
//! the stream names first.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use toolroom_host::net::{Body, Request, Response, Url};
use toolroom_host::sse::Reader;

use crate::mcp::auth::Challenge;
use crate::mcp::client::pending::Desk;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{cancelled, request, shortened, too_large};
use crate::mcp::transport::remote::Remote;
use crate::mcp::transport::{Ask, LAST_WORD};

/// How long the stream may take to say where messages go.
const READY: Duration = Duration::from_secs(15);

/// Replies to questions of the server that wait to be sent.
const QUEUE: usize = 64;

/// An open stream. Dropping it closes it.
pub(crate) struct EventStream {
    line: Arc<Line>,
    reading: AbortHandle,
}

struct Line {
    remote: Remote,
    desk: Arc<Desk>,
    /// Where messages go; of the same origin as the stream.
    post: String,
}

impl EventStream {
    pub(crate) async fn open(remote: Remote, desk: Arc<Desk>) -> Result<Self, McpError> {
        let response = let_in(&remote).await?;
        if !response.status.is_success() {
            return Err(McpError::Status { status: response.status.as_u16(), text: String::new() });
        }
        let (tell, endpoint) = oneshot::channel();
        let (replies, mut queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(read(response.body, Arc::clone(&desk), tell, replies));
        let reading = task.abort_handle();
        let Ok(Ok(endpoint)) = timeout(READY, endpoint).await else {
            reading.abort();
            return Err(desk.closed().unwrap_or_else(|| {
                McpError::Nonsense("the stream does not say where messages go".to_owned())
            }));
        };
        let post = same_origin(&remote.url, &endpoint).inspect_err(|_| reading.abort())?;
        let line = Arc::new(Line { remote, desk, post });
        let answering = Arc::downgrade(&line);
        tokio::spawn(async move {
            while let Some(reply) = queue.recv().await {
                let Some(line) = answering.upgrade() else { return };
                if let Err(error) = line.tell(reply).await {
                    tracing::debug!(%error, "a server does not take the answer to its question");
                }
            }
        });
        Ok(Self { line, reading })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.line.desk.closed().is_none()
    }

    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Value, McpError> {
        let mut ticket = self.line.desk.open(ask.progress.clone())?;
        if ask.may_cancel {
            let line = Arc::clone(&self.line);
            ticket = ticket.telling(move |id| line.take_back(id));
        }
        let silence = ticket.silence(ask.patience);
        let body = request(ticket.id, &ask.method, &ask.params(ticket.id));
        let answer = async {
            self.line.tell(body).await?;
            ticket.answer().await
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            () = silence => Err(ask.silent()),
        }
    }

    pub(crate) async fn tell(&self, message: Vec<u8>) -> Result<(), McpError> {
        self.line.tell(message).await
    }
}

/// Asks for the stream, and once more if the credentials were too old.
async fn let_in(remote: &Remote) -> Result<Response, McpError> {
    let mut is_again = false;
    loop {
        let shown = remote.token();
        let request = remote.with_credentials(Request::get(remote.url.clone()), shown.as_ref())?;
        let request = request.header("accept", "text/event-stream")?.header("accept-encoding", "identity")?;
        let response = remote.http.send(request).await?;
        let Some(challenge) = Challenge::of(&response) else { return Ok(response) };
        if is_again || !remote.challenged(&challenge, shown.as_ref()).await? {
            return Err(McpError::Unauthorized { why: challenge.to_string() });
        }
        is_again = true;
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Line {
    async fn tell(&self, message: Vec<u8>) -> Result<(), McpError> {
        let request = Request::post(self.post.clone(), message);
        let request = self.remote.with_credentials(request, self.remote.token().as_ref())?;
        let response = self.remote.http.send(request.header("content-type", "application/json")?).await?;
        match response.status {
            status if status.is_success() => Ok(()),
            status => Err(McpError::Status { status: status.as_u16(), text: String::new() }),
        }
    }

    /// Says that nobody waits for a request any more.
    fn take_back(self: Arc<Self>, id: i64) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn(async move { drop(timeout(LAST_WORD, self.tell(cancelled(id))).await) }));
        }
    }
}

/// Reads the stream to its end, which is that of the connection.
async fn read(
    mut body: Body,
    desk: Arc<Desk>,
    endpoint: oneshot::Sender<String>,
    replies: mpsc::Sender<Vec<u8>>,
) {
    let mut endpoint = Some(endpoint);
    let mut reader = Reader::default();
    let why = loop {
        let bytes = match body.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break "it has ended the stream".to_owned(),
            Err(error) => break error.to_string(),
        };
        if desk.count(0, bytes.len()).is_err() {
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
            match desk.take(None, event.data.as_bytes()) {
                Ok(said) => said.into_iter().for_each(|reply| drop(replies.try_send(reply))),
                Err(error) => tracing::debug!(%error, "an event of a server is no message"),
            }
        }
        if desk.closed().is_some() {
            return;
        }
    };
    desk.close(&McpError::Closed { why });
}

/// The address that messages go to. A server may not name one of somebody else, who would get our credentials.
pub(crate) fn same_origin(stream: &str, endpoint: &str) -> Result<String, McpError> {
    let bad = || McpError::Nonsense(format!("`{}` is no address for messages", shortened(endpoint, 80)));
    let stream = Url::parse(stream).map_err(|_| bad())?;
    let joined = stream.join(endpoint.trim()).map_err(|_| bad())?;
    if joined.origin() == stream.origin() {
        return Ok(joined.into());
    }
    Err(McpError::Nonsense("its messages should go to another origin, which is refused".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_the_origin_of_the_stream_only() {
        let stream = "https://x.example/sse";
        assert_eq!(same_origin(stream, "/messages?id=1").unwrap(), "https://x.example/messages?id=1");
        assert_eq!(same_origin(stream, "https://x.example/m").unwrap(), "https://x.example/m");
        for foreign in ["https://y.example/m", "//y.example/m", "http://x.example/m", "https://x.example:8/m"]
        {
            assert!(same_origin(stream, foreign).is_err(), "{foreign}");
        }
    }
}
