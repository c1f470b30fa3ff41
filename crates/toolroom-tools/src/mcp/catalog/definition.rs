//! The definition of a foreign tool.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolroom::characters::{is_invisible, is_terminal_control};

use crate::mcp::protocol::message::shortened;
use crate::mcp::protocol::param_header::{ParamHeader, param_headers};

/// The longest name of a tool.
const MAX_NAME_CHARS: usize = 128;

/// The largest definition.
const MAX_BYTES: usize = 64 * 1024;

/// Characters of a name that error messages show.
const SHOWN_CHARS: usize = 60;

/// A foreign tool's definition: all that a user accepts and a model reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Name at the server.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// What the tool does, as its server describes it.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input: Value,
    /// JSON Schema of the result.
    pub output: Option<Value>,
    /// Hints about its effects, as its server gives them. Not trusted.
    pub annotations: Map<String, Value>,
    /// Arguments that are also sent as HTTP headers.
    pub(crate) headers: Vec<ParamHeader>,
}

/// A tool that cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{name}` is left out: {why}")]
pub struct UnusableTool {
    /// Shortened name.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl Definition {
    /// Parses an entry of `tools/list`.
    pub fn parse(tool: &Value) -> Result<Self, UnusableTool> {
        Self::parse_sized(tool).map(|(tool, _)| tool)
    }

    /// Like [`Definition::parse`], with its size in bytes.
    pub(crate) fn parse_sized(tool: &Value) -> Result<(Self, usize), UnusableTool> {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let unusable = |why: &str| UnusableTool { name: shortened(name, SHOWN_CHARS), why: why.to_owned() };
        if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
            return Err(unusable("its name is empty or longer than 128 characters"));
        }
        if name.chars().any(|char| is_terminal_control(char) || is_invisible(char) || char.is_control()) {
            return Err(unusable("its name contains an invisible character"));
        }
        let size = tool.to_string().len();
        if size > MAX_BYTES {
            return Err(unusable("its definition is larger than 64 KiB"));
        }
        let input = tool.get("inputSchema").filter(|schema| schema.is_object()).cloned();
        let input = input.ok_or_else(|| unusable("it has no `inputSchema`"))?;
        let headers = param_headers(&input).map_err(|why| unusable(&why))?;
        let text = |name: &str| tool.get(name).and_then(Value::as_str).map(str::to_owned);
        let annotations = tool.get("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
        let title = text("title").or_else(|| {
            annotations
                .get("title")
                .and_then(Value::as_str)
                .filter(|title| !title.is_empty())
                .map(str::to_owned)
        });
        let tool = Self {
            name: name.to_owned(),
            title,
            description: text("description").unwrap_or_default(),
            input,
            output: tool.get("outputSchema").filter(|schema| schema.is_object()).cloned(),
            annotations,
            headers,
        };
        Ok((tool, size))
    }

    /// The definition as it is stored and compared.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input,
            "outputSchema": self.output,
            "annotations": self.annotations,
        })
    }

    /// A hash of the definition that does not depend on the order of keys.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut document = self.document();
        document.sort_all_objects();
        hex::encode(Sha256::digest(document.to_string()))
    }

    /// Whether a text in it has invisible characters, or ones that a terminal obeys.
    #[must_use]
    pub fn has_hidden_characters(&self) -> bool {
        self.texts().iter().any(|text| has_hidden_characters(text))
    }

    /// All texts and property names in it, unescaped.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut open = vec![self.document()];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => texts.push(text),
                Value::Array(values) => open.extend(values),
                Value::Object(members) => {
                    for (name, value) in members {
                        texts.push(name);
                        open.push(value);
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        texts
    }

    /// A boolean annotation.
    pub(crate) fn hint(&self, name: &str) -> Option<bool> {
        self.annotations.get(name).and_then(Value::as_bool)
    }
}

/// Whether a text has characters that are invisible or that a terminal obeys. CRLF is allowed, and so is the one variation
/// selector that makes an emoji of the symbol before it.
fn has_hidden_characters(text: &str) -> bool {
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_fine = match character {
            '\r' => characters.peek() == Some(&'\n'),
            '\u{fe0f}' => {
                before.is_some_and(|before| {
                    matches!(before, '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}'
                | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
                }) && !before.is_some_and(is_invisible)
            }
            other => !is_terminal_control(other) && !is_invisible(other),
        };
        if !is_fine {
            return true;
        }
        before = Some(character);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_found_everywhere() {
        let fine = [
            "Adds.\r\nThen adds.",
            "\ttabbed",
            "⚠\u{fe0f} careful",
            "1\u{fe0f}\u{20e3} first",
            "größer 漢字 🙂",
        ];
        for text in fine {
            assert!(!has_hidden_characters(text), "{text:?}");
        }
        for text in [
            "\u{1b}[2J",
            "a\rb",
            "a\u{8}b",
            "a\u{fe0f}",
            "⚠\u{fe0f}\u{fe0f}",
            "\u{fe0f}",
            "a\u{2800}b",
            "\u{1d173}",
        ] {
            assert!(has_hidden_characters(text), "{text:?}");
            let schema = json!({"type": "object", "properties": {text: {"enum": ["x"]}}});
            for tool in [
                json!({"name": "a", "inputSchema": schema}),
                json!({"name": "a", "inputSchema": {"type": "object", "x": [{"y": text}]}}),
                json!({"name": "a", "inputSchema": {"type": "object"}, "title": text}),
                json!({"name": "a", "inputSchema": {"type": "object"}, "annotations": {"x": text}}),
            ] {
                assert!(Definition::parse(&tool).unwrap().has_hidden_characters(), "{tool}");
            }
        }
    }
}
