//! Takes spans of what happens, for whoever sends them.

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
use super::span::{Attribute, Kind, Span};
use crate::metrics::Figures;
use crate::telemetry::Hide;

/// Spans that may wait to be sent.
const WAITING: usize = 8_192;

/// How long the end of the server waits for the last of them.
const LAST_PATIENCE: Duration = Duration::from_secs(3);

/// Methods that OpenTelemetry does not know are called so.
const OTHER_METHOD: &str = "_OTHER";

/// Takes spans. It never waits: what cannot be taken is lost, and counted.
pub(crate) struct Tracer {
    spans: Sender<Span>,
    figures: Arc<Figures>,
    ending: CancellationToken,
}

/// How a request ended.
#[derive(Clone, Copy)]
pub(crate) struct RequestEnd {
    pub(crate) method: &'static str,
    /// The pattern of its route.
    pub(crate) route: Option<&'static str>,
    pub(crate) started: Timestamp,
    pub(crate) took: Duration,
    /// What was replied; nothing to somebody who is gone.
    pub(crate) status: Option<u16>,
}

/// What a request is in its trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTrace {
    pub(super) own: SpanContext,
    parent: Option<SpanContext>,
}

impl RequestTrace {
    /// What happens in the request is below this.
    pub(crate) const fn context(self) -> SpanContext {
        self.own
    }
}

impl Tracer {
    /// Begins to send spans to a collector. The task ends after [`Tracer::finish`].
    pub(crate) fn start(
        collector: Collector,
        figures: Arc<Figures>,
        hide: Hide,
    ) -> (Arc<Self>, JoinHandle<()>) {
        let (spans, taken) = mpsc::channel(WAITING);
        let ending = CancellationToken::new();
        let exporter = Exporter::new(collector, Arc::clone(&figures), hide);
        let task = tokio::spawn(exporter.work(taken, ending.clone()));
        (Arc::new(Self { spans, figures, ending }), task)
    }

    /// Sends what is left, but does not take long.
    pub(crate) async fn finish(&self, task: JoinHandle<()>) {
        self.ending.cancel();
        if tokio::time::timeout(LAST_PATIENCE, task).await.is_err() {
            tracing::warn!("the last traces could not be sent in time");
        }
    }

    /// A request begins, as part of whatever its sender says.
    pub(crate) fn receive(headers: &HeaderMap) -> RequestTrace {
        let parent = SpanContext::of_headers(headers);
        let own = parent.map_or_else(|| SpanContext::root(&SystemClock), |parent| parent.child(&SystemClock));
        RequestTrace { own, parent }
    }

    /// A request is over.
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
        self.take(Span {
            context: trace.own,
            parent: trace.parent.map(|parent| parent.span),
            name,
            kind: Kind::Server,
            start: started,
            end: started.after(took),
            attributes,
            has_failed,
        });
    }

    /// A call that belongs to no run is over.
    pub(crate) fn call(&self, above: SpanContext, report: &CallReport) {
        let end = SystemClock.now();
        let unknown = matches!(&report.outcome, Outcome::Failed(error)
            if error.kind() == ErrorKind::NotFound && error.raised_by() == RaisedBy::Kernel);
        let tool = if unknown { "unknown" } else { &report.tool };
        let told = ToolEnd { tool, outcome: report.outcome.name(), rule: report.rule.as_deref() };
        let mut span = told.span(above, end.before(report.duration), end);
        span.attributes.push(("toolroom.call.id", report.call_id.to_string().into()));
        self.take(span);
    }

    /// Takes a span, if somebody wants it and there is room.
    pub(super) fn take(&self, span: Span) {
        if span.context.sampled && self.spans.try_send(span).is_err() {
            self.figures.spans_lost(1);
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
    pub(super) fn span(&self, above: SpanContext, start: Timestamp, end: Timestamp) -> Span {
        let Self { tool, outcome, rule } = self;
        let mut attributes: Vec<(&'static str, Attribute)> = vec![
            ("gen_ai.operation.name", "execute_tool".into()),
            ("gen_ai.tool.name", (*tool).to_owned().into()),
            ("toolroom.outcome", (*outcome).to_owned().into()),
        ];
        // What failed may never have come before the guard.
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
            context: above.child(&SystemClock),
            parent: Some(above.span),
            name: format!("execute_tool {tool}"),
            kind: Kind::Internal,
            start,
            end,
            attributes,
            has_failed,
        }
    }
}
