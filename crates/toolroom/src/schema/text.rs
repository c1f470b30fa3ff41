//! Formats values and names for messages: short, on one line, with control characters escaped.

use std::io;

use jsonschema::JsonType;
use serde_json::Value;

use super::pointer;
use crate::characters::is_terminal_control;

/// Characters of a value, a name or a pattern that are shown before it is cut.
const SHOWN_CHARS: usize = 60;

/// Characters of a path that are shown before it is cut.
const SHOWN_PATH_CHARS: usize = 200;

/// Names or values listed before "and N more".
const LISTED: usize = 10;

/// A text with its control and direction characters written as escapes.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_terminal_control(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => escaped(text),
        Some((end, _)) => format!("{}…", escaped(text.get(..end).unwrap_or_default())),
    }
}

/// A text cut to what is shown.
pub(super) fn shortened(text: &str) -> String {
    cut(text, SHOWN_CHARS)
}

/// The argument a JSON pointer leads to, cut to what is shown: `/items/0/name` is `items[0].name`. A name stays as it is.
pub(super) fn field(path: &str) -> String {
    if !path.starts_with('/') {
        return shown_path(path);
    }
    let mut field = String::new();
    for step in pointer::steps(path) {
        if field.is_empty() {
            field = step;
        } else if step.bytes().all(|byte| byte.is_ascii_digit()) && !step.is_empty() {
            field.push_str(&format!("[{step}]"));
        } else {
            field.push('.');
            field.push_str(&step);
        }
    }
    shown_path(&field)
}

/// A field of the object at a JSON pointer, in backticks.
pub(super) fn field_in(path: &str, name: &str) -> String {
    match path {
        "" => self::name(name),
        path => format!("`{}.{}`", field(path), shortened(name)),
    }
}

/// A JSON pointer cut to what is shown.
pub(super) fn shown_path(path: &str) -> String {
    cut(path, SHOWN_PATH_CHARS)
}

/// A value as JSON, cut to what is shown.
pub(super) fn preview(value: &Value) -> String {
    let mut head = Head(Vec::new());
    // Stops early with an error when the head is full.
    let whole = serde_json::to_writer(&mut head, value).is_ok();
    let text = String::from_utf8_lossy(&head.0);
    if whole {
        return shortened(&text);
    }
    format!("{}…", escaped(&text.chars().take(SHOWN_CHARS).collect::<String>()))
}

/// Keeps only as many bytes as a preview shows.
struct Head(Vec<u8>);

impl io::Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most_bytes_per_char = 4;
        if self.0.len() > SHOWN_CHARS * most_bytes_per_char {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.0.extend(bytes.iter().take(SHOWN_CHARS * most_bytes_per_char + 1));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A given value with its kind: `the string "x"`.
pub(super) fn given(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("the {kind} {}", preview(value))
}

/// A type with its article: `an integer`.
pub(super) fn kind(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// A name in backticks.
pub(super) fn name(name: &str) -> String {
    format!("`{}`", shortened(name))
}

/// Names in backticks, the first ones of many.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    listed(all.into_iter().map(name))
}

/// Texts with commas, the first ones of many.
pub(super) fn listed(all: impl IntoIterator<Item = String>) -> String {
    let mut all = all.into_iter();
    let mut shown = all.by_ref().take(LISTED).collect::<Vec<_>>().join(", ");
    let more = all.count();
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    shown
}

/// Texts with "or" before the last.
pub(super) fn alternatives(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}
