//! The subset of YAML that server configurations use: nested mappings and lists, plain and quoted strings, numbers, and JSON
//! within a line. Anything else is an error.

use serde_json::{Map, Value, json};

/// The deepest nesting.
const MAX_DEPTH: usize = 32;

pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = without_comment(line);
        let trimmed = content.trim_start_matches(' ');
        if trimmed.trim().is_empty() || content.starts_with("---") {
            continue;
        }
        if trimmed.starts_with('\t') {
            return Err(format!("line {}: indented with a tab", number + 1));
        }
        lines.push(YamlLine {
            number: number + 1,
            indent: content.len() - trimmed.len(),
            text: trimmed.trim_end().to_owned(),
        });
    }
    let mut parser = YamlParser { lines, at: 0 };
    let value = parser.block(0, 0)?;
    match parser.lines.get(parser.at) {
        None => Ok(value),
        Some(line) => Err(format!("line {}: unexpected indentation", line.number)),
    }
}

struct YamlLine {
    number: usize,
    indent: usize,
    text: String,
}

struct YamlParser {
    lines: Vec<YamlLine>,
    at: usize,
}

impl YamlParser {
    /// Parses all lines that are indented by at least `least`.
    fn block(&mut self, least: usize, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("nested too deeply".to_owned());
        }
        let Some(first) = self.lines.get(self.at).filter(|line| line.indent >= least) else {
            return Ok(Value::Null);
        };
        let indent = first.indent;
        if first.text == "-" || first.text.starts_with("- ") {
            return self.list(indent, depth);
        }
        self.mapping(indent, depth)
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        while let Some(line) = self.lines.get_mut(self.at).filter(|line| line.indent == indent) {
            let Some(rest) =
                line.text.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))
            else {
                break;
            };
            let item = rest.trim_start().to_owned();
            let inner = indent + line.text.len() - item.len();
            if item.is_empty() {
                self.at += 1;
                items.push(self.block(indent + 1, depth + 1)?);
            } else if key_of(&item).is_some() {
                // A mapping that begins on the line of its dash.
                line.indent = inner;
                line.text = item;
                items.push(self.block(inner, depth + 1)?);
            } else {
                let number = line.number;
                self.at += 1;
                items.push(scalar(&item).map_err(|why| format!("line {number}: {why}"))?);
            }
        }
        Ok(Value::Array(items))
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut map = Map::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent == indent) {
            let number = line.number;
            let Some((key, rest)) = key_of(&line.text) else {
                return Err(format!("line {number}: expected `key: value`"));
            };
            self.at += 1;
            let value = match rest.as_str() {
                "" => {
                    let next = self.lines.get(self.at);
                    // A list may have the indentation of its key.
                    let is_list =
                        next.is_some_and(|next| next.indent == indent && next.text.starts_with('-'));
                    self.block(if is_list { indent } else { indent + 1 }, depth + 1)?
                }
                "|" | "|-" | ">" | ">-" => json!(self.folded(indent)),
                rest => scalar(rest).map_err(|why| format!("line {number}: {why}"))?,
            };
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }

    /// A string over several lines. Its exact whitespace does not matter here.
    fn folded(&mut self, indent: usize) -> String {
        let mut text = Vec::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent > indent) {
            text.push(line.text.clone());
            self.at += 1;
        }
        text.join("\n")
    }
}

/// The key of a line and what follows it.
fn key_of(line: &str) -> Option<(String, String)> {
    let (key, rest) = match line.chars().next()? {
        quote @ ('"' | '\'') => {
            let end = line.get(1..)?.find(quote)? + 1;
            (line.get(1..end)?.to_owned(), line.get(end + 1..)?.strip_prefix(':')?)
        }
        '{' | '[' | '&' | '*' | '!' => return None,
        _ => {
            let at = line.find(": ").or_else(|| line.strip_suffix(':').map(str::len))?;
            (line.get(..at)?.to_owned(), line.get(at + 1..)?)
        }
    };
    (rest.is_empty() || rest.starts_with(' ')).then(|| (key, rest.trim().to_owned()))
}

fn scalar(text: &str) -> Result<Value, String> {
    match text.chars().next() {
        Some('"') => serde_json::from_str(text).map_err(|_| "unterminated string".to_owned()),
        Some('\'') => {
            let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
            inner.map(|inner| json!(inner.replace("''", "'"))).ok_or_else(|| "unterminated string".to_owned())
        }
        Some('[' | '{') => flow(text),
        Some('&' | '*' | '!' | '|' | '>' | '%' | '@' | '`') => Err("unsupported YAML syntax".to_owned()),
        _ => Ok(plain(text)),
    }
}

fn plain(text: &str) -> Value {
    match text {
        "null" | "~" | "" => Value::Null,
        "true" => json!(true),
        "false" => json!(false),
        _ => match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => json!(number),
            _ => json!(text),
        },
    }
}

/// A list or mapping within a line: JSON, or a list of plain strings.
fn flow(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let items = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let items = items.filter(|items| !items.contains(['[', '{']));
    let items = items.ok_or_else(|| "unsupported list syntax".to_owned())?;
    items.split(',').map(str::trim).filter(|item| !item.is_empty()).map(scalar).collect()
}

/// A line up to its comment.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, char) in line.char_indices() {
        match (quote, char) {
            (None, '#') if before.is_whitespace() => return line.get(..at).unwrap_or(line),
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(char),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        before = char;
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn configurations_are_parsed() {
        let text = "# goose\nA_KEY: 'it''s'\nextensions:\n  fetch:\n    args:\n    - mcp-server-fetch # last\n    - \"--x=#1\"\n    \
                    envs: {}\n    enabled: true\n    timeout: 300\n    empty:\n    flow: [a, 'b', 3]\n  two:\n    text: |\n      a: b\n      c\n\
                    list:\n  - name: x\n    url: http://x:1/y\n  -\n    name: z\n";
        let expected = json!({
            "A_KEY": "it's",
            "extensions": {
                "fetch": {"args": ["mcp-server-fetch", "--x=#1"], "envs": {}, "enabled": true, "timeout": 300,
                    "empty": null, "flow": ["a", "b", 3]},
                "two": {"text": "a: b\nc"},
            },
            "list": [{"name": "x", "url": "http://x:1/y"}, {"name": "z"}],
        });
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn unsupported_syntax_is_an_error() {
        for text in
            ["a: &x 1", "a: *x", "a\n", "a: 1\n   b: 2", "\ta: 1", "a: \"x", "a: [[1], x]", "a: !tag x"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases(512))]
        #[test]
        fn no_text_makes_it_panic(text in "[ab:\\- \n'\"#\\[\\]{}|>&*!,0-9\t]{0,80}") {
            drop(parse(&text));
        }
    }
}
