//! A line of the log, for people or for programs. Whatever it is about, it stays one line.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolroom::clock::Timestamp;
use tracing::Level;
use tracing::field::{Field, Visit as Fields};

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

/// What is said: words, and fields beside them.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) fields: Vec<(&'static str, Value)>,
}

impl Said {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Fields for Said {
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

impl Record {
    /// Its fields, and those of the request, without secrets.
    fn fields(&self, hide: fn(&str) -> String) -> Vec<(&'static str, Value)> {
        let mut fields: Vec<(&'static str, Value)> = Vec::with_capacity(self.said.fields.len() + 3);
        for (name, value) in &self.said.fields {
            let value = match value {
                Value::String(text) => hide(text).into(),
                other => other.clone(),
            };
            fields.push((name, value));
        }
        if let Some(visit) = &self.visit {
            fields.push(("request_id", hide(&visit.request_id).into()));
            if let Some(caller) = visit.caller() {
                fields.push(("project", hide(&caller.project).into()));
                fields.extend(caller.key.as_deref().map(|key| ("key", key.into())));
            }
        }
        fields
    }

    /// As one JSON object.
    pub(super) fn json(&self, hide: fn(&str) -> String) -> String {
        let mut line = Map::new();
        line.insert("time".to_owned(), time(self.at).into());
        line.insert("level".to_owned(), self.level.as_str().to_ascii_lowercase().into());
        line.insert("target".to_owned(), self.target.into());
        line.insert("message".to_owned(), hide(&self.said.message).into());
        for (name, value) in self.fields(hide) {
            // What the line itself says is not said over.
            line.entry(name).or_insert(value);
        }
        Value::Object(line).to_string()
    }

    /// As a person reads it.
    pub(super) fn text(&self, hide: fn(&str) -> String) -> String {
        let mut line = format!("{} {:5} ", time(self.at), self.level);
        escape(&hide(&self.said.message), &mut line);
        for (name, value) in self.fields(hide) {
            line.push(' ');
            line.push_str(name);
            line.push('=');
            match value {
                Value::String(text) if is_plain(&text) => line.push_str(&text),
                Value::String(text) => line.push_str(&format!("{text:?}")),
                other => line.push_str(&other.to_string()),
            }
        }
        line
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
            said: Said {
                message: message.to_owned(),
                fields: vec![("error", value.into()), ("status", 503.into()), ("message", "other".into())],
            },
            visit: Some(Visit::new("abc-1", None)),
        }
    }

    #[test]
    fn a_line_says_when_what_and_in_which_request() {
        let told = record("it's \"odd\"", "a b");
        assert_eq!(
            told.text(str::to_owned),
            "2023-11-14T22:13:20.000001Z WARN  it's \"odd\" error=\"a b\" status=503 message=other request_id=abc-1"
        );
        assert_eq!(
            told.json(str::to_owned),
            r#"{"time":"2023-11-14T22:13:20.000001Z","level":"warn","target":"toolroom_server","message":"it's \"odd\"","error":"a b","status":503,"request_id":"abc-1"}"#
        );
    }

    #[test]
    fn secrets_are_hidden_in_every_part() {
        let hide = |text: &str| text.replace("hunter2", "***");
        let told = record("hunter2", "x hunter2");
        assert!(!told.text(hide).contains("hunter2") && !told.json(hide).contains("hunter2"));
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_one_line(message in any::<String>(), value in "\\PC*|[\\x00-\\x1f\u{202e}\u{2028}\\\\\"]*") {
            let told = record(&message, &value);
            let (text, json) = (told.text(str::to_owned), told.json(str::to_owned));
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            prop_assert!(!json.contains(['\n', '\r', '\u{1b}']), "{json:?}");
            let read: Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&read["message"], &Value::from(message));
            prop_assert_eq!(&read["error"], &Value::from(value));
        }
    }
}
