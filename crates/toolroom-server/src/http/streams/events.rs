//! Server-sent events.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::documents::{EventDocument, SnapshotDocument, StreamedEvent};
use crate::http::route::EVENTS;
use crate::mcp::OutgoingMessage;
use crate::runs::{MissedText, Position, RunSubscriber, RunUpdate};

/// Keep-alive interval, so that no proxy closes the connection.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Chunks buffered for a slow client. The feed of the run buffers and merges the rest.
const BUFFERED: usize = 1;

/// A client that reads nothing for this long is disconnected.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The sending end of an event stream. The response ends when this is dropped.
pub(crate) struct Stream {
    chunks: mpsc::Sender<Bytes>,
}

/// The client has disconnected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

impl Stream {
    /// A stream, and the response that carries it.
    pub(crate) fn open() -> (Self, Response) {
        let (chunks, receiver) = mpsc::channel(BUFFERED);
        let mut response = Body::new(ChunkBody(receiver)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies must not buffer the stream.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        (Self { chunks }, response)
    }

    /// Waits until the client can take the next chunk, so that it is not read too early.
    pub(crate) async fn ready(&self) -> Result<(), Gone> {
        match timeout(TIMEOUT, self.chunks.reserve()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// Sends one event.
    pub(crate) async fn send(
        &self,
        name: Option<&str>,
        id: Option<&str>,
        data: &impl Serialize,
    ) -> Result<(), Gone> {
        self.send_text(frame(name, id, &serde_json::to_string(data).map_err(|_| Gone)?)).await
    }

    /// Sends one event whose data is serialized already.
    pub(crate) async fn send_message(&self, name: &str, data: OutgoingMessage) -> Result<(), Gone> {
        self.send_bytes(data.wrapped(|data| frame(Some(name), None, data)).into_bytes()).await
    }

    /// Sends text unchanged.
    pub(crate) async fn send_text(&self, text: String) -> Result<(), Gone> {
        self.send_bytes(text.into()).await
    }

    async fn send_bytes(&self, bytes: Bytes) -> Result<(), Gone> {
        match timeout(TIMEOUT, self.chunks.send(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// Sends a comment that clients ignore.
    pub(crate) async fn keep_alive(&self) -> Result<(), Gone> {
        self.send_text(":\n\n".to_owned()).await
    }

    /// Awaits `next` and sends keep-alives until it is ready.
    pub(crate) async fn keep_alive_until<T>(&self, next: impl Future<Output = T>) -> Result<T, Gone> {
        let mut next = std::pin::pin!(next);
        loop {
            tokio::select! {
                ready = timeout(KEEP_ALIVE, next.as_mut()) => match ready {
                    Ok(next) => return Ok(next),
                    Err(_) => self.keep_alive().await?,
                },
                () = self.chunks.closed() => return Err(Gone),
            }
        }
    }
}

/// The receiving end as a body.
struct ChunkBody(mpsc::Receiver<Bytes>);

impl http_body::Body for ChunkBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// One event as it is sent. `data` is one line.
fn frame(name: Option<&str>, id: Option<&str>, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 128);
    for (field, value) in [("event", name), ("id", id)] {
        if let Some(value) = value {
            text.extend([field, ": ", value, "\n"]);
        }
    }
    text.extend(["data: ", data, "\n\n"]);
    text
}

/// The type of an event, which names it in the stream.
#[derive(Deserialize)]
struct EventType<'a> {
    #[serde(borrow, rename = "type")]
    name: Cow<'a, str>,
}

fn serialized(position: Position, event: &StreamedEvent<'_>) -> Bytes {
    let data = serde_json::to_string(event).unwrap_or_default();
    let named = serde_json::from_str::<EventType<'_>>(&data).ok();
    frame(named.as_ref().map(|named| &*named.name), Some(&position.to_string()), &data).into()
}

/// Sends the events of a run until it ends or the client disconnects.
pub(crate) async fn relay(stream: Stream, mut subscriber: RunSubscriber) {
    while stream.ready().await.is_ok() {
        let Ok(seen) = stream.keep_alive_until(subscriber.next()).await else { return };
        let chunk = match seen {
            Ok(Some(RunUpdate::Event(position, event))) => {
                event.encoded(|event| serialized(position, &StreamedEvent::Event(EventDocument(event))))
            }
            Ok(Some(RunUpdate::CatchUp(position, words))) => {
                words.encoded(|MissedText { text, reasoning }| {
                    serialized(position, &StreamedEvent::Snapshot(SnapshotDocument { text, reasoning }))
                })
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("cannot follow a run: {error}");
                return;
            }
        };
        if stream.send_bytes(chunk).await.is_err() {
            return;
        }
    }
}
