//! JSON with comments and trailing commas, as editors write it.

use serde_json::Value;

pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let plain = plain(text);
    serde_json::from_str(&plain).map_err(|error| format!("invalid JSON: {error}"))
}

/// Removes comments and trailing commas. Lines keep their numbers.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('"', _) => {
                plain.push('"');
                let mut is_escaped = false;
                for inside in chars.by_ref() {
                    plain.push(inside);
                    match inside {
                        '"' if !is_escaped => break,
                        _ => is_escaped = inside == '\\' && !is_escaped,
                    }
                }
            }
            ('/', Some('/')) => {
                if chars.by_ref().any(|inside| inside == '\n') {
                    plain.push('\n');
                }
            }
            ('/', Some('*')) => {
                let mut before = ' ';
                chars.next();
                for inside in chars.by_ref() {
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
            }
            ('}' | ']', _) => {
                let end = plain.trim_end().len();
                if plain.get(..end).is_some_and(|before| before.ends_with(',')) {
                    plain.truncate(end.saturating_sub(1));
                }
                plain.push(char);
            }
            (other, _) => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn comments_and_trailing_commas_are_ignored_outside_of_strings() {
        let text = "// first\n{\"a\": [1, 2, /* two */ ], \"b\": \"// no, \\\"comment\\\" ,}\", // last\n}\n";
        assert_eq!(parse(text).unwrap(), json!({"a": [1, 2], "b": "// no, \"comment\" ,}"}));
        assert_eq!(parse(" \n").unwrap(), Value::Null);
        assert!(parse("{\"a\": }").is_err() && parse("/*").is_err() && parse("\"").is_err());
    }

    proptest! {
        #![proptest_config(cases(256))]
        #[test]
        fn ordinary_json_is_unchanged(text in "[a-z\"\\\\/*,{}\\[\\] ]{0,40}") {
            let value = json!({"k": text, "l": [text, 1]});
            prop_assert_eq!(parse(&value.to_string()).unwrap(), value.clone());
            prop_assert_eq!(parse(&serde_json::to_string_pretty(&value).unwrap()).unwrap(), value);
        }
    }
}
