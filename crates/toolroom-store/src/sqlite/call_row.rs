//! The row of a call: written as parameters, as JSON, or as a line of the write-ahead file; and read.

use std::convert::Infallible;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::ser::{Serialize, SerializeTuple, Serializer};
use serde_json::Value;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, Row};
use toolroom::clock::Timestamp;
use toolroom::ledger::{ArtifactId, CallId, CallRecord, CallStatus};
use toolroom::scope::UserId;
use toolroom::tool::{Effect, ErrorKind};

use crate::StoreError;
use crate::sqlite::row::{
    Json, ReadError, Text, count, json_text, named, named_option, read_scope, shared, shared_option, size,
    timestamp, timestamp_option, unreadable, without_nul,
};

/// One row of `calls`. Its JSON is an array.
pub(crate) struct CallRow<'a> {
    pub(crate) record: &'a CallRecord,
    /// The process that began it; `None` for a call that never began.
    pub(crate) instance: Option<&'a str>,
}

pub(crate) const CALL_COLUMNS: usize = 26;

/// Version of the column order. Starts each line of the write-ahead file, which another version may replay. The row is followed
/// by the id of its call, which detects lines that a power failure tore and joined.
const LINE_VERSION: &str = "2 ";

/// The same order, without the id.
const OLD_LINE_VERSION: &str = "1 ";

/// The row in a line of the write-ahead file; `None` if the line is torn.
///
/// # Errors
/// When the line has another version.
pub(crate) fn parse_line(line: &str) -> Result<Option<&str>, StoreError> {
    let row = match line.strip_prefix(LINE_VERSION) {
        Some(rest) => rest.rsplit_once(' ').filter(|(row, id)| {
            row.strip_prefix("[\"")
                .and_then(|row| row.strip_prefix(*id))
                .is_some_and(|row| row.starts_with('"'))
        }),
        None => Some((line.strip_prefix(OLD_LINE_VERSION).ok_or_else(|| unknown_version(line))?, "")),
    };
    let is_row =
        |row: &&str| serde_json::from_str::<Vec<IgnoredAny>>(row).is_ok_and(|row| row.len() == CALL_COLUMNS);
    Ok(row.map(|(row, _)| row).filter(is_row))
}

fn unknown_version(line: &str) -> StoreError {
    unreadable("write-ahead file", "version", line.chars().take(8).collect::<String>())
}

impl CallRow<'_> {
    /// Writes the columns in the order of `call_columns!`.
    pub(crate) fn write_columns<C: ColumnWriter>(&self, columns: &mut C) -> Result<(), C::Error> {
        let record = self.record;
        columns.shared(Some(record.id.as_shared()))?;
        columns.shared(Some(record.scope.project.as_shared()))?;
        columns.shared(record.scope.user.as_ref().map(UserId::as_shared))?;
        columns.shared(Some(&record.tool))?;
        columns.shared(Some(&record.entrance))?;
        columns.shared(record.definition.as_ref())?;
        columns.text(record.effect.map(Effect::as_str))?;
        columns.text(Some(record.status.as_str()))?;
        columns.text(record.kind.map(ErrorKind::as_str))?;
        columns.json(Some(&record.arguments))?;
        columns.number(Some(count(record.arguments_bytes)))?;
        columns.json(record.result.as_deref())?;
        columns.number(Some(count(record.result_chars)))?;
        columns.text(record.artifact.as_ref().map(ArtifactId::as_str))?;
        columns.text(record.message.as_deref())?;
        columns.text(record.error.as_deref())?;
        columns.text(record.detail.as_deref())?;
        columns.text(record.rule.as_deref())?;
        columns.shared(record.thread.as_ref())?;
        columns.shared(record.run.as_ref())?;
        columns.number(Some(record.asked_at.as_micros()))?;
        columns.number(record.begun_at.map(Timestamp::as_micros))?;
        columns.number(record.ended_at.map(Timestamp::as_micros))?;
        columns.number(Some(count(record.duration_us)))?;
        columns.shared(record.model_call.as_ref())?;
        columns.text(self.instance)
    }
}

/// Receives the columns of a row in order.
pub(crate) trait ColumnWriter {
    type Error;

    fn text(&mut self, text: Option<&str>) -> Result<(), Self::Error>;

    /// Saves the copy, where the writer can share the text.
    fn shared(&mut self, text: Option<&Arc<str>>) -> Result<(), Self::Error> {
        self.text(text.map(|text| &**text))
    }

    fn number(&mut self, number: Option<i64>) -> Result<(), Self::Error>;
    fn json(&mut self, value: Option<&Value>) -> Result<(), Self::Error>;
}

impl Serialize for CallRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = JsonArray(serializer.serialize_tuple(CALL_COLUMNS)?);
        self.write_columns(&mut row)?;
        row.0.end()
    }
}

impl CallRow<'_> {
    /// Appends the line of the write-ahead file to `line`. Returns whether it is no longer than `max_bytes`.
    pub(crate) fn write_line(&self, line: &mut Vec<u8>, max_bytes: usize) -> bool {
        let record = self.record;
        // Nearly all of a long row, and known before it is serialized.
        if record.arguments_bytes.saturating_add(record.result_chars) > max_bytes as u64 {
            return false;
        }
        line.extend_from_slice(LINE_VERSION.as_bytes());
        self.write_json(line);
        line.push(b' ');
        line.extend_from_slice(record.id.as_str().as_bytes());
        line.push(b'\n');
        line.len() <= max_bytes
    }

    /// Writes the same JSON array as serde. Every call writes a line, so the frequent cases bypass serde.
    fn write_json(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        let Ok(()) = self.write_columns(&mut JsonLine(line));
        line.pop();
        line.push(b']');
    }
}

/// An unfinished JSON array. Each value is followed by a comma.
struct JsonLine<'a>(&'a mut Vec<u8>);

impl JsonLine<'_> {
    fn end(&mut self) -> Result<(), Infallible> {
        self.0.push(b',');
        Ok(())
    }

    fn serialize(&mut self, value: impl Serialize) -> Result<(), Infallible> {
        // Texts, numbers, and memory to write them to: nothing can fail.
        drop(serde_json::to_writer(&mut *self.0, &value));
        self.end()
    }
}

impl ColumnWriter for JsonLine<'_> {
    type Error = Infallible;

    fn text(&mut self, text: Option<&str>) -> Result<(), Infallible> {
        let is_escaped = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\');
        match text {
            // Looking at all bytes at once is faster than stopping early.
            Some(text) if !text.bytes().fold(false, |any, byte| any | is_escaped(byte)) => {
                self.0.push(b'"');
                self.0.extend_from_slice(text.as_bytes());
                self.0.push(b'"');
                self.end()
            }
            text => self.serialize(text.map(Text)),
        }
    }

    fn number(&mut self, number: Option<i64>) -> Result<(), Infallible> {
        self.serialize(number)
    }

    fn json(&mut self, value: Option<&Value>) -> Result<(), Infallible> {
        let Some(value) = value else { return self.serialize(()) };
        self.0.push(b'"');
        let text = json_text(value);
        // What else has to be escaped is so already.
        for piece in text.as_bytes().split_inclusive(|byte| matches!(byte, b'"' | b'\\')) {
            match piece.split_last() {
                Some((last @ (b'"' | b'\\'), plain)) => {
                    self.0.extend_from_slice(plain);
                    self.0.extend([b'\\', *last]);
                }
                _ => self.0.extend_from_slice(piece),
            }
        }
        self.0.push(b'"');
        self.end()
    }
}

struct JsonArray<T>(T);

impl<T: SerializeTuple> ColumnWriter for JsonArray<T> {
    type Error = T::Error;

    fn text(&mut self, text: Option<&str>) -> Result<(), T::Error> {
        self.0.serialize_element(&text.map(Text))
    }

    fn number(&mut self, number: Option<i64>) -> Result<(), T::Error> {
        self.0.serialize_element(&number)
    }

    fn json(&mut self, value: Option<&Value>) -> Result<(), T::Error> {
        self.0.serialize_element(&value.map(Json))
    }
}

/// One parameter per column.
impl ColumnWriter for SqliteArguments {
    type Error = sqlx::Error;

    fn text(&mut self, text: Option<&str>) -> Result<(), sqlx::Error> {
        let text: Option<Arc<str>> = text.map(|text| match text.contains('\0') {
            true => without_nul(text).into(),
            false => text.into(),
        });
        self.add(text).map_err(sqlx::Error::Encode)
    }

    fn shared(&mut self, text: Option<&Arc<str>>) -> Result<(), sqlx::Error> {
        match text {
            Some(text) if !text.contains('\0') => self.add(Arc::clone(text)).map_err(sqlx::Error::Encode),
            text => self.text(text.map(|text| &**text)),
        }
    }

    fn number(&mut self, number: Option<i64>) -> Result<(), sqlx::Error> {
        self.add(number).map_err(sqlx::Error::Encode)
    }

    fn json(&mut self, value: Option<&Value>) -> Result<(), sqlx::Error> {
        self.add(value.map(|value| Arc::<str>::from(json_text(value)))).map_err(sqlx::Error::Encode)
    }
}

/// The record in a row with `call_columns!`. Its offers are read by the journal.
pub(crate) fn read_call(row: &SqliteRow) -> Result<CallRecord, ReadError> {
    let id: String = row.try_get("id")?;
    Ok(CallRecord {
        scope: read_scope(row, "project", "user_id")?,
        tool: shared(row, "tool")?,
        entrance: shared(row, "entrance")?,
        definition: shared_option(row, "definition")?,
        effect: named_option(row, &id, "effect", Effect::from_name)?,
        status: named(row, &id, "status", CallStatus::from_name)?,
        kind: named_option(row, &id, "kind", ErrorKind::from_name)?,
        arguments: json(row.try_get("arguments")?),
        arguments_bytes: size(row, "arguments_bytes")?,
        result: row.try_get::<Option<&str>, _>("result")?.map(json),
        result_chars: size(row, "result_chars")?,
        artifact: row.try_get::<Option<&str>, _>("artifact_id")?.map(ArtifactId::new),
        message: row.try_get("message")?,
        offers: Vec::new(),
        error: row.try_get("error")?,
        detail: row.try_get("detail")?,
        rule: row.try_get("rule")?,
        thread: shared_option(row, "thread")?,
        run: shared_option(row, "run")?,
        asked_at: timestamp(row, "asked_at")?,
        begun_at: timestamp_option(row, "begun_at")?,
        ended_at: timestamp_option(row, "ended_at")?,
        duration_us: size(row, "duration_us")?,
        model_call: shared_option(row, "model_call")?,
        id: CallId::new(&id),
    })
}

/// A text that is not JSON becomes a JSON string, so that one bad row does not hide the others.
fn json(text: &str) -> Arc<Value> {
    Arc::new(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use toolroom::scope::Scope;

    use super::*;

    proptest! {
        #[test]
        fn a_line_equals_what_serde_writes(
            tool in any::<String>(),
            argument in any::<String>(),
            error in proptest::option::of("[\\x00-\\x7f\u{2028}\u{1f600}]*"),
            number in any::<i64>(),
        ) {
            let at = Timestamp::from_micros(number);
            let mut record = CallRecord::arrived(CallId::new("call_1"), Scope::default(), &tool, at);
            record.arguments = Arc::new(json!({(argument.as_str()): [argument, null, number, 0.5]}));
            record.result = error.clone().map(|error| Arc::new(Value::String(error)));
            record.error = error;
            record.duration_us = number.unsigned_abs();
            let row = CallRow { record: &record, instance: Some(&tool) };
            let mut line = Vec::new();
            row.write_json(&mut line);
            prop_assert_eq!(String::from_utf8(line).unwrap(), serde_json::to_string(&row).unwrap());
            let mut line = Vec::new();
            prop_assert!(row.write_line(&mut line, usize::MAX));
            let line = String::from_utf8(line).unwrap();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(parse_line(line.trim_end_matches('\n')).unwrap(), Some(&*serde_json::to_string(&row).unwrap()));
        }
    }

    #[test]
    fn a_line_joined_from_two_rows_is_rejected() {
        let at = Timestamp::from_micros(1);
        let line = |id: &str, tool: &str| {
            let record = CallRecord::arrived(CallId::new(id), Scope::default(), tool, at);
            let mut line = Vec::new();
            assert!(CallRow { record: &record, instance: None }.write_line(&mut line, 10_000));
            String::from_utf8(line).unwrap().trim_end().to_owned()
        };
        let (one, other) = (line("call_1", "app:x"), line("call_2", "app:y"));
        assert!(parse_line(&one).unwrap().is_some() && parse_line(&other).unwrap().is_some());
        let half = one.len() / 2;
        let spliced = [one.split_at(half).0, other.split_at(half).1].concat();
        assert_eq!(spliced.len(), one.len());
        assert_eq!(parse_line(&spliced).unwrap(), None);
        parse_line("3 [1]").unwrap_err();
    }

    #[test]
    fn a_row_that_is_too_long_has_no_line() {
        let mut record =
            CallRecord::arrived(CallId::new("c"), Scope::default(), "app:x", Timestamp::from_micros(1));
        let written =
            |record: &CallRecord| CallRow { record, instance: None }.write_line(&mut Vec::new(), 1_000);
        assert!(written(&record));
        record.error = Some("x".repeat(1_000));
        assert!(!written(&record));
        (record.error, record.arguments_bytes) = (None, 1_001);
        assert!(!written(&record), "its length is known before it is serialized");
    }
}
