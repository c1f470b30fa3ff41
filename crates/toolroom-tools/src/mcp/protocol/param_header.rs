//! Arguments that are also sent as HTTP headers, as their schema demands.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// The schema keyword.
const MARK: &str = "x-mcp-header";

/// Prefix of the header names.
const PREFIX: &str = "mcp-param-";

/// Longer values are sent in the body only.
const MAX_VALUE_BYTES: usize = 4 * 1024;

/// An argument and its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    argument: String,
    header: String,
}

/// The arguments with the keyword, or why a keyword is invalid.
pub(crate) fn param_headers(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut found: Vec<ParamHeader> = Vec::new();
    for (argument, property) in properties.into_iter().flatten() {
        let Some(mark) = property.get(MARK) else { continue };
        let name = mark.as_str().unwrap_or_default();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("`{MARK}` of `{argument}` is not a valid header name"));
        }
        let kind = property.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "`{MARK}` of `{argument}` requires the type `string`, `integer` or `boolean`"
            ));
        }
        let header = format!("{PREFIX}{}", name.to_ascii_lowercase());
        if found.iter().any(|other| other.header == header) {
            return Err(format!("the header in `{MARK}` of `{argument}` is used twice"));
        }
        found.push(ParamHeader { argument: argument.clone(), header });
    }
    Ok(found)
}

impl ParamHeader {
    /// The header for these arguments. `None` if the argument is not set.
    pub(crate) fn value(&self, arguments: &Map<String, Value>) -> Option<(String, String)> {
        let value = match arguments.get(&self.argument)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => yes.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        (value.len() <= MAX_VALUE_BYTES).then(|| (self.header.clone(), encoded(&value)))
    }
}

/// Encodes a header value. Values that a header cannot hold become base64.
pub(crate) fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    match is_plain && !looks_encoded {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_a_header_cannot_hold_are_encoded() {
        assert_eq!(encoded("us west 1"), "us west 1");
        assert_eq!(encoded(""), "");
        for odd in ["Hello, 世界", " padded ", "a\r\nb: c", "\tx", "=?base64?eA==?="] {
            let sent = encoded(odd);
            let inner = sent.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")).unwrap();
            assert_eq!(STANDARD.decode(inner).unwrap(), odd.as_bytes());
        }
    }

    #[test]
    fn invalid_keywords_are_rejected() {
        let schema = |properties: Value| json!({"type": "object", "properties": properties});
        for bad in [
            json!({"a": {"type": "string", "x-mcp-header": ""}}),
            json!({"a": {"type": "string", "x-mcp-header": 3}}),
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"type": "object", "x-mcp-header": "A"}}),
            json!({"a": {"x-mcp-header": "A"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A b"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A:b"}}),
            json!({"a": {"type": "string", "x-mcp-header": "Ä"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
        ] {
            assert!(param_headers(&schema(bad.clone())).is_err(), "{bad}");
        }
        let good = schema(json!({"a": {"type": "integer", "x-mcp-header": "Max"}, "b": {"type": "string"}}));
        let headers = param_headers(&good).unwrap();
        let arguments = |value: Value| value.as_object().unwrap().clone();
        let sent: Vec<_> =
            headers.iter().filter_map(|header| header.value(&arguments(json!({"a": 4, "b": "x"})))).collect();
        assert_eq!(sent, [("mcp-param-max".to_owned(), "4".to_owned())]);
        assert_eq!(headers[0].value(&arguments(json!({"a": null}))), None);
    }
}
