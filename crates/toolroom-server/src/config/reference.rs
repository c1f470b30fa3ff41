//! The reference of configuration keys, generated from their doc comments.

use crate::config::check::shape::{Key, Shape};
use crate::config::sources::layers::variable;
use crate::config::text::toml::value_text;

/// Documentation of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDoc {
    /// The full key, with `<name>` for a name chosen by the user: `tool.<name>.rate`.
    pub key: String,
    /// The allowed values.
    pub kind: String,
    /// The default value as TOML, if there is one.
    pub default: Option<String>,
    /// The description.
    pub description: String,
    /// The environment variable that sets it.
    pub variable: Option<String>,
}

/// All keys, each table before its keys.
#[must_use]
pub fn reference() -> Vec<KeyDoc> {
    let settings = Key::root().settings();
    let mut docs = Vec::new();
    describe(Key::root(), "", &mut docs);
    for doc in &mut docs {
        let path = settings.iter().find(|(path, _)| path.join(".") == doc.key);
        doc.variable = path.map(|(path, _)| variable(path));
    }
    docs
}

fn describe(table: &Key, path: &str, docs: &mut Vec<KeyDoc>) {
    for (name, key) in table.keys() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let single = key.keys().is_empty();
        docs.push(KeyDoc {
            key: path.clone(),
            kind: kind(&key.shape),
            default: key.default.as_ref().filter(|_| single).map(value_text),
            description: key.description.clone(),
            variable: None,
        });
        match &key.shape {
            Shape::Table { .. } => describe(key, &path, docs),
            Shape::Names { each, .. } => describe(each, &format!("{path}.<name>"), docs),
            // Nested lists are described by their kind.
            Shape::List { each, .. } if !path.contains('.') => describe(each, &path, docs),
            _ => {}
        }
    }
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::List { each, .. } if !each.keys().is_empty() => {
            let names: Vec<&str> = each.keys().iter().map(|(name, _)| name.as_str()).collect();
            format!("a list of tables with {}", names.join(", "))
        }
        shape => shape.expected(),
    }
}
