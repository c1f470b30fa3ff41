//! Prometheus metrics, read at `/metrics`.
//!
//! Labels are tool ids and route patterns, which are few; never users, projects or anything a client sent.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use toolroom::CallObserver;
use toolroom::call::{CallReport, Outcome};
use toolroom::conversation::{RunEvent, RunState};
use toolroom::tool::{ErrorKind, RaisedBy};

/// Buckets from half a millisecond to minutes.
fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.5, 14))
}

/// All metrics of the process.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    call_seconds: Histogram,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histogram,
    runs: Family<RunLabels, Counter>,
    tokens: Family<TokenLabels, Counter>,
    dollars: Counter<f64, std::sync::atomic::AtomicU64>,
    live_runs: Gauge,
    waiting: Gauge,
    spans: Family<SpanLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabels {
    kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SpanLabels {
    fate: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
enum TokenKind {
    Input,
    Output,
}

/// The label of unknown tools, so that labels stay bounded.
const NO_TOOL: &str = "unknown";

impl Metrics {
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("toolroom");
        let metrics = Self {
            calls: Family::default(),
            call_seconds: duration_histogram(),
            requests: Family::default(),
            request_seconds: duration_histogram(),
            runs: Family::default(),
            tokens: Family::default(),
            dollars: Counter::default(),
            live_runs: Gauge::default(),
            waiting: Gauge::default(),
            spans: Family::default(),
            registry: Registry::default(),
        };
        registry.register("calls", "Calls of tools by how they ended", metrics.calls.clone());
        registry.register_with_unit(
            "call",
            "How long calls took",
            Unit::Seconds,
            metrics.call_seconds.clone(),
        );
        registry.register("http_requests", "Requests by route and status", metrics.requests.clone());
        registry.register_with_unit(
            "http_request",
            "How long requests took until their reply began",
            Unit::Seconds,
            metrics.request_seconds.clone(),
        );
        registry.register("runs", "Runs by how they came to rest", metrics.runs.clone());
        registry.register("tokens", "Tokens of models", metrics.tokens.clone());
        registry.register(
            "cost_usd",
            "What models cost, as far as prices are known",
            metrics.dollars.clone(),
        );
        registry.register("runs_live", "Runs that are being worked on", metrics.live_runs.clone());
        registry.register("approvals_waiting", "Calls that wait for an answer", metrics.waiting.clone());
        registry.register("trace_spans", "Spans of traces, sent or lost", metrics.spans.clone());
        Arc::new(Self { registry, ..metrics })
    }

    /// Counts every call of the toolroom.
    pub(crate) fn observer(self: &Arc<Self>) -> CallObserver {
        let metrics = Arc::clone(self);
        Arc::new(move |report| metrics.call(report))
    }

    fn call(&self, report: &CallReport) {
        let unknown = matches!(&report.outcome, Outcome::Failed(error)
            if error.kind() == ErrorKind::NotFound && error.raised_by() == RaisedBy::Kernel);
        let tool = if unknown || report.tool.starts_with("client:") { NO_TOOL } else { &report.tool };
        let labels = CallLabels { tool: tool.to_owned(), outcome: report.outcome.name() };
        self.calls.get_or_create(&labels).inc();
        self.call_seconds.observe(report.duration.as_secs_f64());
    }

    pub(crate) fn request(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn event(&self, event: &RunEvent) {
        let state = match event {
            RunEvent::Answered { usage, cost, .. } => {
                let count = |kind, tokens| {
                    self.tokens.get_or_create(&TokenLabels { kind }).inc_by(tokens);
                };
                count(TokenKind::Input, usage.input);
                count(TokenKind::Output, usage.output);
                if let Some(cost) = cost {
                    self.dollars.inc_by(*cost);
                }
                return;
            }
            RunEvent::Done { .. } => RunState::Done,
            RunEvent::Failed(_) => RunState::Failed,
            RunEvent::Cancelled => RunState::Cancelled,
            RunEvent::Waiting { .. } => RunState::Waiting,
            _ => return,
        };
        self.runs.get_or_create(&RunLabels { state: state.as_str() }).inc();
    }

    pub(crate) fn spans_sent(&self, count: u64) {
        self.spans.get_or_create(&SpanLabels { fate: "sent" }).inc_by(count);
    }

    pub(crate) fn spans_lost(&self, count: u64) {
        self.spans.get_or_create(&SpanLabels { fate: "lost" }).inc_by(count);
    }

    /// The page in the text format of Prometheus.
    pub(crate) fn page(&self, live_runs: usize, waiting: u64) -> String {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.live_runs.set(whole(live_runs as u64));
        self.waiting.set(whole(waiting));
        let mut page = String::new();
        match encode(&mut page, &self.registry) {
            Ok(()) => page,
            // Writing to a string cannot fail.
            Err(_) => String::new(),
        }
    }
}
