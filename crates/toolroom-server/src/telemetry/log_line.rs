//! Formats log records as text or JSON, always on one line.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;
use toolroom::clock::Timestamp;
use tracing::Level;
use tracing::field::{Field, Visit as FieldVisitor};

use super::RedactFn;
use super::current_request::CurrentRequest;

/// Longer field texts are cut.
const TEXT_BYTES: usize = 8 * 1024;

#[derive(Debug)]
pub(super) struct LogRecord {
    pub(super) at: Timestamp,
    pub(super) level: Level,
    pub(super) target: &'static str,
    pub(super) content: LogContent,
    /// The request of the task that logged it.
    pub(super) request: Option<Arc<CurrentRequest>>,
}

#[derive(Debug)]
pub(super) enum LogContent {
    Event(EventFields),
    /// The most frequent record; formatted on the writer thread.
    Request(RequestLine),
}

/// Message and fields of a `tracing` event.
#[derive(Debug, Default)]
pub(super) struct EventFields {
    pub(super) message: String,
    pub(super) fields: Vec<(&'static str, Value)>,
}

/// A finished request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLine {
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    /// `None` if the client disconnected first.
    pub(crate) status: Option<u16>,
    pub(crate) ms: f64,
    pub(crate) from: Option<IpAddr>,
}

impl RequestLine {
    pub(super) const fn message(&self) -> &'static str {
        match self.status {
            Some(_) => "request",
            None => "request cancelled by the client",
        }
    }
}

impl LogContent {
    fn message(&self) -> &str {
        match self {
            Self::Event(event) => &event.message,
            Self::Request(line) => line.message(),
        }
    }
}

impl EventFields {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl FieldVisitor for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut text = TruncatedText::default();
        // Fails once the limit is reached.
        let _is_complete = write!(text, "{value:?}");
        self.add(field, Value::String(text.0));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let end = value.floor_char_boundary(TEXT_BYTES);
        self.add(field, value.get(..end).unwrap_or_default().into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }
}

/// Cuts text at [`TEXT_BYTES`].
#[derive(Default)]
struct TruncatedText(String);

impl std::fmt::Write for TruncatedText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = TEXT_BYTES.saturating_sub(self.0.len());
        self.0.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        if text.len() > room { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// A record for display, redacted. The fields of its request come last.
pub(super) struct RedactedRecord<'a> {
    pub(super) record: &'a LogRecord,
    pub(super) redact: RedactFn,
}

/// Names of the JSON line that no field replaces.
const RESERVED_FIELDS: [&str; 4] = ["time", "level", "target", "message"];

impl RedactedRecord<'_> {
    fn each<E>(&self, mut write: impl FnMut(&'static str, FieldValue<'_>) -> Result<(), E>) -> Result<(), E> {
        let redact = self.redact;
        match &self.record.content {
            LogContent::Event(event) => {
                for (name, value) in &event.fields {
                    let part = match value {
                        Value::String(text) => FieldValue::Text(redact(text)),
                        other => FieldValue::Other(Cow::Borrowed(other)),
                    };
                    write(name, part)?;
                }
            }
            LogContent::Request(RequestLine { method, route, status, ms, from }) => {
                write("method", FieldValue::Text(Cow::Borrowed(method)))?;
                write("route", FieldValue::Text(Cow::Borrowed(route)))?;
                status
                    .map_or(Ok(()), |status| write("status", FieldValue::Other(Cow::Owned(status.into()))))?;
                write("ms", FieldValue::Other(Cow::Owned((*ms).into())))?;
                from.map_or(Ok(()), |from| {
                    write("from", FieldValue::Text(redact(&from.to_string()).into_owned().into()))
                })?;
            }
        }
        let Some(request) = &self.record.request else { return Ok(()) };
        write("request_id", FieldValue::Text(redact(&request.request_id)))?;
        let Some(caller) = request.caller() else { return Ok(()) };
        write("project", FieldValue::Text(redact(caller.project.as_str())))?;
        match caller.key() {
            Some(key) => write("key", FieldValue::Text(Cow::Borrowed(key))),
            None => Ok(()),
        }
    }

    /// The line for people.
    pub(super) fn text(&self) -> String {
        let LogRecord { at, level, content, .. } = self.record;
        let mut line = format!("{} {level:5} ", time(*at));
        escape(&(self.redact)(content.message()), &mut line);
        let result = self.each(|name, part| match part {
            FieldValue::Text(text) if is_plain(&text) => write!(line, " {name}={text}"),
            FieldValue::Text(text) => write!(line, " {name}={text:?}"),
            FieldValue::Other(value) => write!(line, " {name}={value}"),
        });
        // Writing to a string cannot fail.
        debug_assert!(result.is_ok());
        line
    }
}

enum FieldValue<'a> {
    Text(Cow<'a, str>),
    Other(Cow<'a, Value>),
}

/// The line as a JSON object.
impl Serialize for RedactedRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LogRecord { at, level, target, content, .. } = self.record;
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("time", &time(*at))?;
        line.serialize_entry("level", level_name(*level))?;
        line.serialize_entry("target", target)?;
        match content {
            LogContent::Event(event) => line.serialize_entry("message", &(self.redact)(&event.message))?,
            LogContent::Request(request) => line.serialize_entry("message", request.message())?,
        }
        // The first field of a name wins. Request lines have no duplicates.
        let mut names = matches!(content, LogContent::Event(_)).then(|| Vec::from(RESERVED_FIELDS));
        self.each(|name, part| {
            if let Some(names) = &mut names {
                if names.contains(&name) {
                    return Ok(());
                }
                names.push(name);
            }
            match part {
                FieldValue::Text(text) => line.serialize_entry(name, &text),
                FieldValue::Other(value) => line.serialize_entry(name, &value),
            }
        })?;
        line.end()
    }
}

const fn level_name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// Whether a text needs no quotes.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '=');
    !text.is_empty() && text.chars().all(plain)
}

/// Escapes line breaks and control characters.
fn escape(text: &str, line: &mut String) {
    for c in text.chars() {
        match c {
            '\'' | '"' => line.push(c),
            _ => line.extend(c.escape_debug()),
        }
    }
}

fn time(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{at:.6}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(message: &str, value: &str) -> LogRecord {
        LogRecord {
            at: Timestamp::from_micros(1_700_000_000_000_001),
            level: Level::WARN,
            target: "toolroom_server",
            content: LogContent::Event(EventFields {
                message: message.to_owned(),
                fields: vec![("error", value.into()), ("status", 503.into()), ("message", "other".into())],
            }),
            request: Some(CurrentRequest::new("abc-1".to_owned(), None)),
        }
    }

    fn text(record: &LogRecord) -> String {
        RedactedRecord { record, redact: |text| Cow::Borrowed(text) }.text()
    }

    fn json(record: &LogRecord) -> String {
        serde_json::to_string(&RedactedRecord { record, redact: |text| Cow::Borrowed(text) }).unwrap()
    }

    #[test]
    fn a_line_has_time_message_fields_and_request() {
        let record = record("it's \"odd\"", "a b");
        assert_eq!(
            text(&record),
            "2023-11-14T22:13:20.000001Z WARN  it's \"odd\" error=\"a b\" status=503 message=other request_id=abc-1"
        );
        assert_eq!(
            json(&record),
            r#"{"time":"2023-11-14T22:13:20.000001Z","level":"warn","target":"toolroom_server","message":"it's \"odd\"","error":"a b","status":503,"request_id":"abc-1"}"#
        );
    }

    #[test]
    fn a_finished_request_is_one_line() {
        let line = RequestLine {
            method: "POST",
            route: "/mcp",
            status: Some(200),
            ms: 0.25,
            from: Some([127, 0, 0, 1].into()),
        };
        let finished = LogRecord { content: LogContent::Request(line), ..record("", "") };
        assert_eq!(
            text(&finished),
            "2023-11-14T22:13:20.000001Z WARN  request method=POST route=/mcp status=200 ms=0.25 from=127.0.0.1 \
             request_id=abc-1"
        );
        assert_eq!(
            json(&finished),
            r#"{"time":"2023-11-14T22:13:20.000001Z","level":"warn","target":"toolroom_server","message":"request","method":"POST","route":"/mcp","status":200,"ms":0.25,"from":"127.0.0.1","request_id":"abc-1"}"#
        );
        let left = RequestLine { status: None, from: None, ..line };
        let finished = LogRecord { content: LogContent::Request(left), ..record("", "") };
        assert!(
            text(&finished)
                .contains("request cancelled by the client method=POST route=/mcp ms=0.25 request_id")
        );
    }

    #[test]
    fn secrets_are_redacted_in_every_field() {
        let record = record("hunter2", "x hunter2");
        let record = RedactedRecord { record: &record, redact: |text| text.replace("hunter2", "***").into() };
        let json = serde_json::to_string(&record).unwrap();
        assert!(!record.text().contains("hunter2") && !json.contains("hunter2"));
    }

    proptest! {
        #[test]
        fn every_record_is_one_line(message in any::<String>(), value in "\\PC*|[\\x00-\\x1f\u{202e}\u{2028}\\\\\"]*") {
            let record = record(&message, &value);
            let (text, json) = (text(&record), json(&record));
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            prop_assert!(!json.contains(['\n', '\r', '\u{1b}']), "{json:?}");
            let read: Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&read["message"], &Value::from(message));
            prop_assert_eq!(&read["error"], &Value::from(value));
        }
    }
}
