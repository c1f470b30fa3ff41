//! The HTTP client of all wires: sends a request to a vendor and streams its answer.
//!
//! Uses [`toolroom_host::net`] with its egress guard. The origin an operator configured is open even if it is not public;
//! redirects are not followed, so that a key never reaches another host.

mod endpoint;
mod failure;
mod retry_after;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::clock::Clock;
use toolroom::model::{Answer, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use toolroom_host::net::{Body, Bytes, EgressPolicy, EgressRule, Http, HttpLimits, Response, StatusCode};

pub use self::endpoint::Endpoint;
use self::failure::{Stage, no_web_page, redirected, unreachable};
use self::retry_after::retry_after;
use crate::vendor::ModelName;
use crate::wire::{Decoder, WireOptions};
use toolroom_host::sse::{Event, Reader};

/// Limit of one answer's bytes: twice a hundred thousand tokens in separate events.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// Limit of an answer's text, reasoning and calls: eight times the longest answers of today's models.
const MAX_CONTENT_BYTES: usize = 4 * 1024 * 1024;

/// Limit of an error body.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// How long to wait for the end of the stream after a complete answer, so that the connection can be reused.
const GRACE: Duration = Duration::from_millis(250);

/// Timeout of DNS, connection and handshake.
const CONNECT: Duration = Duration::from_secs(10);

/// Upper bound of the idle timeout; each model has its own.
const MAX_IDLE: Duration = Duration::from_secs(3_600);

/// The egress policy of a vendor: the public internet, and the origin an operator configured.
#[must_use]
pub fn egress_policy(opening: Option<&EgressRule>) -> EgressPolicy {
    let limits = HttpLimits {
        wire_bytes: MAX_ANSWER_BYTES,
        decoded_bytes: MAX_ANSWER_BYTES,
        connect: CONNECT,
        idle: MAX_IDLE,
        total: None,
        ..HttpLimits::default()
    };
    EgressPolicy::public().open(opening.cloned()).max_redirects(0).limits(limits)
}

/// How long keep-alive events without content extend the wait. Some models reason for minutes before the first word.
const MAX_WITHOUT_CONTENT: Duration = Duration::from_secs(15 * 60);

/// A model of a vendor over HTTP.
pub struct Remote {
    name: ModelName,
    endpoint: Endpoint,
    options: WireOptions,
    idle: Duration,
    http: Arc<dyn Http>,
    clock: Arc<dyn Clock>,
}

impl Remote {
    /// The model of this name at this endpoint. `idle` is its idle timeout. Sends nothing yet.
    #[must_use]
    pub fn new(
        name: ModelName,
        endpoint: Endpoint,
        options: WireOptions,
        idle: Duration,
        http: Arc<dyn Http>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { name, endpoint, options, idle, http, clock }
    }

    async fn exchange(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let wire = self.endpoint.wire.wire();
        let body = wire.encode(request, &self.options).to_string();
        let request = self.endpoint.request(&self.options, body).map_err(|error| self.failed(error))?;
        let sent = timeout(self.idle.saturating_add(CONNECT), self.http.send(request));
        let response = sent.await.map_err(|_| self.silent(self.idle))?.map_err(|error| self.failed(error))?;
        match response.status {
            status if status.is_success() => {}
            status if status.is_redirection() => return Err(redirected(&self.endpoint, &response)),
            status => return Err(self.refused(status, response).await),
        }
        let decoder = wire.decoder(&self.options);
        let meter = &mut EventMeter { on_event, bytes: 0 };
        match response.header("content-type").unwrap_or_default().to_ascii_lowercase() {
            kind if kind.contains("html") => Err(no_web_page(&self.endpoint)),
            kind if kind.contains("json") => self.whole(response.body, decoder, meter).await,
            _ => self.stream(response.body, decoder, meter).await,
        }
    }

    /// A streamed answer.
    async fn stream(
        &self,
        mut body: Body,
        mut decoder: Box<dyn Decoder>,
        meter: &mut EventMeter<'_>,
    ) -> Result<Answer, ModelError> {
        let mut reader = Reader::default();
        let mut events = Vec::new();
        let mut last_content = (Instant::now(), 0);
        while let Some(piece) = self.piece(&mut body).await? {
            reader.push(&piece, |event| events.push(event)).map_err(|_| {
                ModelError::new(ModelErrorKind::Endless, "the answer holds an event without end")
            })?;
            for event in events.drain(..) {
                meter.take(&mut *decoder, &event)?;
            }
            if meter.bytes > last_content.1 {
                last_content = (Instant::now(), meter.bytes);
            } else if last_content.0.elapsed() > MAX_WITHOUT_CONTENT {
                return Err(self.silent(MAX_WITHOUT_CONTENT));
            }
            if decoder.is_complete() {
                // The rest of the stream does not matter.
                let end = async { while let Ok(Some(_)) = body.chunk().await {} };
                drop(timeout(GRACE, end).await);
                return decoder.finish();
            }
        }
        reader.finish(|event| events.push(event));
        for event in events {
            meter.take(&mut *decoder, &event)?;
        }
        decoder.finish()
    }

    /// An answer of a server that does not stream. Some send a list of events.
    async fn whole(
        &self,
        mut body: Body,
        mut decoder: Box<dyn Decoder>,
        meter: &mut EventMeter<'_>,
    ) -> Result<Answer, ModelError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece(&mut body).await? {
            bytes.extend_from_slice(&piece);
        }
        let parts = match serde_json::from_slice::<Value>(&bytes) {
            Ok(Value::Array(parts)) => parts.iter().map(Value::to_string).collect(),
            _ => vec![String::from_utf8_lossy(&bytes).into_owned()],
        };
        for data in parts {
            meter.take(&mut *decoder, &Event { name: None, data })?;
        }
        decoder.finish()
    }

    async fn piece(&self, body: &mut Body) -> Result<Option<Bytes>, ModelError> {
        let piece = timeout(self.idle, body.chunk()).await.map_err(|_| self.silent(self.idle))?;
        piece.map_err(|error| failure::failed(error, &self.endpoint, Stage::Answer))
    }

    /// The error of a response without success.
    async fn refused(&self, status: StatusCode, mut response: Response) -> ModelError {
        let mut text = Vec::new();
        while let Ok(Some(piece)) = self.piece(&mut response.body).await {
            let room = MAX_REFUSAL_BYTES.saturating_sub(text.len());
            text.extend(piece.iter().take(room));
            if room <= piece.len() {
                break;
            }
        }
        // Hides the key before the text is cut, so that no part of it remains.
        let mut text = String::from_utf8_lossy(&text).into_owned();
        self.endpoint.hide_key(&mut text);
        let mut error = self.endpoint.wire.wire().refusal(status.as_u16(), &text);
        if let Some(after) = retry_after(&response, self.clock.now()) {
            error.retry_after = Some(after);
        }
        error
    }

    fn failed(&self, error: toolroom_host::net::NetError) -> ModelError {
        unreachable(failure::failed(error, &self.endpoint, Stage::Request), &self.endpoint)
    }

    fn silent(&self, span: Duration) -> ModelError {
        let (title, seconds) = (&self.endpoint.title, span.as_secs_f64());
        ModelError::new(ModelErrorKind::Timeout, format!("nothing arrived from {title} for {seconds} s"))
    }

    /// The error without the key.
    fn redacted(&self, mut error: ModelError) -> ModelError {
        self.endpoint.hide_key(&mut error.message);
        error
    }
}

/// Forwards events up to the size limit.
struct EventMeter<'a> {
    on_event: &'a mut (dyn FnMut(ModelEvent) + Send),
    bytes: usize,
}

impl EventMeter<'_> {
    fn take(&mut self, decoder: &mut dyn Decoder, event: &Event) -> Result<(), ModelError> {
        let Self { on_event, bytes } = self;
        decoder.event(event, &mut |event| {
            *bytes = bytes.saturating_add(match &event {
                ModelEvent::Text(text) | ModelEvent::Reasoning(text) | ModelEvent::Arguments { text, .. } => {
                    text.len()
                }
                ModelEvent::Call { id, name, .. } => id.as_str().len().saturating_add(name.len()),
                ModelEvent::Again { .. } => 0,
            });
            on_event(event);
        })?;
        if self.bytes > MAX_CONTENT_BYTES {
            let message = format!("the answer exceeds the limit of {MAX_CONTENT_BYTES} bytes");
            return Err(ModelError::new(ModelErrorKind::Endless, message));
        }
        Ok(())
    }
}

impl Model for Remote {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        on_event: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            // Cancelling drops the exchange and its connection.
            let answered = tokio::select! {
                biased;
                () = cancellation.cancelled() => {
                    Err(ModelError::new(ModelErrorKind::Cancelled, "the answer was stopped"))
                }
                answered = self.exchange(request, on_event) => answered,
            };
            answered.map_err(|error| self.redacted(error))
        })
    }
}

/// Without the key.
impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Remote")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
