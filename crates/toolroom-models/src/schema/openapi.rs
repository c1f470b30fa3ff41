//! The subset of OpenAPI 3.0 that Gemini's field `parameters` understands.

use serde_json::{Map, Value, json};

use super::Weakened;

/// Deeper schemas accept anything, because references may be cyclic.
const MAX_DEPTH: usize = 16;
/// Limit of schema nodes after resolving references.
const MAX_PLACES: usize = 4_000;

/// The schema in the subset of OpenAPI 3.0, with references put in place.
#[must_use]
pub fn openapi(schema: &Value) -> Weakened {
    let mut writer = OpenApiWriter { root: schema, places: 0, lost: Vec::new() };
    let schema = writer.schema(schema, "", 0);
    Weakened { schema: Value::Object(schema), lost: writer.lost }
}

struct OpenApiWriter<'a> {
    root: &'a Value,
    places: usize,
    lost: Vec<String>,
}

impl<'a> OpenApiWriter<'a> {
    fn lose(&mut self, here: &str, keyword: &str) {
        self.lost.push(format!("{here}/{keyword}"));
    }

    fn schema(&mut self, schema: &Value, here: &str, depth: usize) -> Map<String, Value> {
        self.places += 1;
        let Some(fields) = schema.as_object() else {
            if *schema != Value::Bool(true) {
                self.lose(here, "false");
            }
            return Map::new();
        };
        if depth >= MAX_DEPTH || self.places > MAX_PLACES {
            self.lose(here, "…");
            return Map::new();
        }
        let mut written = Map::new();
        for (keyword, value) in fields {
            self.keyword(keyword, value, here, depth, &mut written);
        }
        self.only_required_that_exist(here, &mut written);
        written
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        here: &str,
        depth: usize,
        written: &mut Map<String, Value>,
    ) {
        let below = format!("{here}/{keyword}");
        match (keyword, value) {
            ("$schema" | "$id" | "$comment" | "$defs" | "definitions" | "examples", _) => {}
            (
                "title" | "description" | "default" | "required" | "pattern" | "minimum" | "maximum"
                | "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties",
                _,
            ) => {
                written.insert(keyword.to_owned(), value.clone());
            }
            ("type", Value::String(_)) => {
                written.insert(keyword.to_owned(), value.clone());
            }
            ("type", Value::Array(types)) => self.types(types, here, written),
            ("format", Value::String(format)) if is_known_format(format) => {
                written.insert(keyword.to_owned(), value.clone());
            }
            // Choices are strings here.
            ("enum", Value::Array(choices)) if choices.iter().all(Value::is_string) => {
                written.insert(keyword.to_owned(), value.clone());
            }
            ("const", Value::String(_)) => {
                written.insert("type".to_owned(), json!("string"));
                written.insert("enum".to_owned(), json!([value]));
            }
            ("properties", Value::Object(properties)) => {
                let properties: Map<String, Value> = properties
                    .iter()
                    .map(|(name, value)| {
                        let schema = self.schema(value, &format!("{below}/{name}"), depth + 1);
                        (name.clone(), Value::Object(schema))
                    })
                    .collect();
                written.insert(keyword.to_owned(), Value::Object(properties));
            }
            ("items", Value::Object(_)) => {
                let items = self.schema(value, &below, depth + 1);
                written.insert(keyword.to_owned(), Value::Object(items));
            }
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                if keyword == "oneOf" {
                    self.lose(here, keyword);
                }
                self.choices(choices, &below, depth, written);
            }
            ("$ref", Value::String(reference)) => match self.referred(reference) {
                Some(referred) => {
                    for (keyword, value) in self.schema(referred, here, depth + 1) {
                        written.entry(keyword).or_insert(value);
                    }
                }
                None => self.lose(here, keyword),
            },
            _ => self.lose(here, keyword),
        }
    }

    /// Required names without a description are rejected.
    fn only_required_that_exist(&mut self, here: &str, written: &mut Map<String, Value>) {
        let Some(Value::Array(mut required)) = written.shift_remove("required") else { return };
        let all = required.len();
        let properties = written.get("properties").and_then(Value::as_object);
        required.retain(|name| {
            name.as_str().is_some_and(|name| properties.is_some_and(|known| known.contains_key(name)))
        });
        if required.len() < all {
            self.lose(here, "required");
        }
        if !required.is_empty() {
            written.insert("required".to_owned(), Value::Array(required));
        }
    }

    /// One type, and whether null will do as well. More types than one are any type.
    fn types(&mut self, types: &[Value], here: &str, written: &mut Map<String, Value>) {
        let mut others = types.iter().filter(|kind| *kind != "null");
        match (others.next(), others.next()) {
            (Some(kind), None) => {
                written.insert("type".to_owned(), kind.clone());
            }
            (None, _) => {
                written.insert("type".to_owned(), json!("null"));
            }
            (Some(_), Some(_)) => self.lose(here, "type"),
        }
        if types.iter().any(|kind| kind == "null") {
            written.insert("nullable".to_owned(), json!(true));
        }
    }

    fn choices(&mut self, choices: &[Value], below: &str, depth: usize, written: &mut Map<String, Value>) {
        let is_null = |choice: &Value| *choice == json!({ "type": "null" });
        if choices.iter().any(is_null) {
            written.insert("nullable".to_owned(), json!(true));
        }
        let choices: Vec<Map<String, Value>> = choices
            .iter()
            .enumerate()
            .filter(|(_, choice)| !is_null(choice))
            .map(|(at, choice)| self.schema(choice, &format!("{below}/{at}"), depth + 1))
            .collect();
        match written.get_mut("anyOf") {
            // Only one list of choices is supported.
            Some(_) => self.lost.push(below.to_owned()),
            None if choices.is_empty() => {}
            None => {
                written.insert("anyOf".to_owned(), json!(choices));
            }
        }
    }

    /// What a reference within the same schema refers to.
    fn referred(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

fn is_known_format(format: &str) -> bool {
    ["date-time", "enum", "float", "double", "int32", "int64"].contains(&format)
}
