//! Event streams: what happens, as it happens.

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

/// Silence after which a sign of life is sent, so that nobody in between cuts the line.
pub(crate) const QUIET: Duration = Duration::from_secs(15);

/// Pieces on their way to somebody who reads slowly. More would only hold what the feed holds already, which puts
/// together what comes meanwhile.
const AHEAD: usize = 1;

/// Whoever reads nothing for so long has gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where pieces of a reply are put. The reply ends when this is dropped.
pub(crate) struct Stream {
    pieces: mpsc::Sender<Bytes>,
}

/// Nobody reads any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

impl Stream {
    /// A stream of server-sent events, and the reply that carries it.
    pub(crate) fn open() -> (Self, Response) {
        let (pieces, waiting) = mpsc::channel(AHEAD);
        let mut response = Body::new(Pieces(waiting)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies that collect pieces would make a stream useless.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        (Self { pieces }, response)
    }

    /// Waits until somebody wants to read more. What is looked for only then does not have to be held meanwhile.
    pub(crate) async fn ready(&self) -> Result<(), Gone> {
        match timeout(PATIENCE, self.pieces.reserve()).await {
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

    /// Sends one event whose data is written already.
    pub(crate) async fn send_told(&self, name: &str, data: OutgoingMessage) -> Result<(), Gone> {
        self.send_bytes(data.wrapped(|data| frame(Some(name), None, data)).into_bytes()).await
    }

    /// Sends text as it is.
    pub(crate) async fn send_text(&self, text: String) -> Result<(), Gone> {
        self.send_bytes(text.into()).await
    }

    async fn send_bytes(&self, bytes: Bytes) -> Result<(), Gone> {
        match timeout(PATIENCE, self.pieces.send(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// Says that there is still somebody here.
    pub(crate) async fn keep_alive(&self) -> Result<(), Gone> {
        self.send_text(":\n\n".to_owned()).await
    }

    /// What `next` brings; signs of life are sent meanwhile.
    pub(crate) async fn meanwhile<T>(&self, next: impl Future<Output = T>) -> Result<T, Gone> {
        let mut next = std::pin::pin!(next);
        loop {
            tokio::select! {
                brought = timeout(QUIET, next.as_mut()) => match brought {
                    Ok(brought) => return Ok(brought),
                    Err(_) => self.keep_alive().await?,
                },
                () = self.pieces.closed() => return Err(Gone),
            }
        }
    }
}

/// A body made of what comes.
struct Pieces(mpsc::Receiver<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// One event as it is sent. JSON is one line.
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

/// What every event of a run says.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, rename = "type")]
    name: Cow<'a, str>,
}

fn written(place: Position, event: &StreamedEvent<'_>) -> Bytes {
    let data = serde_json::to_string(event).unwrap_or_default();
    let named = serde_json::from_str::<Named<'_>>(&data).ok();
    frame(named.as_ref().map(|named| &*named.name), Some(&place.to_string()), &data).into()
}

/// Sends what a watcher sees until the run ends or nobody reads.
pub(crate) async fn relay(stream: Stream, mut subscriber: RunSubscriber) {
    while stream.ready().await.is_ok() {
        let Ok(seen) = stream.meanwhile(subscriber.next()).await else { return };
        let told = match seen {
            Ok(Some(RunUpdate::Event(place, event))) => {
                event.encoded(|event| written(place, &StreamedEvent::Event(EventDocument(event))))
            }
            Ok(Some(RunUpdate::CatchUp(place, words))) => words.encoded(|MissedText { text, reasoning }| {
                written(place, &StreamedEvent::Snapshot(SnapshotDocument { text, reasoning }))
            }),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("a run cannot be watched: {error}");
                return;
            }
        };
        if stream.send_bytes(told).await.is_err() {
            return;
        }
    }
}
