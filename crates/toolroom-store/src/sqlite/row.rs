//! Values as columns, and columns by name.

use std::fmt::Display;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::scope::{ProjectId, Scope, UserId};

use crate::StoreError;

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
pub(super) fn json_text(value: &Value) -> String {
    // Cannot fail: all keys are strings.
    serde_json::to_string(value).unwrap_or_default()
}

/// A number as databases store it. No counter gets near the limit.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
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

pub(super) fn unreadable(id: &str, column: &'static str, value: impl Display) -> StoreError {
    StoreError::Unreadable { id: id.to_owned(), column, value: value.to_string() }
}
