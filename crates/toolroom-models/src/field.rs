//! Fields of what a vendor sent, named by JSON pointer. What is missing or of another type is not there.

use serde_json::Value;

/// The text at this place.
pub(crate) fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The count at this place.
pub(crate) fn count_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// The field of this name, if it says something.
pub(crate) fn said<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}
