//! Call arguments for vendors that require an object.

use serde_json::{Map, Value, json};

/// Arguments as an object. Invalid arguments are wrapped unchanged, because the result explains the problem.
pub(crate) fn as_object(arguments: &str) -> Value {
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(arguments) => Value::Object(arguments),
        Err(_) if arguments.trim().is_empty() => json!({}),
        Err(_) => json!({ "not_an_object": arguments }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arguments_become_an_object() {
        assert_eq!(as_object("{\"b\": 1, \"a\": 2}").to_string(), "{\"b\":1,\"a\":2}");
        assert_eq!(as_object(" "), json!({}));
        assert_eq!(as_object("[1]"), json!({ "not_an_object": "[1]" }));
        assert_eq!(as_object("{\"path\": \"/et"), json!({ "not_an_object": "{\"path\": \"/et" }));
    }
}
