//! The one client of all wires: sends a request to a vendor and reads its answer as it comes.
//!
//! Connections are those of [`toolroom_host::net`], with its guard. The one origin that an operator configured is opened
//! even if it is not public; redirects are not followed, so that a key stays where it belongs.

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
use crate::wire::{Decoder, Terms};
use toolroom_host::sse::{Event, Reader};

/// The most that is taken of one answer. A hundred thousand tokens, each in an event of its own, are half of it.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// The most that an answer says, in words, thoughts and calls. The longest answers of today's models are an eighth of it.
const MAX_SAID_BYTES: usize = 4 * 1024 * 1024;

/// The most that is read of what a vendor says when it does not answer.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// How long the end of a connection is waited for once the answer is complete, so that it can be used again.
const GRACE: Duration = Duration::from_millis(250);

/// The time for a name, a connection and a handshake.
const CONNECT: Duration = Duration::from_secs(10);

/// Silence is watched by each model for itself; this only bounds what is never to happen.
const LONGEST_SILENCE: Duration = Duration::from_secs(3_600);

/// How far a vendor's connections reach: the public internet, and the one origin an operator set.
#[must_use]
pub fn reach(opening: Option<&EgressRule>) -> EgressPolicy {
    let limits = HttpLimits {
        wire_bytes: MAX_ANSWER_BYTES,
        decoded_bytes: MAX_ANSWER_BYTES,
        connect: CONNECT,
        idle: LONGEST_SILENCE,
        total: None,
        ..HttpLimits::default()
    };
    EgressPolicy::public().open(opening.cloned()).max_redirects(0).limits(limits)
}

/// How long signs of life alone keep an answer waited for: some models think for minutes before they say a word.
const ONLY_SIGNS: Duration = Duration::from_secs(15 * 60);

/// A model of a vendor, asked over HTTP.
pub struct Remote {
    name: ModelName,
    endpoint: Endpoint,
    terms: Terms,
    idle: Duration,
    http: Arc<dyn Http>,
    clock: Arc<dyn Clock>,
}

impl Remote {
    /// The model of this name at this endpoint. Nothing may be silent for longer than `idle`. Sends nothing yet.
    #[must_use]
    pub fn new(
        name: ModelName,
        endpoint: Endpoint,
        terms: Terms,
        idle: Duration,
        http: Arc<dyn Http>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { name, endpoint, terms, idle, http, clock }
    }

    async fn exchange(
        &self,
        request: &ModelRequest,
        told: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let wire = self.endpoint.wire.wire();
        let body = wire.encode(request, &self.terms).to_string();
        let request = self.endpoint.request(&self.terms, body).map_err(|error| self.failed(error))?;
        let sent = timeout(self.idle.saturating_add(CONNECT), self.http.send(request));
        let response = sent.await.map_err(|_| self.silent(self.idle))?.map_err(|error| self.failed(error))?;
        match response.status {
            status if status.is_success() => {}
            status if status.is_redirection() => return Err(redirected(&self.endpoint, &response)),
            status => return Err(self.refused(status, response).await),
        }
        let decoder = wire.decoder(&self.terms);
        let told = &mut Said { told, bytes: 0 };
        match response.header("content-type").unwrap_or_default().to_ascii_lowercase() {
            kind if kind.contains("html") => Err(no_web_page(&self.endpoint)),
            kind if kind.contains("json") => self.whole(response.body, decoder, told).await,
            _ => self.stream(response.body, decoder, told).await,
        }
    }

    /// An answer in events, handed on as they come.
    async fn stream(
        &self,
        mut body: Body,
        mut decoder: Box<dyn Decoder>,
        told: &mut Said<'_>,
    ) -> Result<Answer, ModelError> {
        let mut reader = Reader::default();
        let mut events = Vec::new();
        let mut heard = (Instant::now(), 0);
        while let Some(piece) = self.piece(&mut body).await? {
            reader.push(&piece, |event| events.push(event)).map_err(|_| {
                ModelError::new(ModelErrorKind::Endless, "the answer holds an event without end")
            })?;
            for event in events.drain(..) {
                told.take(&mut *decoder, &event)?;
            }
            if told.bytes > heard.1 {
                heard = (Instant::now(), told.bytes);
            } else if heard.0.elapsed() > ONLY_SIGNS {
                return Err(self.silent(ONLY_SIGNS));
            }
            if decoder.is_complete() {
                // Whatever still comes, or does not, changes nothing.
                let end = async { while let Ok(Some(_)) = body.chunk().await {} };
                drop(timeout(GRACE, end).await);
                return decoder.finish();
            }
        }
        reader.finish(|event| events.push(event));
        for event in events {
            told.take(&mut *decoder, &event)?;
        }
        decoder.finish()
    }

    /// An answer in one piece, from a server that does not stream. Some send the list of their events.
    async fn whole(
        &self,
        mut body: Body,
        mut decoder: Box<dyn Decoder>,
        told: &mut Said<'_>,
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
            told.take(&mut *decoder, &Event { name: None, data })?;
        }
        decoder.finish()
    }

    async fn piece(&self, body: &mut Body) -> Result<Option<Bytes>, ModelError> {
        let piece = timeout(self.idle, body.chunk()).await.map_err(|_| self.silent(self.idle))?;
        piece.map_err(|error| failure::failed(error, &self.endpoint, Stage::Answer))
    }

    /// What the vendor says instead of an answer.
    async fn refused(&self, status: StatusCode, mut response: Response) -> ModelError {
        let mut said = Vec::new();
        while let Ok(Some(piece)) = self.piece(&mut response.body).await {
            let room = MAX_REFUSAL_BYTES.saturating_sub(said.len());
            said.extend(piece.iter().take(room));
            if room <= piece.len() {
                break;
            }
        }
        // Here and not only at the end: what is cut off of a long text must not leave the beginning of a key.
        let mut said = String::from_utf8_lossy(&said).into_owned();
        self.endpoint.hide_key(&mut said);
        let mut error = self.endpoint.wire.wire().refusal(status.as_u16(), &said);
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

    /// The error as it may be shown: without the key.
    fn shown(&self, mut error: ModelError) -> ModelError {
        self.endpoint.hide_key(&mut error.message);
        error
    }
}

/// Hands on what an answer says, as long as it is not too much.
struct Said<'a> {
    told: &'a mut (dyn FnMut(ModelEvent) + Send),
    bytes: usize,
}

impl Said<'_> {
    fn take(&mut self, decoder: &mut dyn Decoder, event: &Event) -> Result<(), ModelError> {
        let Self { told, bytes } = self;
        decoder.event(event, &mut |event| {
            *bytes = bytes.saturating_add(match &event {
                ModelEvent::Text(text) | ModelEvent::Reasoning(text) | ModelEvent::Arguments { text, .. } => {
                    text.len()
                }
                ModelEvent::Call { id, name, .. } => id.as_str().len().saturating_add(name.len()),
                ModelEvent::Again { .. } => 0,
            });
            told(event);
        })?;
        if self.bytes > MAX_SAID_BYTES {
            let message =
                format!("the answer is too long: {MAX_SAID_BYTES} bytes are the most that is taken");
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
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            // Whoever stops drops the exchange, and with it the connection.
            let answered = tokio::select! {
                biased;
                () = cancellation.cancelled() => {
                    Err(ModelError::new(ModelErrorKind::Cancelled, "the answer was stopped"))
                }
                answered = self.exchange(request, told) => answered,
            };
            answered.map_err(|error| self.shown(error))
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
