//! What stands inside the marks of a printed call: JSON, or marks again; and values in the types a tool declares.

use serde_json::{Map, Value};

use super::inline::PrintedCall;

/// What arguments are called in one template or another.
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// Calls as JSON: an object, an array of them, or several after one another; also a name with its arguments behind it.
/// Gives what was not read.
pub(super) fn json_calls(body: &str) -> Option<(Vec<PrintedCall>, &str)> {
    let body = unfenced(body.trim());
    if !body.starts_with(['{', '[']) {
        return named_arguments(body);
    }
    let mut calls = Vec::new();
    let mut unread = body;
    while unread.starts_with(['{', '[']) {
        let Some((value, rest)) = first_value(unread) else { break };
        match value {
            Value::Array(items) => {
                for item in items {
                    calls.push(call_of(item)?);
                }
            }
            other => calls.push(call_of(other)?),
        }
        unread =
            rest.trim_start_matches(|between: char| between.is_whitespace() || matches!(between, ';' | ','));
    }
    (!calls.is_empty()).then_some((calls, unread))
}

/// `NAME[ARGS]{…}` or `NAME{…}`, as often as it comes.
fn named_arguments(body: &str) -> Option<(Vec<PrintedCall>, &str)> {
    let mut calls = Vec::new();
    let mut unread = body;
    while let Some((name, _)) = unread.split_once('{') {
        let (_, json) = unread.split_at_checked(name.len())?;
        let name = name.trim_end().trim_end_matches("[ARGS]").trim();
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && !b"<>\"'".contains(&b));
        let Some((Value::Object(arguments), rest)) = first_value(json).filter(|_| is_name) else { break };
        calls.push(PrintedCall { name: name.to_owned(), arguments });
        unread = rest.trim_start().trim_start_matches("[TOOL_CALLS]");
    }
    (!calls.is_empty()).then_some((calls, unread))
}

/// The JSON value a text begins with, and what is behind it.
fn first_value(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let (_, rest) = text.split_at_checked(values.byte_offset())?;
    Some((value, rest))
}

/// A body in a code block of its own.
fn unfenced(body: &str) -> &str {
    let inner = body.strip_prefix("```").and_then(|body| body.trim_end().strip_suffix("```"));
    inner.map_or(body, |body| body.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).trim())
}

/// `{"name", "arguments"}`, also inside `{"function": …}`.
fn call_of(value: Value) -> Option<PrintedCall> {
    let Value::Object(mut call) = value else { return None };
    let inner = match call.remove("function") {
        Some(Value::Object(inner)) => inner,
        Some(name @ Value::String(_)) => {
            call.insert("name".to_owned(), name);
            call
        }
        _ => call,
    };
    let mut call = inner;
    let Some(Value::String(name)) = call.remove("name") else { return None };
    let arguments = match ARGUMENTS.iter().find_map(|key| call.remove(*key)) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(Value::String(text)) => match serde_json::from_str(&text).ok()? {
            Value::Object(arguments) => arguments,
            _ => return None,
        },
        Some(_) => return None,
    };
    Some(PrintedCall { name, arguments })
}

/// How tools and parameters are named by marks.
struct Marks {
    tool: &'static str,
    tool_end: &'static str,
    parameter: &'static str,
}

const MARKS: [Marks; 2] = [
    Marks { tool: "<function=", tool_end: "</function>", parameter: "<parameter=" },
    Marks { tool: "<invoke name=", tool_end: "</invoke>", parameter: "<parameter name=" },
];

/// Calls by marks. `opened` is a mark that was read already; then there is one call, up to the end of the body.
pub(super) fn marked_calls<'t>(opened: &str, body: &'t str) -> Option<(Vec<PrintedCall>, &'t str)> {
    if let Some(marks) = MARKS.iter().find(|marks| marks.tool == opened) {
        return Some((vec![marked_call(marks, body)?], ""));
    }
    let marks = MARKS.iter().find(|marks| body.trim_start().starts_with(marks.tool))?;
    let mut calls = Vec::new();
    let mut unread = body.trim_start();
    while let Some(call) = unread.strip_prefix(marks.tool) {
        let (call, rest) = match call.split_once(marks.tool_end) {
            Some(parts) => parts,
            None => (call, ""),
        };
        calls.push(marked_call(marks, call)?);
        unread = rest.trim_start();
    }
    Some((calls, unread))
}

/// A call from behind its opening mark: a name, and parameters or an object.
fn marked_call(marks: &Marks, text: &str) -> Option<PrintedCall> {
    let (name, body) = marked_name(text)?;
    let mut arguments = Map::new();
    let mut parts = body.split(marks.parameter);
    let before = parts.next().unwrap_or_default().trim();
    if before.starts_with('{') {
        let Value::Object(given) = serde_json::from_str(before).ok()? else { return None };
        arguments = given;
    } else if !before.is_empty() {
        return None;
    }
    for part in parts {
        let (key, value) = marked_name(part)?;
        let value = value.split_once("</parameter>").map_or(value, |(value, _)| value);
        // The line ends next to the marks belong to the marks.
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key, Value::from(value));
    }
    Some(PrintedCall { name, arguments })
}

/// The name behind a mark, with or without quotes, and what follows the mark.
fn marked_name(text: &str) -> Option<(String, &str)> {
    let (mark, body) = text.split_once('>')?;
    let name = match mark.chars().next()? {
        quote @ ('"' | '\'') => mark.split(quote).nth(1)?,
        _ => mark.split_whitespace().next()?,
    };
    (!name.is_empty()).then(|| (name.to_owned(), body))
}

/// The arguments with texts read as what the tool declares, where it declares something else than text.
pub(super) fn coerced(arguments: Map<String, Value>, parameters: &Value) -> Map<String, Value> {
    let declared = parameters.get("properties");
    let coerce = |(key, value): (String, Value)| {
        let schema = declared.and_then(|properties| properties.get(&key));
        let read = match (&value, schema) {
            (Value::String(text), Some(schema)) => typed(text, schema),
            _ => None,
        };
        (key, read.unwrap_or(value))
    };
    arguments.into_iter().map(coerce).collect()
}

/// The text as a value of a declared type; `None` where it is text, or cannot be read.
fn typed(text: &str, schema: &Value) -> Option<Value> {
    let types = declared_types(schema);
    if types.is_empty() || types.contains(&"string") {
        return None;
    }
    let value = match text.trim() {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        "None" => Value::Null,
        text => serde_json::from_str(text).ok()?,
    };
    let kind = match &value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if types.contains(&"integer") => "integer",
        Value::Number(_) => "number",
        Value::String(_) => return None,
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    types.contains(&kind).then_some(value)
}

/// The types a schema names, itself or in its alternatives.
fn declared_types(schema: &Value) -> Vec<&str> {
    fn own(schema: &Value) -> Vec<&str> {
        match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    own(schema).into_iter().chain(alternatives.flat_map(own)).collect()
}
