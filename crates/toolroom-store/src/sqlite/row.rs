//! Records as rows and back: the row of a call, and typed access to columns by name.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::{Serialize, SerializeTuple, Serializer};
use serde_json::Value;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, Row};
use toolroom::clock::Timestamp;
use toolroom::ledger::{ArtifactId, CallId, CallRecord, CallStatus};
use toolroom::scope::{ProjectId, Scope, UserId};
use toolroom::tool::{Effect, ErrorKind};

use crate::StoreError;

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

/// Serializes a text without NUL: SQLite would cut it there, PostgreSQL would reject it.
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.contains('\0') {
            serializer.serialize_str(&without_nul(self.0))
        } else {
            serializer.serialize_str(self.0)
        }
    }
}

/// The text with NUL replaced.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Serializes a JSON value as the text that is stored. JSON escapes NUL.
pub(crate) struct Json<'a>(pub(crate) &'a Value);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&json_text(self.0))
    }
}

/// Twice as fast as `Value::to_string`.
fn json_text(value: &Value) -> String {
    // Cannot fail: all keys are strings.
    serde_json::to_string(value).unwrap_or_default()
}

/// A number as databases store it. No counter gets near the limit.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
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

/// Why a row could not be read: the database failed, or a column holds a value this version does not know.
#[derive(Debug)]
pub(crate) enum ReadError {
    Database(sqlx::Error),
    Unknown(StoreError),
}

impl From<sqlx::Error> for ReadError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

pub(crate) fn read_scope(row: &SqliteRow, project: &str, user: &str) -> Result<Scope, sqlx::Error> {
    let user = row.try_get::<Option<&str>, _>(user)?;
    Ok(Scope { project: ProjectId::new(row.try_get(project)?), user: user.map(UserId::new) })
}

/// The user of a scope, as statements take it: NULL for all users of the project.
pub(crate) fn user(scope: &Scope) -> Option<String> {
    scope.user.as_ref().map(UserId::as_str).map(str::to_owned)
}

pub(crate) fn shared(row: &SqliteRow, column: &str) -> Result<Arc<str>, sqlx::Error> {
    Ok(row.try_get::<&str, _>(column)?.into())
}

pub(crate) fn shared_option(row: &SqliteRow, column: &str) -> Result<Option<Arc<str>>, sqlx::Error> {
    Ok(row.try_get::<Option<&str>, _>(column)?.map(Arc::from))
}

pub(crate) fn timestamp(row: &SqliteRow, column: &str) -> Result<Timestamp, sqlx::Error> {
    row.try_get(column).map(Timestamp::from_micros)
}

pub(crate) fn timestamp_option(row: &SqliteRow, column: &str) -> Result<Option<Timestamp>, sqlx::Error> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(Timestamp::from_micros))
}

/// A number that is never negative.
pub(crate) fn size(row: &SqliteRow, column: &str) -> Result<u64, sqlx::Error> {
    Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
}

/// A value of a closed list; `from_name` parses it.
pub(crate) fn named<T>(
    row: &SqliteRow,
    id: &str,
    column: &'static str,
    from_name: fn(&str) -> Option<T>,
) -> Result<T, ReadError> {
    let text = row.try_get(column)?;
    from_name(text).ok_or_else(|| ReadError::Unknown(unreadable(id, column, text)))
}

pub(crate) fn named_option<T>(
    row: &SqliteRow,
    id: &str,
    column: &'static str,
    from_name: fn(&str) -> Option<T>,
) -> Result<Option<T>, ReadError> {
    match row.try_get::<Option<&str>, _>(column)? {
        Some(_) => named(row, id, column, from_name).map(Some),
        None => Ok(None),
    }
}

/// A document that this crate wrote. It may be nested deeper than input is allowed to be: a result of the maximum depth is some
/// levels deeper inside its message.
pub(crate) fn decode<T: DeserializeOwned>(
    id: &str,
    column: &'static str,
    text: &str,
) -> Result<T, ReadError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    T::deserialize(&mut deserializer).map_err(|error| ReadError::Unknown(unreadable(id, column, error)))
}

/// A text that is not JSON becomes a JSON string, so that one bad row does not hide the others.
fn json(text: &str) -> Arc<Value> {
    Arc::new(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())))
}

fn unreadable(id: &str, column: &'static str, value: impl Display) -> StoreError {
    StoreError::Unreadable { id: id.to_owned(), column, value: value.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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
