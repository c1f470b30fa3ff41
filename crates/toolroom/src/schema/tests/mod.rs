//! Tests of schemas.

mod argument_text;
mod hostile;
mod keywords;
mod messages;
mod patterns;
mod properties;
mod refusals;

use serde_json::{Value, json};

use super::{PatternRule, Schema};

/// The schema of a tool with one parameter, `value`.
fn wrapped(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "value": schema }, "required": ["value"] })
}

fn own(schema: Value) -> Schema {
    Schema::new(schema, PatternRule::Refuse).unwrap()
}

/// The problems of `arguments`, as the model reads them.
fn problems(schema: &Value, arguments: &Value) -> Vec<String> {
    own(schema.clone()).check(arguments).unwrap().iter().map(ToString::to_string).collect()
}
