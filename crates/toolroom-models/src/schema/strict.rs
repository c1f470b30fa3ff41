//! Strict schemas of OpenAI.
//!
//! They require that every object lists all of its properties as required and allows no others. A schema with optional
//! properties would need nulls that the original rejects, so it is sent as it is, without strict mode.

use serde_json::{Map, Value, json};

use super::Weakened;

/// The deepest schema that is accepted.
const MAX_DEPTH: usize = 10;
/// The most properties that are accepted.
const MAX_PROPERTIES: usize = 5_000;

/// Supported keywords without subschemas.
const PLAIN: [&str; 15] = [
    "type",
    "description",
    "title",
    "enum",
    "const",
    "required",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "additionalProperties",
];

/// Supported formats.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The schema in strict form; `None` if that would reject something the original accepts.
#[must_use]
pub fn strict(schema: &Value) -> Option<Weakened> {
    if schema.get("type") != Some(&json!("object"))
        || ["anyOf", "oneOf", "enum"].iter().any(|keyword| schema.get(*keyword).is_some())
    {
        return None;
    }
    let mut writer = StrictWriter { properties: 0, lost: Vec::new() };
    let schema = writer.schema(schema, "", 0)?;
    Some(Weakened { schema, lost: writer.lost })
}

struct StrictWriter {
    properties: usize,
    lost: Vec<String>,
}

impl StrictWriter {
    fn schema(&mut self, schema: &Value, here: &str, depth: usize) -> Option<Value> {
        let fields = schema.as_object().filter(|_| depth <= MAX_DEPTH)?;
        let is_object = match fields.get("type") {
            Some(Value::Array(types)) => types.iter().any(|kind| kind == "object"),
            kind => kind == Some(&json!("object")),
        } || fields.contains_key("properties");
        if is_object && !is_closed(fields) {
            return None;
        }
        // A reference allows no other keywords.
        if let Some(reference @ Value::String(_)) = fields.get("$ref") {
            let others = fields.keys().filter(|keyword| *keyword != "$ref");
            self.lost.extend(others.map(|keyword| format!("{here}/{keyword}")));
            return Some(json!({ "$ref": reference }));
        }
        if !["type", "anyOf", "oneOf"].iter().any(|keyword| fields.contains_key(*keyword)) {
            return None;
        }
        let mut written = Map::new();
        for (keyword, value) in fields {
            let below = format!("{here}/{keyword}");
            match (keyword.as_str(), value) {
                ("$schema" | "$id" | "$comment" | "examples" | "default", _) => {}
                (plain, _) if PLAIN.contains(&plain) => drop(written.insert(keyword.clone(), value.clone())),
                ("format", Value::String(format)) if FORMATS.contains(&format.as_str()) => {
                    written.insert(keyword.clone(), value.clone());
                }
                ("properties" | "$defs", Value::Object(schemas)) => {
                    let schemas = self.all(schemas, &below, depth)?;
                    written.insert(keyword.clone(), Value::Object(schemas));
                }
                ("items", Value::Object(_)) => {
                    written.insert(keyword.clone(), self.schema(value, &below, depth + 1)?);
                }
                ("anyOf" | "oneOf", Value::Array(choices)) if !written.contains_key("anyOf") => {
                    if keyword == "oneOf" {
                        self.lost.push(below.clone());
                    }
                    let choices = choices.iter().enumerate();
                    let choices: Option<Vec<Value>> = choices
                        .map(|(at, choice)| self.schema(choice, &format!("{below}/{at}"), depth + 1))
                        .collect();
                    written.insert("anyOf".to_owned(), Value::Array(choices?));
                }
                _ => self.lost.push(below),
            }
        }
        Some(Value::Object(written))
    }

    fn all(&mut self, schemas: &Map<String, Value>, below: &str, depth: usize) -> Option<Map<String, Value>> {
        self.properties += schemas.len();
        if self.properties > MAX_PROPERTIES {
            return None;
        }
        let schema = |(name, value): (&String, &Value)| {
            Some((name.clone(), self.schema(value, &format!("{below}/{name}"), depth + 1)?))
        };
        schemas.iter().map(schema).collect()
    }
}

/// Whether an object requires all of its properties and allows no others.
fn is_closed(fields: &Map<String, Value>) -> bool {
    let properties = fields.get("properties").and_then(Value::as_object);
    let required = fields.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|required| required.iter().any(|known| known == name));
    let all_required = properties.is_none_or(|properties| properties.keys().all(is_required));
    let all_known = required.is_none_or(|required| {
        let is_known = |name: &Value| {
            name.as_str()
                .is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
        };
        required.iter().all(is_known)
    });
    all_required
        && all_known
        && fields.get("additionalProperties") == Some(&Value::Bool(false))
        && !fields.contains_key("patternProperties")
}
