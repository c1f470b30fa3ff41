//! Shortens names and past calls to one line.

use std::fmt::{self, Write};

use serde_json::Value;

pub(super) fn one_line(text: &str, chars: usize) -> String {
    Line::write(chars, |line| line.write_str(text))
}

/// A call as `tool name=value name=value`, in one line of at most `chars` characters.
pub(super) fn call_line(tool: &str, arguments: &Value, chars: usize) -> String {
    Line::write(chars, |line| {
        line.write_str(tool)?;
        match arguments {
            Value::Object(arguments) => arguments.iter().try_for_each(|(name, value)| {
                write!(line, " {name}=")?;
                write_value(line, value)
            }),
            // Arguments that are not a JSON object are shown as text.
            other => {
                line.write_char(' ')?;
                write_value(line, other)
            }
        }
    })
}

fn write_value(line: &mut Line, value: &Value) -> fmt::Result {
    match value {
        Value::String(text) => line.write_str(text.trim_start()),
        other => write!(line, "{other}"),
    }
}

/// A writer that stops when full, so that a long argument is not formatted in full.
struct Line {
    text: String,
    room: usize,
    /// Pending white space, written before the next character.
    blank: bool,
}

impl Line {
    fn write(chars: usize, content: impl FnOnce(&mut Self) -> fmt::Result) -> String {
        let mut line = Self { text: String::new(), room: chars, blank: false };
        if content(&mut line).is_err() {
            line.text.pop();
            line.text.push('…');
        }
        line.text
    }

    fn push(&mut self, character: char) -> fmt::Result {
        self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
        self.text.push(character);
        Ok(())
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if character.is_whitespace() || character.is_control() {
                self.blank = !self.text.is_empty();
            } else {
                if std::mem::take(&mut self.blank) {
                    self.push(' ')?;
                }
                self.push(character)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_shown_as_tool_and_arguments() {
        let check = |arguments: Value, chars: usize, expected: &str| {
            assert_eq!(call_line("app:note", &arguments, chars), expected);
        };
        check(json!({}), 40, "app:note");
        check(
            json!({"text": " two\n\n lines\u{7} ", "tags": ["a", 1]}),
            60,
            r#"app:note text=two lines tags=["a",1]"#,
        );
        check(json!("not json"), 40, "app:note not json");
        check(json!({"text": "x".repeat(1_000_000)}), 20, "app:note text=xxxxx…");
        check(json!({"a": "äöü🦀äöü"}), 14, "app:note a=äö…");
        check(json!({}), 8, "app:note");
        check(json!({}), 7, "app:no…");
    }
}
