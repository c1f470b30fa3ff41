//! Records spans and queues them for export.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolroom::call::{CallReport, Outcome};
use toolroom::clock::{Clock, SystemClock, Timestamp};
use toolroom::tool::{ErrorKind, RaisedBy};

use super::context::SpanContext;
use super::export::Exporter;
use super::settings::Collector;
use super::span::{Attribute, Span, SpanKind};
use crate::metrics::Metrics;
use crate::telemetry::RedactFn;

/// Capacity of the export queue.
const QUEUE_SPANS: usize = 8_192;

/// How long shutdown waits for the export.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The name of OpenTelemetry for other methods.
const OTHER_METHOD: &str = "_OTHER";

/// Records spans without waiting. Spans that do not fit the queue are dropped and counted.
pub(crate) struct Tracer {
    spans: Sender<Span>,
    metrics: Arc<Metrics>,
    ending: CancellationToken,
}

/// How a request ended.
#[derive(Clone, Copy)]
pub(crate) struct RequestEnd {
    pub(crate) method: &'static str,
    pub(crate) route: Option<&'static str>,
    pub(crate) started: Timestamp,
    pub(crate) took: Duration,
    /// `None` if the client disconnected first.
    pub(crate) status: Option<u16>,
}

/// The span of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTrace {
    pub(super) own: SpanContext,
    parent: Option<SpanContext>,
}

impl RequestTrace {
    /// The parent of everything in the request.
    pub(crate) const fn context(self) -> SpanContext {
        self.own
    }
}

impl Tracer {
    /// Starts the export. The task ends after [`Tracer::finish`].
    pub(crate) fn start(
        collector: Collector,
        metrics: Arc<Metrics>,
        redact: RedactFn,
    ) -> (Arc<Self>, JoinHandle<()>) {
        let (spans, taken) = mpsc::channel(QUEUE_SPANS);
        let ending = CancellationToken::new();
        let exporter = Exporter::new(collector, Arc::clone(&metrics), redact);
        let task = tokio::spawn(exporter.work(taken, ending.clone()));
        (Arc::new(Self { spans, metrics, ending }), task)
    }

    /// Exports pending spans, within [`SHUTDOWN_TIMEOUT`].
    pub(crate) async fn finish(&self, task: JoinHandle<()>) {
        self.ending.cancel();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, task).await.is_err() {
            tracing::warn!("the last traces could not be exported in time");
        }
    }

    /// The span of a new request, below that of its client if it sends one.
    pub(crate) fn receive(headers: &HeaderMap) -> RequestTrace {
        let parent = SpanContext::from_headers(headers);
        let own = parent.map_or_else(|| SpanContext::root(&SystemClock), |parent| parent.child(&SystemClock));
        RequestTrace { own, parent }
    }

    /// Records a finished request.
    pub(crate) fn request(&self, trace: RequestTrace, end: RequestEnd) {
        let RequestEnd { method, route, started, took, status } = end;
        let method = if method == "other" { OTHER_METHOD } else { method };
        let mut attributes: Vec<(&'static str, Attribute)> =
            vec![("http.request.method", method.into()), ("url.scheme", "http".into())];
        let name = match route {
            Some(route) => format!("{method} {route}"),
            None => method.to_owned(),
        };
        attributes.extend(route.map(|route| ("http.route", route.into())));
        attributes.extend(status.map(|status| ("http.response.status_code", u64::from(status).into())));
        let has_failed = status.is_none_or(|status| status >= 500);
        if has_failed {
            let kind = status.map_or_else(|| "cancelled".to_owned(), |status| status.to_string());
            attributes.push(("error.type", kind.into()));
        }
        self.record(Span {
            context: trace.own,
            parent: trace.parent.map(|parent| parent.span),
            name,
            kind: SpanKind::Server,
            start: started,
            end: started.after(took),
            attributes,
            has_failed,
        });
    }

    /// Records a finished direct call.
    pub(crate) fn call(&self, parent: SpanContext, report: &CallReport) {
        let end = SystemClock.now();
        let unknown = matches!(&report.outcome, Outcome::Failed(error)
            if error.kind() == ErrorKind::NotFound && error.raised_by() == RaisedBy::Kernel);
        let tool = if unknown { "unknown" } else { &report.tool };
        let end_of_call = ToolEnd { tool, outcome: report.outcome.name(), rule: report.rule.as_deref() };
        let mut span = end_of_call.span(parent, end.before(report.duration), end);
        span.attributes.push(("toolroom.call.id", report.call_id.to_string().into()));
        self.record(span);
    }

    /// Queues a sampled span.
    pub(super) fn record(&self, span: Span) {
        if span.context.sampled && self.spans.try_send(span).is_err() {
            self.metrics.spans_lost(1);
        }
    }
}

/// How a call ended.
pub(super) struct ToolEnd<'a> {
    pub(super) tool: &'a str,
    pub(super) outcome: &'a str,
    /// The rule that decided whether it may run.
    pub(super) rule: Option<&'a str>,
}

impl ToolEnd<'_> {
    pub(super) fn span(&self, parent: SpanContext, start: Timestamp, end: Timestamp) -> Span {
        let Self { tool, outcome, rule } = self;
        let mut attributes: Vec<(&'static str, Attribute)> = vec![
            ("gen_ai.operation.name", "execute_tool".into()),
            ("gen_ai.tool.name", (*tool).to_owned().into()),
            ("toolroom.outcome", (*outcome).to_owned().into()),
        ];
        // A failed call may not have reached the policy.
        let decision = match *outcome {
            "done" | "unknown" => Some("allow"),
            "denied" => Some("deny"),
            "pending" => Some("ask"),
            _ => None,
        };
        attributes.extend(decision.map(|decision| ("toolroom.decision", decision.into())));
        attributes.extend(rule.map(|rule| ("toolroom.rule", rule.to_owned().into())));
        let has_failed = matches!(*outcome, "failed" | "unknown");
        if has_failed {
            attributes.push(("error.type", (*outcome).to_owned().into()));
        }
        Span {
            context: parent.child(&SystemClock),
            parent: Some(parent.span),
            name: format!("execute_tool {tool}"),
            kind: SpanKind::Internal,
            start,
            end,
            attributes,
            has_failed,
        }
    }
}
