//! Pretty-prints JSON. Only white space changes: numbers keep their digits.

use serde::de::IgnoredAny;

/// Deeper nesting stays on one line, which would be mostly indentation otherwise.
const MAX_DEPTH: usize = 32;

/// Maximum growth factor.
const MAX_GROWTH: usize = 8;

/// The formatted text; `None` if it is not JSON, or would not become more readable.
#[must_use]
pub fn pretty(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let most = text.len().saturating_mul(MAX_GROWTH);
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if is_space(c) => {}
            '"' => {
                out.push('"');
                while let Some(inside) = chars.next() {
                    out.push(inside);
                    match inside {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|next| is_space(*next)).is_some() {}
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => out.push(c),
        }
        if depth > MAX_DEPTH || out.len() > most {
            return None;
        }
    }
    Some(out)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\r' | '\t')
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_nothing_else_changes() {
        let text = r#" {"a" :[1, 12345678901234567890.10,{ } ,[ ]],"b\"{":"x, y: [z]",  "c":null,"a":true} "#;
        let expected = "{\n  \"a\": [\n    1,\n    12345678901234567890.10,\n    {},\n    []\n  ],\n  \"b\\\"{\": \"x, y: [z]\",\n  \"c\": null,\n  \"a\": true\n}";
        assert_eq!(pretty(text).unwrap(), expected);
        assert_eq!(pretty("{\r\n\t\"a\":\t1\n}").unwrap(), "{\n  \"a\": 1\n}");
        assert_eq!(pretty(expected).unwrap(), expected);
        assert_eq!(pretty("\"x\"").unwrap(), "\"x\"");
    }

    #[test]
    fn invalid_or_exploding_json_is_unchanged() {
        assert_eq!(pretty("{\"a\":"), None);
        assert_eq!(pretty("hello"), None);
        assert_eq!(pretty(&("[".repeat(1_000_000) + &"]".repeat(1_000_000))), None);
        let wide = format!("{}{}0{}", "[".repeat(30), "0,".repeat(1_000_000), "]".repeat(30));
        assert_eq!(pretty(&wide), None);
    }
}
