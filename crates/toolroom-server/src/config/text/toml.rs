//! Writes keys and values as TOML on one line.

use serde_json::{Map, Value};

/// Appends a part to a key, quoted if necessary.
pub(in crate::config) fn joined(path: &str, name: &str) -> String {
    let step = key_text(name);
    if path.is_empty() { step } else { format!("{path}.{step}") }
}

/// A key part, quoted if necessary.
fn key_text(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { string_text(name) }
}

/// A value as TOML on one line. Values read from TOML are never null.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => string_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(value_text).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => table_text(table),
    }
}

fn table_text(table: &Map<String, Value>) -> String {
    let entry = |(name, value): (&String, &Value)| format!("{} = {}", key_text(name), value_text(value));
    match table.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", ")),
    }
}

/// A basic string. Escapes all control characters, more than TOML requires.
fn string_text(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for c in text.chars() {
        match c {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\r' => written.push_str("\\r"),
            _ if is_visible(c) => written.push(c),
            _ => written.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    written.push('"');
    written
}

/// Whether the character needs no escape. Double quotes are handled before.
fn is_visible(c: char) -> bool {
    c == '\'' || c.escape_debug().len() == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
    use serde_json::json;

    use super::*;
    use crate::scale::cases;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn written_toml_is_one_line_and_parses_back(name in any::<String>(), text in any::<String>()) {
            let path = joined(&joined("", "tool"), &name);
            let value = json!([text, {}, { "b": 1.0, "a": [true, -1, 1e300] }]);
            let written = format!("{path} = {}", value_text(&value));
            prop_assert!(!written.contains(char::is_control));
            let read: Value = toml::from_str(&written).unwrap();
            prop_assert_eq!(&read["tool"][&name], &value);
        }
    }
}
