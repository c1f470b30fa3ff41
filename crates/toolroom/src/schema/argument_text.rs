//! Parses argument text: strict JSON with bounds.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use thiserror::Error;

use super::pointer::push_step;
use super::text;

/// Nesting of arguments. Bounds the stack of all later recursive steps.
pub const MAX_DEPTH: usize = 64;

/// Bytes of the argument text of one call.
pub const MAX_TEXT_BYTES: usize = 4 << 20;

/// Characters of the text shown on each side of a syntax error.
const EXCERPT_CHARS: usize = 20;

/// From here on a float may be a whole number that did not fit 64 bits.
const SMALLEST_LOST_INTEGER: f64 = 9_223_372_036_854_775_808.0;

/// Why argument text was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArgumentTextError {
    /// More text than [`MAX_TEXT_BYTES`].
    #[error("the arguments have {bytes} bytes, at most {MAX_TEXT_BYTES} are allowed")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// The text is not JSON.
    #[error("the arguments are not valid JSON at line {line} column {column}, near `{near}`: {reason}")]
    NotJson {
        /// Line of the error, counted from 1.
        line: usize,
        /// Column of the error in bytes, counted from 1.
        column: usize,
        /// The text around the error.
        near: String,
        /// The parser's message.
        reason: String,
    },
    /// JSON, but not an object.
    #[error("the arguments must be a JSON object, got {found}")]
    NotAnObject {
        /// The given value.
        found: String,
    },
    /// One object has the same key twice.
    #[error("the arguments give `{path}` twice; give it once")]
    DuplicateKey {
        /// JSON pointer of the key.
        path: String,
    },
    /// A whole number that neither `i64` nor `u64` holds.
    #[error(
        "the whole number `{literal}` at line {line} column {column} does not fit 64 bits; pass it as text"
    )]
    NumberTooBig {
        /// The digits, shortened.
        literal: String,
        /// Line of the number, counted from 1.
        line: usize,
        /// Column of the number in bytes, counted from 1.
        column: usize,
    },
    /// More levels than [`MAX_DEPTH`].
    #[error("the arguments nest deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Parses the arguments of a call. Empty text and `null` mean no arguments.
///
/// # Errors
/// When the text is too long, no JSON, no object, or breaks one of the rules in the module's table.
pub fn parse_object(text: &str) -> Result<Map<String, Value>, ArgumentTextError> {
    if text.len() <= MAX_TEXT_BYTES && text.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match parse_value(text)? {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(ArgumentTextError::NotAnObject { found: text::given(&other) }),
    }
}

/// Parses one JSON value by the rules of [`parse_object`], except that empty text is an error.
///
/// # Errors
/// When the text is too long, no JSON, or breaks one of the rules in the module's table.
pub fn parse_value(text: &str) -> Result<Value, ArgumentTextError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ArgumentTextError::TooLong { bytes: text.len() });
    }
    let notes = RefCell::new(Notes::default());
    let mut source = serde_json::Deserializer::from_str(text);
    let read = ValueSeed { notes: &notes, depth: 0 }
        .deserialize(&mut source)
        .and_then(|value| source.end().map(|()| value));
    let notes = notes.into_inner();
    match (read, notes.fault) {
        (Ok(value), _) => match notes.huge_float.then(|| lost_integer(text)).flatten() {
            Some(error) => Err(error),
            None => Ok(value),
        },
        (Err(_), Some(Fault::TooDeep)) => Err(ArgumentTextError::TooDeep),
        (Err(_), Some(Fault::Duplicate(steps))) => {
            Err(ArgumentTextError::DuplicateKey { path: text::shown_path(&pointer(&steps)) })
        }
        (Err(error), None) => Err(not_json(text, &error)),
    }
}

/// Checks the depth of a value that did not come from [`parse_value`].
///
/// # Errors
/// [`ArgumentTextError::TooDeep`] when it has more than [`MAX_DEPTH`] levels.
pub fn bounds(value: &Value) -> Result<(), ArgumentTextError> {
    fn fits(value: &Value, levels: usize) -> bool {
        match value {
            Value::Array(items) => levels > 0 && items.iter().all(|item| fits(item, levels - 1)),
            Value::Object(map) => levels > 0 && map.values().all(|item| fits(item, levels - 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }
    if fits(value, MAX_DEPTH) { Ok(()) } else { Err(ArgumentTextError::TooDeep) }
}

/// Results of the visitors that serde's error type cannot carry.
#[derive(Default)]
struct Notes {
    fault: Option<Fault>,
    huge_float: bool,
}

enum Fault {
    TooDeep,
    /// Steps from the key up to the root, added while the error travels outward.
    Duplicate(Vec<String>),
}

fn pointer(steps: &[String]) -> String {
    let mut path = String::new();
    for step in steps.iter().rev() {
        push_step(&mut path, step);
    }
    path
}

#[derive(Clone, Copy)]
struct ValueSeed<'n> {
    notes: &'n RefCell<Notes>,
    depth: usize,
}

impl ValueSeed<'_> {
    fn nested<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            self.notes.borrow_mut().fault = Some(Fault::TooDeep);
            return Err(E::custom("too deep"));
        }
        Ok(Self { notes: self.notes, depth: self.depth + 1 })
    }

    fn add_step(self, step: impl FnOnce() -> String) {
        if let Some(Fault::Duplicate(steps)) = &mut self.notes.borrow_mut().fault {
            steps.push(step());
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if value.abs() >= SMALLEST_LOST_INTEGER {
            self.notes.borrow_mut().huge_float = true;
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Value, A::Error> {
        let inner = self.nested()?;
        let mut items = Vec::new();
        loop {
            match source.next_element_seed(inner) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => {
                    self.add_step(|| items.len().to_string());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Value, A::Error> {
        let inner = self.nested()?;
        let mut map = Map::new();
        while let Some(key) = source.next_key::<String>()? {
            if map.contains_key(&key) {
                self.notes.borrow_mut().fault = Some(Fault::Duplicate(vec![key]));
                return Err(A::Error::custom("duplicate key"));
            }
            match source.next_value_seed(inner) {
                Ok(value) => {
                    map.insert(key, value);
                }
                Err(error) => {
                    self.add_step(|| key);
                    return Err(error);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// The first whole number of valid JSON text that does not fit 64 bits.
///
/// serde_json parses such a literal as a float like `1e30`, so this reads the text itself.
fn lost_integer(text: &str) -> Option<ArgumentTextError> {
    let mut in_string = false;
    let mut escaped = false;
    let mut start = None;
    for (at, byte) in text.bytes().chain(std::iter::once(b' ')).enumerate() {
        if in_string {
            (escaped, in_string) = (!escaped && byte == b'\\', escaped || byte != b'"');
            continue;
        }
        in_string = byte == b'"';
        match (start, byte) {
            (None, b'-' | b'0'..=b'9') => start = Some(at),
            (Some(_), b'-' | b'+' | b'.' | b'0'..=b'9' | b'e' | b'E') | (None, _) => {}
            (Some(from), _) => {
                start = None;
                let literal = text.get(from..at).unwrap_or_default();
                let whole = !literal.contains(['.', 'e', 'E']);
                if whole && literal.parse::<i64>().is_err() && literal.parse::<u64>().is_err() {
                    let before = text.get(..from).unwrap_or_default();
                    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
                    return Some(ArgumentTextError::NumberTooBig {
                        literal: text::shortened(literal),
                        line: before.matches('\n').count() + 1,
                        column: from - line_start + 1,
                    });
                }
            }
        }
    }
    None
}

fn not_json(text: &str, error: &serde_json::Error) -> ArgumentTextError {
    let (line, column) = (error.line(), error.column());
    let row = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let (before, after) = row.split_at(row.floor_char_boundary(column.saturating_sub(1)));
    let skipped = before.chars().count().saturating_sub(EXCERPT_CHARS);
    let near: String = before.chars().skip(skipped).chain(after.chars().take(EXCERPT_CHARS)).collect();
    let full = error.to_string();
    let reason = full.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&full);
    ArgumentTextError::NotJson { line, column, near: text::escaped(&near), reason: reason.to_owned() }
}
