//! Schemas for Anthropic and OpenAI: any schema whose root is a plain object. One tool with another root makes them reject
//! the whole request.

use serde_json::{Value, json};

use super::Weakened;

/// The schema with an object as root.
#[must_use]
pub fn object_top(schema: &Value) -> Weakened {
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    let mut lost = Vec::new();
    for keyword in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        if fields.shift_remove(keyword).is_some() {
            lost.push(format!("/{keyword}"));
        }
    }
    let before = fields.insert("type".to_owned(), json!("object"));
    if before.is_some_and(|before| before != "object") {
        lost.push("/type".to_owned());
    }
    Weakened { schema: Value::Object(fields), lost }
}
