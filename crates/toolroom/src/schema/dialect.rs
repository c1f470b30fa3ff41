//! Which draft a schema is written in.

use jsonschema::Draft;
use serde_json::Value;

use super::error::SchemaError;
use super::text;

/// The draft that `$schema` of the root names; without it 2020-12.
pub(super) fn of_root(schema: &Value) -> Result<Draft, SchemaError> {
    named(schema, Draft::Draft202012, || "/$schema".to_owned())
}

/// The draft that `schema` names, or the one around it.
pub(super) fn named(
    schema: &Value,
    around: Draft,
    pointer: impl FnOnce() -> String,
) -> Result<Draft, SchemaError> {
    let Some(uri) = schema.get("$schema").and_then(Value::as_str) else { return Ok(around) };
    match Draft::from_schema_uri(uri) {
        draft @ (Draft::Draft4 | Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012) => {
            Ok(draft)
        }
        _ => Err(SchemaError::UnknownDraft { pointer: pointer(), uri: text::shortened(uri) }),
    }
}
