//! A tool as its server describes it.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::message::shortened;
use super::param_header::{ParamHeader, param_headers};
use crate::shell::grammar::is_hidden;

/// The longest name a tool may have.
const MAX_NAME_CHARS: usize = 128;

/// A definition may not be larger.
const MAX_BYTES: usize = 256 * 1024;

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
    pub(super) headers: Vec<ParamHeader>,
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
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let bad = |why: &str| Unusable { name: shortened(name, SHOWN_CHARS), why: why.to_owned() };
        if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
            return Err(bad("its name is empty or longer than 128 characters"));
        }
        if name.chars().any(|char| is_hidden(char) || char.is_control()) {
            return Err(bad("its name holds a character that nobody sees"));
        }
        if tool.to_string().len() > MAX_BYTES {
            return Err(bad("its definition is larger than 256 KiB"));
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
        Ok(Self {
            name: name.to_owned(),
            title,
            description: text("description").unwrap_or_default(),
            input,
            output: tool.get("outputSchema").filter(|schema| schema.is_object()).cloned(),
            annotations,
            headers,
        })
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
        self.document().to_string().chars().any(is_hidden)
    }

    /// What it says about itself with this word.
    pub(super) fn hint(&self, name: &str) -> Option<bool> {
        self.annotations.get(name).and_then(Value::as_bool)
    }
}
