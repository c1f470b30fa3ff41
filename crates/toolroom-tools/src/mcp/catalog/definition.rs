//! A tool as its server describes it.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolroom::characters::{is_invisible, is_terminal_control};

use crate::mcp::protocol::message::shortened;
use crate::mcp::protocol::param_header::{ParamHeader, param_headers};

/// The longest name a tool may have.
const MAX_NAME_CHARS: usize = 128;

/// A definition may not be larger.
const MAX_BYTES: usize = 64 * 1024;

/// What is shown of a name in a message.
const SHOWN_CHARS: usize = 60;

/// A foreign tool's definition: everything that a person accepts and a model reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name at the server.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it says it does.
    pub description: String,
    /// The schema of its arguments, whole.
    pub input: Value,
    /// The schema of what it gives back, whole.
    pub output: Option<Value>,
    /// What it says about its effects. Nobody relies on it.
    pub annotations: Map<String, Value>,
    /// Arguments that also travel as headers.
    pub(crate) headers: Vec<ParamHeader>,
}

/// A tool that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{name}` is left out: {why}")]
pub struct Unusable {
    /// Its name, shortened.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

impl Definition {
    /// Reads what a server tells of a tool.
    pub fn read(tool: &Value) -> Result<Self, Unusable> {
        Self::read_sized(tool).map(|(tool, _)| tool)
    }

    /// The same, with the bytes it has.
    pub(crate) fn read_sized(tool: &Value) -> Result<(Self, usize), Unusable> {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let bad = |why: &str| Unusable { name: shortened(name, SHOWN_CHARS), why: why.to_owned() };
        if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
            return Err(bad("its name is empty or longer than 128 characters"));
        }
        if name.chars().any(|char| is_terminal_control(char) || is_invisible(char) || char.is_control()) {
            return Err(bad("its name holds a character that nobody sees"));
        }
        let size = tool.to_string().len();
        if size > MAX_BYTES {
            return Err(bad("its definition is larger than 64 KiB"));
        }
        let input = tool.get("inputSchema").filter(|schema| schema.is_object()).cloned();
        let input = input.ok_or_else(|| bad("it has no schema of its arguments"))?;
        let headers = param_headers(&input).map_err(|why| bad(&why))?;
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

    /// All of it, as it is kept and compared.
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

    /// A hash over all of it that does not depend on the order of keys.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut document = self.document();
        document.sort_all_objects();
        hex::encode(Sha256::digest(document.to_string()))
    }

    /// Whether it says something that nobody sees.
    #[must_use]
    pub fn is_hiding(&self) -> bool {
        self.texts().iter().any(|text| hides(text))
    }

    /// Every text in it, names of properties among them, as it is and not as JSON writes it.
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

    /// What it says about itself with this word.
    pub(crate) fn hint(&self, name: &str) -> Option<bool> {
        self.annotations.get(name).and_then(Value::as_bool)
    }
}

/// Whether a text holds characters that nobody sees or that a terminal obeys. The line ends of other systems do no harm,
/// and neither does the one selector that makes an emoji of the symbol before it.
fn hides(text: &str) -> bool {
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
    fn whatever_nobody_sees_is_found_wherever_it_stands() {
        let fine = [
            "Adds.\r\nThen adds.",
            "\ttabbed",
            "⚠\u{fe0f} careful",
            "1\u{fe0f}\u{20e3} first",
            "größer 漢字 🙂",
        ];
        for text in fine {
            assert!(!hides(text), "{text:?}");
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
            assert!(hides(text), "{text:?}");
            let schema = json!({"type": "object", "properties": {text: {"enum": ["x"]}}});
            for tool in [
                json!({"name": "a", "inputSchema": schema}),
                json!({"name": "a", "inputSchema": {"type": "object", "x": [{"y": text}]}}),
                json!({"name": "a", "inputSchema": {"type": "object"}, "title": text}),
                json!({"name": "a", "inputSchema": {"type": "object"}, "annotations": {"x": text}}),
            ] {
                assert!(Definition::read(&tool).unwrap().is_hiding(), "{tool}");
            }
        }
    }
}
