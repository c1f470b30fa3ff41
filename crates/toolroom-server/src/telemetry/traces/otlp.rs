//! OTLP in JSON: ids in hex, large numbers as text.

use serde_json::{Map, Value, json};
use toolroom::clock::Timestamp;

use super::span::{Attribute, Span, SpanKind};
use crate::telemetry::RedactFn;

/// Longest text of an attribute, in characters.
const TEXT_CHARS: usize = 256;

/// The status code of a failed span.
const ERROR: u8 = 2;

/// The body of an export request. Every text is redacted.
pub(super) fn body(service: &str, spans: &[Span], redact: RedactFn) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        attribute("service.name", &service.to_owned().into(), redact),
        attribute("service.version", &version.into(), redact),
    ];
    let spans: Vec<Value> = spans.iter().map(|one| span(one, redact)).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{"scope": {"name": "toolroom", "version": version}, "spans": spans}],
    }]})
}

fn span(span: &Span, redact: RedactFn) -> Value {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("traceId", span.context.trace.to_string().into());
    set("spanId", span.context.span.to_string().into());
    if let Some(parent) = span.parent {
        set("parentSpanId", parent.to_string().into());
    }
    set("name", text(&span.name, redact).into());
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    };
    set("kind", kind.into());
    set("startTimeUnixNano", nanoseconds(span.start).into());
    set("endTimeUnixNano", nanoseconds(span.end.max(span.start)).into());
    set("attributes", span.attributes.iter().map(|(name, value)| attribute(name, value, redact)).collect());
    if span.has_failed {
        set("status", json!({"code": ERROR}));
    }
    Value::Object(fields)
}

fn attribute(name: &str, value: &Attribute, redact: RedactFn) -> Value {
    let value = match value {
        Attribute::Text(words) => json!({"stringValue": text(words, redact)}),
        Attribute::Whole(number) => json!({"intValue": number.to_string()}),
    };
    json!({"key": name, "value": value})
}

fn text(words: &str, redact: RedactFn) -> String {
    redact(words).chars().take(TEXT_CHARS).collect()
}

fn nanoseconds(at: Timestamp) -> String {
    (i128::from(at.as_micros()).max(0) * 1_000).to_string()
}
