//! Sends spans to a collector. Nobody waits for it: what it cannot take in time is lost, counted, and told once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolroom_host::net::{Client, EgressPolicy, HttpLimits, Request, StatusCode};

use super::otlp;
use super::settings::Collector;
use super::span::Span;
use crate::metrics::Figures;
use crate::telemetry::Hide;

/// Spans that are sent together.
const TOGETHER: usize = 512;

/// How long the first of them waits for others.
const GATHER: Duration = Duration::from_secs(1);

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of its reply is read: nothing in it matters.
const REPLY_BYTES: u64 = 64 * 1024;

pub(super) struct Exporter {
    collector: Collector,
    client: Client,
    figures: Arc<Figures>,
    hide: Hide,
    /// It did not work the last time, which has been told.
    is_down: bool,
}

/// Why spans were not taken.
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
    pub(super) fn new(collector: Collector, figures: Arc<Figures>, hide: Hide) -> Self {
        let limits = HttpLimits {
            wire_bytes: REPLY_BYTES,
            decoded_bytes: REPLY_BYTES,
            connect: PATIENCE,
            idle: PATIENCE,
            total: Some(PATIENCE),
            ..HttpLimits::default()
        };
        // The public internet, and the one origin an operator set, as for vendors of models.
        let reach = EgressPolicy::public().open(collector.opening.clone()).max_redirects(0).limits(limits);
        Self { collector, client: Client::new(reach), figures, hide, is_down: false }
    }

    /// Sends what comes until `ending`, and then the rest.
    pub(super) async fn work(mut self, mut spans: Receiver<Span>, ending: CancellationToken) {
        let mut batch = Vec::with_capacity(TOGETHER);
        while !ending.is_cancelled() {
            let first = tokio::select! {
                first = spans.recv() => first,
                () = ending.cancelled() => None,
            };
            let Some(first) = first else { break };
            batch.push(first);
            let until = Instant::now() + GATHER;
            while batch.len() < TOGETHER {
                let room = TOGETHER - batch.len();
                tokio::select! {
                    count = spans.recv_many(&mut batch, room) => if count == 0 { break },
                    () = sleep_until(until) => break,
                    () = ending.cancelled() => break,
                }
            }
            self.deliver(&mut batch).await;
        }
        spans.close();
        loop {
            while batch.len() < TOGETHER
                && let Ok(span) = spans.try_recv()
            {
                batch.push(span);
            }
            if batch.is_empty() {
                return;
            }
            self.deliver(&mut batch).await;
        }
    }

    async fn deliver(&mut self, batch: &mut Vec<Span>) {
        let count = batch.len() as u64;
        match self.send(batch).await {
            Ok(()) => {
                if std::mem::take(&mut self.is_down) {
                    tracing::info!("traces are sent again");
                }
                self.figures.spans_sent(count);
            }
            Err(error) => {
                self.figures.spans_lost(count);
                if !std::mem::replace(&mut self.is_down, true) {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        "traces cannot be sent; they are lost until the collector takes them"
                    );
                }
            }
        }
        batch.clear();
    }

    async fn send(&self, batch: &[Span]) -> Result<(), ExportError> {
        let body = serde_json::to_vec(&otlp::body(&self.collector.service, batch, self.hide))?;
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
