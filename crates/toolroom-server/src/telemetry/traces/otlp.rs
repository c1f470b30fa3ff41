//! Spans as OTLP writes them in JSON: ids in hex, large numbers as text.

use serde_json::{Map, Value, json};
use toolroom::clock::Timestamp;

use super::span::{Attribute, Kind, Span};
use crate::telemetry::Hide;

/// Longest text of an attribute, in characters.
const TEXT_CHARS: usize = 256;

/// Something went wrong.
const ERROR: u8 = 2;

/// A request to a collector. `hide` is the last look at every text.
pub(super) fn body(service: &str, spans: &[Span], hide: Hide) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        attribute("service.name", &service.to_owned().into(), hide),
        attribute("service.version", &version.into(), hide),
    ];
    let spans: Vec<Value> = spans.iter().map(|one| span(one, hide)).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{"scope": {"name": "toolroom", "version": version}, "spans": spans}],
    }]})
}

fn span(span: &Span, hide: Hide) -> Value {
    let mut told = Map::new();
    let mut tell = |name: &str, value: Value| told.insert(name.to_owned(), value);
    tell("traceId", span.context.trace.to_string().into());
    tell("spanId", span.context.span.to_string().into());
    if let Some(parent) = span.parent {
        tell("parentSpanId", parent.to_string().into());
    }
    tell("name", text(&span.name, hide).into());
    let kind = match span.kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
    };
    tell("kind", kind.into());
    tell("startTimeUnixNano", nanoseconds(span.start).into());
    tell("endTimeUnixNano", nanoseconds(span.end.max(span.start)).into());
    tell("attributes", span.attributes.iter().map(|(name, value)| attribute(name, value, hide)).collect());
    if span.has_failed {
        tell("status", json!({"code": ERROR}));
    }
    Value::Object(told)
}

fn attribute(name: &str, value: &Attribute, hide: Hide) -> Value {
    let value = match value {
        Attribute::Text(words) => json!({"stringValue": text(words, hide)}),
        Attribute::Whole(number) => json!({"intValue": number.to_string()}),
    };
    json!({"key": name, "value": value})
}

fn text(words: &str, hide: Hide) -> String {
    hide(words).chars().take(TEXT_CHARS).collect()
}

fn nanoseconds(at: Timestamp) -> String {
    (i128::from(at.as_micros()).max(0) * 1_000).to_string()
}
