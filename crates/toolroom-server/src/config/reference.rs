//! The reference of keys, made from their doc comments.

use super::layer::variable;
use super::shape::{Key, Shape};
use super::toml_text::value_text;

/// What there is to know about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDoc {
    /// Its whole path, with `<name>` where a name of one's own stands: `tool.<name>.rate`.
    pub key: String,
    /// What its value may be, in words.
    pub kind: String,
    /// Its value when nobody sets it, as TOML; absent if it then says nothing.
    pub default: Option<String>,
    /// What it means.
    pub description: String,
    /// The environment variable that sets it.
    pub variable: Option<String>,
}

/// Every key there is, each table before its keys.
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
            // Lists inside a list say in their kind what they hold.
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
