//! What is counted.

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

/// From a fraction of a millisecond to minutes.
fn spans() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.5, 14))
}

/// Everything that is counted.
pub(crate) struct Figures {
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

/// A name that no tool has is not kept as a label: there are as many as people can think of.
const NO_TOOL: &str = "unknown";

impl Figures {
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("toolroom");
        let figures = Self {
            calls: Family::default(),
            call_seconds: spans(),
            requests: Family::default(),
            request_seconds: spans(),
            runs: Family::default(),
            tokens: Family::default(),
            dollars: Counter::default(),
            live_runs: Gauge::default(),
            waiting: Gauge::default(),
            spans: Family::default(),
            registry: Registry::default(),
        };
        registry.register("calls", "Calls of tools by how they ended", figures.calls.clone());
        registry.register_with_unit(
            "call",
            "How long calls took",
            Unit::Seconds,
            figures.call_seconds.clone(),
        );
        registry.register("http_requests", "Requests by route and status", figures.requests.clone());
        registry.register_with_unit(
            "http_request",
            "How long requests took until their reply began",
            Unit::Seconds,
            figures.request_seconds.clone(),
        );
        registry.register("runs", "Runs by how they came to rest", figures.runs.clone());
        registry.register("tokens", "Tokens of models", figures.tokens.clone());
        registry.register(
            "cost_usd",
            "What models cost, as far as prices are known",
            figures.dollars.clone(),
        );
        registry.register("runs_live", "Runs that are being worked on", figures.live_runs.clone());
        registry.register("approvals_waiting", "Calls that wait for an answer", figures.waiting.clone());
        registry.register("trace_spans", "Spans of traces, sent or lost", figures.spans.clone());
        Arc::new(Self { registry, ..figures })
    }

    /// Counts every call of a room.
    pub(crate) fn observer(self: &Arc<Self>) -> CallObserver {
        let figures = Arc::clone(self);
        Arc::new(move |report| figures.call(report))
    }

    /// A call has ended.
    fn call(&self, report: &CallReport) {
        let unknown = matches!(&report.outcome, Outcome::Failed(error)
            if error.kind() == ErrorKind::NotFound && error.raised_by() == RaisedBy::Kernel);
        let tool = if unknown || report.tool.starts_with("client:") { NO_TOOL } else { &report.tool };
        let labels = CallLabels { tool: tool.to_owned(), outcome: report.outcome.name() };
        self.calls.get_or_create(&labels).inc();
        self.call_seconds.observe(report.duration.as_secs_f64());
    }

    /// A request was replied to.
    pub(crate) fn request(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }

    /// Something happened in a run.
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

    /// A collector has taken so many spans.
    pub(crate) fn spans_sent(&self, count: u64) {
        self.spans.get_or_create(&SpanLabels { fate: "sent" }).inc_by(count);
    }

    /// So many spans came to nothing.
    pub(crate) fn spans_lost(&self, count: u64) {
        self.spans.get_or_create(&SpanLabels { fate: "lost" }).inc_by(count);
    }

    /// The page that Prometheus reads.
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
