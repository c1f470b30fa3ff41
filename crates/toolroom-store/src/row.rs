//! A call's record as a row, and back.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::ser::{Serialize, SerializeTuple, Serializer};
use serde_json::Value;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, Row};
use toolroom::clock::Timestamp;
use toolroom::ledger::{ArtifactId, CallId, CallRecord, CallStatus};
use toolroom::scope::{ProjectId, Scope, UserId};
use toolroom::tool::{Effect, ErrorKind};

use crate::StoreError;

/// One row of `calls`; as JSON it is an array.
pub(crate) struct CallRow<'a> {
    pub(crate) record: &'a CallRecord,
    /// Who began it; `None` for a call that never began.
    pub(crate) instance: Option<&'a str>,
}

pub(crate) const COLUMNS: usize = 26;

/// Which order that is: it stands before each line of the inbox, which may be read by another version. Behind the row
/// stands the id of its call once more: a disk that lost power may have put two lines together.
pub(crate) const FORMAT: &str = "2 ";

/// The same order, without an id behind it.
const FORMER: &str = "1 ";

/// The row in a line of the inbox; nothing, if it is none.
///
/// # Errors
/// When another version has written it.
pub(crate) fn row_of(line: &str) -> Result<Option<&str>, StoreError> {
    let row = match line.strip_prefix(FORMAT) {
        Some(rest) => rest.rsplit_once(' ').filter(|(row, id)| {
            row.strip_prefix("[\"")
                .and_then(|row| row.strip_prefix(*id))
                .is_some_and(|row| row.starts_with('"'))
        }),
        None => Some((line.strip_prefix(FORMER).ok_or_else(|| foreign(line))?, "")),
    };
    let is_row =
        |row: &&str| serde_json::from_str::<Vec<IgnoredAny>>(row).is_ok_and(|row| row.len() == COLUMNS);
    Ok(row.map(|(row, _)| row).filter(is_row))
}

fn foreign(line: &str) -> StoreError {
    unreadable("inbox", "format", line.chars().take(8).collect::<String>())
}

impl CallRow<'_> {
    /// Tells the columns, in the order of `call_columns!`.
    pub(crate) fn tell<C: Columns>(&self, columns: &mut C) -> Result<(), C::Error> {
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

/// Takes the columns of a row, one after the other.
pub(crate) trait Columns {
    /// Why one is not taken.
    type Error;

    fn text(&mut self, text: Option<&str>) -> Result<(), Self::Error>;

    /// A text that somebody else has, too.
    fn shared(&mut self, text: Option<&Arc<str>>) -> Result<(), Self::Error> {
        self.text(text.map(|text| &**text))
    }

    fn number(&mut self, number: Option<i64>) -> Result<(), Self::Error>;
    fn json(&mut self, value: Option<&Value>) -> Result<(), Self::Error>;
}

impl Serialize for CallRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = JsonArray(serializer.serialize_tuple(COLUMNS)?);
        self.tell(&mut row)?;
        row.0.end()
    }
}

impl CallRow<'_> {
    /// Writes a line of the inbox, if it is no longer than `most`.
    pub(crate) fn write_line(&self, line: &mut Vec<u8>, most: usize) -> bool {
        let record = self.record;
        // Nearly all of a long row, and known before a word of it is written.
        if record.arguments_bytes.saturating_add(record.result_chars) > most as u64 {
            return false;
        }
        line.extend_from_slice(FORMAT.as_bytes());
        self.write_json(line);
        line.push(b' ');
        line.extend_from_slice(record.id.as_str().as_bytes());
        line.push(b'\n');
        line.len() <= most
    }

    /// Writes it as one JSON array, as serde would. A line is written for every call, so it goes without serde where that
    /// pays.
    fn write_json(&self, line: &mut Vec<u8>) {
        line.push(b'[');
        let Ok(()) = self.tell(&mut JsonLine(line));
        line.pop();
        line.push(b']');
    }
}

/// An array that is being written: each value is followed by a comma.
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

impl Columns for JsonLine<'_> {
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

impl<T: SerializeTuple> Columns for JsonArray<T> {
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

/// Each column is a parameter of its own.
impl Columns for SqliteArguments {
    type Error = sqlx::Error;

    fn text(&mut self, text: Option<&str>) -> Result<(), sqlx::Error> {
        let kept: Option<Arc<str>> = text.map(|text| match text.contains('\0') {
            true => without_nul(text).into(),
            false => text.into(),
        });
        self.add(kept).map_err(sqlx::Error::Encode)
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

/// A text without NUL, which SQLite would cut at and PostgreSQL refuse.
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

/// The same for a text that is a parameter of its own.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A JSON value as the text that is stored. JSON escapes NUL by itself.
pub(crate) struct Json<'a>(pub(crate) &'a Value);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&json_text(self.0))
    }
}

/// Twice as fast as what `Value` displays.
fn json_text(value: &Value) -> String {
    // Names are texts, and so nothing in it can fail to be written.
    serde_json::to_string(value).unwrap_or_default()
}

/// Databases count in signed numbers. Nothing here gets near their end.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The record in a row of `call_columns!`.
pub(crate) fn read_call(row: &SqliteRow) -> Result<CallRecord, ReadError> {
    let id: String = row.try_get(0)?;
    Ok(CallRecord {
        scope: read_scope(row, 1)?,
        tool: shared(row, 3)?,
        entrance: shared(row, 4)?,
        definition: shared_option(row, 5)?,
        effect: named_option(row, &id, "effect", 6, Effect::from_name)?,
        status: named(&id, "status", row.try_get(7)?, CallStatus::from_name)?,
        kind: named_option(row, &id, "kind", 8, ErrorKind::from_name)?,
        arguments: json(row.try_get(9)?),
        arguments_bytes: size(row, 10)?,
        result: row.try_get::<Option<&str>, _>(11)?.map(json),
        result_chars: size(row, 12)?,
        artifact: row.try_get::<Option<&str>, _>(13)?.map(ArtifactId::new),
        message: row.try_get(14)?,
        // They are read where the journal is.
        offers: Vec::new(),
        error: row.try_get(15)?,
        detail: row.try_get(16)?,
        rule: row.try_get(17)?,
        thread: shared_option(row, 18)?,
        run: shared_option(row, 19)?,
        asked_at: Timestamp::from_micros(row.try_get(20)?),
        begun_at: row.try_get::<Option<i64>, _>(21)?.map(Timestamp::from_micros),
        ended_at: row.try_get::<Option<i64>, _>(22)?.map(Timestamp::from_micros),
        duration_us: size(row, 23)?,
        model_call: shared_option(row, 24)?,
        id: CallId::new(&id),
    })
}

/// Why a row could not be read: the database's fault, or a word this version does not know.
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

/// Whose something is: project and user, from `column` on.
pub(crate) fn read_scope(row: &SqliteRow, column: usize) -> Result<Scope, sqlx::Error> {
    let user = row.try_get::<Option<&str>, _>(column + 1)?;
    Ok(Scope { project: ProjectId::new(row.try_get(column)?), user: user.map(UserId::new) })
}

pub(crate) fn shared(row: &SqliteRow, column: usize) -> Result<Arc<str>, sqlx::Error> {
    Ok(row.try_get::<&str, _>(column)?.into())
}

pub(crate) fn shared_option(row: &SqliteRow, column: usize) -> Result<Option<Arc<str>>, sqlx::Error> {
    Ok(row.try_get::<Option<&str>, _>(column)?.map(Arc::from))
}

/// A number that is never below nothing.
pub(crate) fn size(row: &SqliteRow, column: usize) -> Result<u64, sqlx::Error> {
    Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
}

pub(crate) fn named_option<T>(
    row: &SqliteRow,
    id: &str,
    name: &'static str,
    column: usize,
    from_name: fn(&str) -> Option<T>,
) -> Result<Option<T>, ReadError> {
    row.try_get::<Option<&str>, _>(column)?.map(|text| named(id, name, text, from_name)).transpose()
}

/// The value of a closed list; `from_name` knows the list.
pub(crate) fn named<T>(
    id: &str,
    column: &'static str,
    text: &str,
    from_name: fn(&str) -> Option<T>,
) -> Result<T, ReadError> {
    from_name(text).ok_or_else(|| ReadError::Unknown(unreadable(id, column, text)))
}

/// Text that cannot be read as JSON is shown as text: one odd row must not hide all others.
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
        fn a_line_says_what_serde_would_say(
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
            prop_assert_eq!(row_of(line.trim_end_matches('\n')).unwrap(), Some(&*serde_json::to_string(&row).unwrap()));
        }
    }

    #[test]
    fn two_rows_that_were_put_together_are_none() {
        let at = Timestamp::from_micros(1);
        let line = |id: &str, tool: &str| {
            let record = CallRecord::arrived(CallId::new(id), Scope::default(), tool, at);
            let mut line = Vec::new();
            assert!(CallRow { record: &record, instance: None }.write_line(&mut line, 10_000));
            String::from_utf8(line).unwrap().trim_end().to_owned()
        };
        let (one, other) = (line("call_1", "app:x"), line("call_2", "app:y"));
        assert!(row_of(&one).unwrap().is_some() && row_of(&other).unwrap().is_some());
        let half = one.len() / 2;
        let spliced = [one.split_at(half).0, other.split_at(half).1].concat();
        assert_eq!(spliced.len(), one.len());
        assert_eq!(row_of(&spliced).unwrap(), None);
        row_of("3 [1]").unwrap_err();
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
        assert!(!written(&record), "nobody has to write it to know");
    }
}
