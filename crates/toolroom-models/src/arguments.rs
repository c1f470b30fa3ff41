//! The arguments of a call, for vendors that want them as an object.

use serde_json::{Map, Value, json};

/// Arguments as an object. What is none is shown to the model as it wrote it: the result says what is wrong with it.
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
    fn whatever_a_model_wrote_becomes_an_object() {
        assert_eq!(as_object("{\"b\": 1, \"a\": 2}").to_string(), "{\"b\":1,\"a\":2}");
        assert_eq!(as_object(" "), json!({}));
        assert_eq!(as_object("[1]"), json!({ "not_an_object": "[1]" }));
        assert_eq!(as_object("{\"path\": \"/et"), json!({ "not_an_object": "{\"path\": \"/et" }));
    }
}
