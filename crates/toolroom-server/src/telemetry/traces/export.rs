//! Exports spans to a collector in the background. Spans it does not take are dropped, counted, and reported once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolroom_host::net::{Client, EgressPolicy, HttpLimits, Request, StatusCode};

use super::otlp;
use super::settings::Collector;
use super::span::Span;
use crate::metrics::Metrics;
use crate::telemetry::RedactFn;

/// Spans per request.
const BATCH_SPANS: usize = 512;

/// How long a batch is collected.
const BATCH_DELAY: Duration = Duration::from_secs(1);

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Limit of the reply, which is ignored.
const REPLY_BYTES: u64 = 64 * 1024;

pub(super) struct Exporter {
    collector: Collector,
    client: Client,
    metrics: Arc<Metrics>,
    redact: RedactFn,
    /// The last export failed, which was reported.
    is_down: bool,
}

#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Net(#[from] toolroom_host::net::NetError),
    #[error("the collector replied with status {0}")]
    Status(StatusCode),
    #[error("the spans cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

impl Exporter {
    pub(super) fn new(collector: Collector, metrics: Arc<Metrics>, redact: RedactFn) -> Self {
        let limits = HttpLimits {
            wire_bytes: REPLY_BYTES,
            decoded_bytes: REPLY_BYTES,
            connect: TIMEOUT,
            idle: TIMEOUT,
            total: Some(TIMEOUT),
            ..HttpLimits::default()
        };
        // The public internet and the configured origin, as for model vendors.
        let reach = EgressPolicy::public().open(collector.opening.clone()).max_redirects(0).limits(limits);
        Self { collector, client: Client::new(reach), metrics, redact, is_down: false }
    }

    /// Exports spans until `ending` is cancelled, then the rest.
    pub(super) async fn work(mut self, mut spans: Receiver<Span>, ending: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH_SPANS);
        while !ending.is_cancelled() {
            let first = tokio::select! {
                first = spans.recv() => first,
                () = ending.cancelled() => None,
            };
            let Some(first) = first else { break };
            batch.push(first);
            let until = Instant::now() + BATCH_DELAY;
            while batch.len() < BATCH_SPANS {
                let room = BATCH_SPANS - batch.len();
                tokio::select! {
                    count = spans.recv_many(&mut batch, room) => if count == 0 { break },
                    () = sleep_until(until) => break,
                    () = ending.cancelled() => break,
                }
            }
            self.send_batch(&mut batch).await;
        }
        spans.close();
        loop {
            while batch.len() < BATCH_SPANS
                && let Ok(span) = spans.try_recv()
            {
                batch.push(span);
            }
            if batch.is_empty() {
                return;
            }
            self.send_batch(&mut batch).await;
        }
    }

    async fn send_batch(&mut self, batch: &mut Vec<Span>) {
        let count = batch.len() as u64;
        match self.send(batch).await {
            Ok(()) => {
                if std::mem::take(&mut self.is_down) {
                    tracing::info!("exporting traces again");
                }
                self.metrics.spans_sent(count);
            }
            Err(error) => {
                self.metrics.spans_lost(count);
                if !std::mem::replace(&mut self.is_down, true) {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        "cannot export traces; they are dropped until the collector accepts them"
                    );
                }
            }
        }
        batch.clear();
    }

    async fn send(&self, batch: &[Span]) -> Result<(), ExportError> {
        let body = serde_json::to_vec(&otlp::body(&self.collector.service, batch, self.redact))?;
        let mut request =
            Request::post(&self.collector.url, body).header("content-type", "application/json")?;
        for (name, value) in &self.collector.headers {
            request = request.secret_header(name, value.expose())?;
        }
        let response = self.client.send(request).await?;
        match response.status.is_success() {
            true => Ok(()),
            false => Err(ExportError::Status(response.status)),
        }
    }
}
