//! Parses arguments from command-line words.
//!
//! `key=value` is parsed by the type the schema gives that key, `key:=JSON` is literal JSON, and a word that starts with
//! `{` is a whole JSON object. A value that does not match its type stays a string, so that the schema's own message
//! describes the problem.

use serde_json::{Map, Value};
use thiserror::Error;

use super::argument_text::{ArgumentTextError, parse_object, parse_value};

/// References followed from one parameter.
const MAX_REFERENCES: usize = 8;

/// Why a word is not an argument.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArgumentWordError {
    /// It has none of the forms.
    #[error("`{word}` is not an argument; write key=value, key:=JSON or a JSON object")]
    NoArgument {
        /// The word.
        word: String,
    },
    /// Its JSON is invalid.
    #[error("{what}: {source}; write JSON there, or text as key=text")]
    NotJson {
        /// Which part.
        what: String,
        /// Why not.
        source: ArgumentTextError,
    },
    /// A key was given before and is not a list.
    #[error("`{key}` is given twice; give it once")]
    Twice {
        /// The key.
        key: String,
    },
}

/// Collects the arguments of one call word by word.
#[derive(Debug)]
pub struct ArgumentWords<'s> {
    schema: &'s Value,
    arguments: Map<String, Value>,
}

impl<'s> ArgumentWords<'s> {
    /// Starts without arguments, for a tool with these parameters.
    #[must_use]
    pub fn new(schema: &'s Value) -> Self {
        Self { schema, arguments: Map::new() }
    }

    /// Adds a word.
    ///
    /// # Errors
    /// When it is not an argument, has invalid JSON, or repeats a key.
    pub fn word(&mut self, word: &str) -> Result<(), ArgumentWordError> {
        if word.trim_start().starts_with('{') {
            return self.object(parse_object(word).map_err(|error| not_json("the JSON argument", error))?);
        }
        let (key, value) = argument_pair(word, self.schema)?;
        self.add(key, value)
    }

    /// Adds `text` as the value of `key`, in the type of the schema.
    ///
    /// # Errors
    /// When the key was given before and is no list.
    pub fn text(&mut self, key: &str, text: &str) -> Result<(), ArgumentWordError> {
        self.add(key, typed(text, property(self.schema, key), self.schema))
    }

    /// Adds a whole object.
    ///
    /// # Errors
    /// When one of its keys was given before.
    pub fn object(&mut self, more: Map<String, Value>) -> Result<(), ArgumentWordError> {
        for (key, value) in more {
            if self.arguments.contains_key(&key) {
                return Err(ArgumentWordError::Twice { key });
            }
            self.arguments.insert(key, value);
        }
        Ok(())
    }

    /// The collected arguments.
    #[must_use]
    pub fn finish(self) -> Map<String, Value> {
        self.arguments
    }

    /// A key given twice adds to a list; any other key may be given once.
    fn add(&mut self, key: &str, value: Value) -> Result<(), ArgumentWordError> {
        match (self.arguments.get_mut(key), value) {
            (Some(Value::Array(items)), Value::Array(more))
                if allows(property(self.schema, key), self.schema, "array") =>
            {
                items.extend(more);
                Ok(())
            }
            (Some(_), _) => Err(ArgumentWordError::Twice { key: key.to_owned() }),
            (None, value) => {
                self.arguments.insert(key.to_owned(), value);
                Ok(())
            }
        }
    }
}

/// Parses `key=value` and `key:=JSON`. With a schema of `null` every value is a string.
///
/// # Errors
/// When the word has neither form, or its JSON is invalid.
pub fn argument_pair<'w>(word: &'w str, schema: &Value) -> Result<(&'w str, Value), ArgumentWordError> {
    let (key, text) = word
        .split_once('=')
        .filter(|(key, _)| !key.is_empty() && *key != ":")
        .ok_or_else(|| ArgumentWordError::NoArgument { word: word.to_owned() })?;
    match key.strip_suffix(':') {
        Some(key) => {
            let value = parse_value(text).map_err(|error| not_json(&format!("`{key}:=`"), error))?;
            Ok((key, value))
        }
        None => Ok((key, typed(text, property(schema, key), schema))),
    }
}

/// The values a parameter is limited to, as users type them; empty if it is unrestricted.
#[must_use]
pub fn choices(schema: &Value, key: &str) -> Vec<String> {
    let property = followed(property(schema, key), schema);
    let listed = property.get("enum").and_then(Value::as_array).into_iter().flatten();
    // Documented variants of a Rust enum come as one constant each.
    let variants = property.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let constants = variants.filter_map(|variant| variant.get("const"));
    let booleans: &[&str] = if allows(property, schema, "boolean") { &["true", "false"] } else { &[] };
    listed.chain(constants).map(plain).chain(booleans.iter().map(|text| (*text).to_owned())).collect()
}

/// Whether a parameter may be of this type, directly or in one of its alternatives.
#[must_use]
pub fn parameter_allows(schema: &Value, key: &str, kind: &str) -> bool {
    allows(property(schema, key), schema, kind)
}

/// A value as users type it: a string without quotes, anything else as JSON.
#[must_use]
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn not_json(what: &str, source: ArgumentTextError) -> ArgumentWordError {
    ArgumentWordError::NotJson { what: what.to_owned(), source }
}

fn property<'a>(schema: &'a Value, key: &str) -> &'a Value {
    schema.get("properties").and_then(|properties| properties.get(key)).unwrap_or(&Value::Null)
}

/// Parses a text as the type of its schema.
fn typed(text: &str, schema: &Value, root: &Value) -> Value {
    let schema = followed(schema, root);
    let listed = schema.get("enum").and_then(Value::as_array);
    if let Some(choice) = listed.into_iter().flatten().find(|choice| plain(choice) == text) {
        return choice.clone();
    }
    let parsed = || parse_value(text).ok();
    let allows_type = |kind: &str| allows(schema, root, kind);
    if (allows_type("integer") || allows_type("number"))
        && let Some(number) = parsed().filter(Value::is_number)
    {
        return number;
    }
    if allows_type("boolean")
        && let Ok(truth) = text.parse::<bool>()
    {
        return Value::Bool(truth);
    }
    if allows_type("object")
        && let Some(object) = parsed().filter(Value::is_object)
    {
        return object;
    }
    if allows_type("array") {
        let items = schema.get("items").unwrap_or(&Value::Null);
        return parsed().filter(Value::is_array).unwrap_or_else(|| match items {
            // A schema whose items are lists of lists without end is followed one level deep.
            items if allows(items, root, "array") => Value::Array(vec![Value::String(text.to_owned())]),
            items => Value::Array(vec![typed(text, items, root)]),
        });
    }
    if text == "null" && allows_type("null") && !allows_type("string") {
        return Value::Null;
    }
    Value::String(text.to_owned())
}

/// Whether the schema names this type, directly or in one of its alternatives.
fn allows(schema: &Value, root: &Value, kind: &str) -> bool {
    let schema = followed(schema, root);
    let named = match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    };
    let alternatives =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    // Follows alternatives one level deep: enough for optional values, and always finite.
    named
        || alternatives
            .map(|part| followed(part, root))
            .any(|part| part.get("type").is_some_and(|t| t == kind))
}

/// Follows `#/…` references.
fn followed<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "$defs": {
                "level": {"enum": [1, 2, "max"]},
                "endless": {"type": "array", "items": {"$ref": "#/$defs/endless"}},
            },
            "properties": {
                "text": {"type": "string"}, "count": {"type": "integer"}, "share": {"type": ["number", "null"]},
                "on": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "integer"}},
                "shape": {"type": "object"}, "level": {"$ref": "#/$defs/level"},
                "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "endless": {"$ref": "#/$defs/endless"},
            }
        })
    }

    fn parse(words: &[&str]) -> Result<Value, String> {
        let schema = schema();
        let mut arguments = ArgumentWords::new(&schema);
        for word in words {
            arguments.word(word).map_err(|error| error.to_string())?;
        }
        Ok(Value::Object(arguments.finish()))
    }

    #[test]
    fn values_are_read_by_the_schemas_type() {
        let check = |words: &[&str], expected: Value| assert_eq!(parse(words), Ok(expected), "{words:?}");
        check(&["text=5", "count=5"], json!({"text": "5", "count": 5}));
        check(&["text=a=b"], json!({"text": "a=b"}));
        check(&["text="], json!({"text": ""}));
        check(&["share=0.5", "on=true"], json!({"share": 0.5, "on": true}));
        check(&["share=null", "maybe=7"], json!({"share": null, "maybe": 7}));
        check(&["tags=1", "tags=2"], json!({"tags": [1, 2]}));
        check(&["tags=[3,4]"], json!({"tags": [3, 4]}));
        check(&["endless=x"], json!({"endless": ["x"]}));
        check(&["shape={\"a\":1}"], json!({"shape": {"a": 1}}));
        check(&["level=2"], json!({"level": 2}));
        check(&["level=max"], json!({"level": "max"}));
        check(&["count:=[1]", "free:=true"], json!({"count": [1], "free": true}));
        check(&["count=many"], json!({"count": "many"}));
        check(&["unknown=5"], json!({"unknown": "5"}));
        check(&["{\"count\": 1}", "text=x"], json!({"count": 1, "text": "x"}));
    }

    #[test]
    fn choices_are_what_a_parameter_is_limited_to() {
        assert_eq!(choices(&schema(), "level"), ["1", "2", "max"]);
        assert_eq!(choices(&schema(), "on"), ["true", "false"]);
        assert!(choices(&schema(), "text").is_empty() && choices(&schema(), "unknown").is_empty());
        let documented = json!({"properties": {"x": {"oneOf": [{"const": "a"}, {"const": "b"}]}}});
        assert_eq!(choices(&documented, "x"), ["a", "b"]);
    }

    #[test]
    fn invalid_words_are_rejected() {
        let check = |words: &[&str], message: &str| {
            let error = parse(words).unwrap_err();
            assert!(error.contains(message), "{words:?}: {error}");
        };
        check(&["lonely"], "`lonely` is not an argument; write key=value");
        check(&["=x"], "is not an argument");
        check(&["count=1", "count=2"], "`count` is given twice");
        check(&["{\"text\": \"\"}", "text=x"], "`text` is given twice");
        check(&["count:=oops"], "`count:=`");
        check(&["{\"a\": 1, \"a\": 2}"], "the JSON argument");
        check(&["{broken"], "the JSON argument");
    }
}
