//! A line of the log, for people or for programs. Whatever it is about, it stays one line.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;
use toolroom::clock::Timestamp;
use tracing::Level;
use tracing::field::{Field, Visit as Fields};

use super::Hide;
use super::visit::Visit;

/// Longest text of a field. What is longer is cut off.
const TEXT_BYTES: usize = 8 * 1024;

/// Something to be told.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) at: Timestamp,
    pub(super) level: Level,
    pub(super) target: &'static str,
    pub(super) said: Said,
    /// The request it happened in.
    pub(super) visit: Option<Arc<Visit>>,
}

/// What is said.
#[derive(Debug)]
pub(super) enum Said {
    Words(Words),
    /// What is said most often is put into words when it is written.
    Request(RequestLine),
}

/// Words, and fields beside them.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) message: String,
    pub(super) fields: Vec<(&'static str, Value)>,
}

/// That a request is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLine {
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    /// None, if its sender has left before.
    pub(crate) status: Option<u16>,
    pub(crate) ms: f64,
    pub(crate) from: Option<IpAddr>,
}

impl RequestLine {
    pub(super) const fn message(&self) -> &'static str {
        match self.status {
            Some(_) => "request",
            None => "request given up by its sender",
        }
    }
}

impl Said {
    fn message(&self) -> &str {
        match self {
            Self::Words(words) => &words.message,
            Self::Request(line) => line.message(),
        }
    }
}

impl Words {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Fields for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut text = Bounded::default();
        // It fails once there is enough.
        let _enough = write!(text, "{value:?}");
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

/// Takes so much and no more.
#[derive(Default)]
struct Bounded(String);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = TEXT_BYTES.saturating_sub(self.0.len());
        self.0.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        if text.len() > room { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// A record without its secrets. Its fields are followed by those of the request.
pub(super) struct Told<'a> {
    pub(super) record: &'a Record,
    pub(super) hide: Hide,
}

/// What the line itself says and no field says over.
const OWN: [&str; 4] = ["time", "level", "target", "message"];

impl Told<'_> {
    fn each<E>(&self, mut tell: impl FnMut(&'static str, Part<'_>) -> Result<(), E>) -> Result<(), E> {
        let hide = self.hide;
        match &self.record.said {
            Said::Words(words) => {
                for (name, value) in &words.fields {
                    let part = match value {
                        Value::String(text) => Part::Text(hide(text)),
                        other => Part::Other(Cow::Borrowed(other)),
                    };
                    tell(name, part)?;
                }
            }
            Said::Request(RequestLine { method, route, status, ms, from }) => {
                tell("method", Part::Text(Cow::Borrowed(method)))?;
                tell("route", Part::Text(Cow::Borrowed(route)))?;
                status.map_or(Ok(()), |status| tell("status", Part::Other(Cow::Owned(status.into()))))?;
                tell("ms", Part::Other(Cow::Owned((*ms).into())))?;
                from.map_or(Ok(()), |from| {
                    tell("from", Part::Text(hide(&from.to_string()).into_owned().into()))
                })?;
            }
        }
        let Some(visit) = &self.record.visit else { return Ok(()) };
        tell("request_id", Part::Text(hide(&visit.request_id)))?;
        let Some(caller) = visit.caller() else { return Ok(()) };
        tell("project", Part::Text(hide(caller.project.as_str())))?;
        match caller.key() {
            Some(key) => tell("key", Part::Text(Cow::Borrowed(key))),
            None => Ok(()),
        }
    }

    /// As a person reads it.
    pub(super) fn text(&self) -> String {
        let Record { at, level, said, .. } = self.record;
        let mut line = format!("{} {level:5} ", time(*at));
        escape(&(self.hide)(said.message()), &mut line);
        let told = self.each(|name, part| match part {
            Part::Text(text) if is_plain(&text) => write!(line, " {name}={text}"),
            Part::Text(text) => write!(line, " {name}={text:?}"),
            Part::Other(value) => write!(line, " {name}={value}"),
        });
        // A text takes everything.
        debug_assert!(told.is_ok());
        line
    }
}

/// The value of a field.
enum Part<'a> {
    Text(Cow<'a, str>),
    Other(Cow<'a, Value>),
}

/// As one JSON object.
impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record { at, level, target, said, .. } = self.record;
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("time", &time(*at))?;
        line.serialize_entry("level", level_name(*level))?;
        line.serialize_entry("target", target)?;
        match said {
            Said::Words(words) => line.serialize_entry("message", &(self.hide)(&words.message))?,
            Said::Request(request) => line.serialize_entry("message", request.message())?,
        }
        // Who came first is not said over. What we say ourselves says nothing twice.
        let mut names = matches!(said, Said::Words(_)).then(|| Vec::from(OWN));
        self.each(|name, part| {
            if let Some(names) = &mut names {
                if names.contains(&name) {
                    return Ok(());
                }
                names.push(name);
            }
            match part {
                Part::Text(text) => line.serialize_entry(name, &text),
                Part::Other(value) => line.serialize_entry(name, &value),
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

/// Whether a text can stand in a line without quotes.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '=');
    !text.is_empty() && text.chars().all(plain)
}

/// Writes a text without anything that ends a line or that a terminal would obey.
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

    fn record(message: &str, value: &str) -> Record {
        Record {
            at: Timestamp::from_micros(1_700_000_000_000_001),
            level: Level::WARN,
            target: "toolroom_server",
            said: Said::Words(Words {
                message: message.to_owned(),
                fields: vec![("error", value.into()), ("status", 503.into()), ("message", "other".into())],
            }),
            visit: Some(Visit::new("abc-1".to_owned(), None)),
        }
    }

    fn text(record: &Record) -> String {
        Told { record, hide: |text| Cow::Borrowed(text) }.text()
    }

    fn json(record: &Record) -> String {
        serde_json::to_string(&Told { record, hide: |text| Cow::Borrowed(text) }).unwrap()
    }

    #[test]
    fn a_line_says_when_what_and_in_which_request() {
        let told = record("it's \"odd\"", "a b");
        assert_eq!(
            text(&told),
            "2023-11-14T22:13:20.000001Z WARN  it's \"odd\" error=\"a b\" status=503 message=other request_id=abc-1"
        );
        assert_eq!(
            json(&told),
            r#"{"time":"2023-11-14T22:13:20.000001Z","level":"warn","target":"toolroom_server","message":"it's \"odd\"","error":"a b","status":503,"request_id":"abc-1"}"#
        );
    }

    #[test]
    fn a_request_is_told_when_it_is_over() {
        let line = RequestLine {
            method: "POST",
            route: "/mcp",
            status: Some(200),
            ms: 0.25,
            from: Some([127, 0, 0, 1].into()),
        };
        let told = Record { said: Said::Request(line), ..record("", "") };
        assert_eq!(
            text(&told),
            "2023-11-14T22:13:20.000001Z WARN  request method=POST route=/mcp status=200 ms=0.25 from=127.0.0.1 \
             request_id=abc-1"
        );
        assert_eq!(
            json(&told),
            r#"{"time":"2023-11-14T22:13:20.000001Z","level":"warn","target":"toolroom_server","message":"request","method":"POST","route":"/mcp","status":200,"ms":0.25,"from":"127.0.0.1","request_id":"abc-1"}"#
        );
        let left = RequestLine { status: None, from: None, ..line };
        let told = Record { said: Said::Request(left), ..record("", "") };
        assert!(
            text(&told).contains("request given up by its sender method=POST route=/mcp ms=0.25 request_id")
        );
    }

    #[test]
    fn secrets_are_hidden_in_every_part() {
        let record = record("hunter2", "x hunter2");
        let told = Told { record: &record, hide: |text| text.replace("hunter2", "***").into() };
        let json = serde_json::to_string(&told).unwrap();
        assert!(!told.text().contains("hunter2") && !json.contains("hunter2"));
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_one_line(message in any::<String>(), value in "\\PC*|[\\x00-\\x1f\u{202e}\u{2028}\\\\\"]*") {
            let told = record(&message, &value);
            let (text, json) = (text(&told), json(&told));
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            prop_assert!(!json.contains(['\n', '\r', '\u{1b}']), "{json:?}");
            let read: Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&read["message"], &Value::from(message));
            prop_assert_eq!(&read["error"], &Value::from(value));
        }
    }
}
