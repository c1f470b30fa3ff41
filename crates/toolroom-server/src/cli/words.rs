//! The words behind `toolroom call TOOL`: how `key=value` becomes an argument.
//!
//! `key=value` is read by the type the tool's schema gives that key, `key:=JSON` is taken as it stands, a word
//! that starts with `{` is a whole JSON object, and `-` reads one from stdin. A value that does not fit its type
//! stays a text, so that the schema's own message says what is wrong with it.

use serde_json::{Map, Value};
use toolroom::schema::{parse_object, parse_value};
use toolroom::tool::Arguments;

use super::exit::Usage;

/// A parameter may refer to a definition, which may refer to another one.
const MAX_REFERENCES: usize = 8;

/// Puts the arguments together. `stdin` is read only if a word asks for it.
pub(super) fn arguments(
    words: &[String],
    schema: &Value,
    stdin: impl FnOnce() -> std::io::Result<String>,
) -> anyhow::Result<Arguments> {
    let mut arguments = Map::new();
    let mut stdin = Some(stdin);
    for word in words {
        if word == "-" {
            let read = stdin.take().ok_or_else(|| Usage("`-` can be given once only".into()))?;
            let text = read().map_err(|error| Usage(format!("standard input cannot be read: {error}")))?;
            merge(&mut arguments, parse_object(&text).map_err(|error| not_json("standard input", &error))?)?;
        } else if word.trim_start().starts_with('{') {
            merge(
                &mut arguments,
                parse_object(word).map_err(|error| not_json("the JSON argument", &error))?,
            )?;
        } else {
            let (key, value) = pair(word, schema)?;
            add(&mut arguments, key, value, schema)?;
        }
    }
    Ok(arguments)
}

/// Whether a word has the form of an argument.
pub(super) fn is_argument(word: &str) -> bool {
    word == "-" || word.trim_start().starts_with('{') || word.contains('=')
}

/// `key=value` and `key:=JSON` without a schema, as `--context` takes them.
pub(super) fn context(words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut context = Map::new();
    for word in words {
        let (key, value) = pair(word, &Value::Null)
            .map_err(|_| Usage(format!("--context: `{word}` is neither key=value nor key:=JSON")))?;
        if context.insert(key.to_owned(), value).is_some() {
            return Err(Usage(format!("--context: `{key}` is given twice")).into());
        }
    }
    Ok(context)
}

fn not_json(what: &str, error: &toolroom::schema::ArgumentTextError) -> Usage {
    Usage(format!("{what}: {error}"))
}

fn pair<'a>(word: &'a str, schema: &Value) -> Result<(&'a str, Value), Usage> {
    let (key, text) =
        word.split_once('=').filter(|(key, _)| !key.is_empty() && *key != ":").ok_or_else(|| {
            Usage(format!(
                "`{word}` is no argument; write key=value, key:=JSON, a JSON object, or - for stdin"
            ))
        })?;
    match key.strip_suffix(':') {
        Some(key) => {
            let value = parse_value(text).map_err(|error| not_json(&format!("`{key}:=`"), &error))?;
            Ok((key, value))
        }
        None => Ok((key, read(text, property(schema, key), schema))),
    }
}

/// A key given twice adds to a list; any other key may be given once.
fn add(arguments: &mut Arguments, key: &str, value: Value, schema: &Value) -> Result<(), Usage> {
    match (arguments.get_mut(key), value) {
        (Some(Value::Array(items)), Value::Array(more)) if allows(property(schema, key), schema, "array") => {
            items.extend(more);
            Ok(())
        }
        (Some(_), _) => Err(Usage(format!("`{key}` is given twice"))),
        (None, value) => {
            arguments.insert(key.to_owned(), value);
            Ok(())
        }
    }
}

fn merge(arguments: &mut Arguments, more: Arguments) -> Result<(), Usage> {
    for (key, value) in more {
        if arguments.contains_key(&key) {
            return Err(Usage(format!("`{key}` is given twice")));
        }
        arguments.insert(key, value);
    }
    Ok(())
}

fn property<'a>(schema: &'a Value, key: &str) -> &'a Value {
    schema.get("properties").and_then(|properties| properties.get(key)).unwrap_or(&Value::Null)
}

/// The values a parameter is limited to, as they are typed; empty when it is free.
pub(super) fn choices(schema: &Value, key: &str) -> Vec<String> {
    let property = followed(property(schema, key), schema);
    let listed = property.get("enum").and_then(Value::as_array).into_iter().flatten();
    // Documented variants of a Rust enum come as one constant each.
    let variants = property.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let constants = variants.filter_map(|variant| variant.get("const"));
    let booleans: &[&str] = if allows(property, schema, "boolean") { &["true", "false"] } else { &[] };
    listed.chain(constants).map(plain).chain(booleans.iter().map(|text| (*text).to_owned())).collect()
}

/// Reads a text as the type its schema wants.
fn read(text: &str, schema: &Value, root: &Value) -> Value {
    let schema = followed(schema, root);
    let listed = schema.get("enum").and_then(Value::as_array);
    if let Some(choice) = listed.into_iter().flatten().find(|choice| plain(choice) == text) {
        return choice.clone();
    }
    let parsed = || parse_value(text).ok();
    let wants = |kind: &str| allows(schema, root, kind);
    if (wants("integer") || wants("number"))
        && let Some(number) = parsed().filter(Value::is_number)
    {
        return number;
    }
    if wants("boolean")
        && let Ok(truth) = text.parse::<bool>()
    {
        return Value::Bool(truth);
    }
    if wants("object")
        && let Some(object) = parsed().filter(Value::is_object)
    {
        return object;
    }
    if wants("array") {
        let items = schema.get("items").unwrap_or(&Value::Null);
        return parsed()
            .filter(Value::is_array)
            .unwrap_or_else(|| Value::Array(vec![read(text, items, root)]));
    }
    if text == "null" && wants("null") && !wants("string") {
        return Value::Null;
    }
    Value::String(text.to_owned())
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether the schema names this type, directly or in one of its alternatives.
fn allows(schema: &Value, root: &Value, kind: &str) -> bool {
    let schema = followed(schema, root);
    let named = match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    };
    let alternatives =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    // An alternative is looked at one level deep: enough for optional values, and it cannot run in circles.
    named
        || alternatives
            .map(|part| followed(part, root))
            .any(|part| part.get("type").is_some_and(|t| t == kind))
}

/// Follows `#/…` references.
fn followed<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "$defs": {"level": {"enum": [1, 2, "max"]}},
            "properties": {
                "text": {"type": "string"}, "count": {"type": "integer"}, "share": {"type": ["number", "null"]},
                "on": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "integer"}},
                "shape": {"type": "object"}, "level": {"$ref": "#/$defs/level"},
                "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            }
        })
    }

    fn parse(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let stdin = || Ok(r#"{"text": "piped"}"#.to_owned());
        arguments(&words, &schema(), stdin).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_read_by_the_schemas_type() {
        let check = |words: &[&str], expected: Value| assert_eq!(parse(words), Ok(expected), "{words:?}");
        check(&["text=5", "count=5"], json!({"text": "5", "count": 5}));
        check(&["text=a=b"], json!({"text": "a=b"}));
        check(&["text="], json!({"text": ""}));
        check(&["share=0.5", "on=true"], json!({"share": 0.5, "on": true}));
        check(&["share=null", "maybe=7"], json!({"share": null, "maybe": 7}));
        check(&["tags=1", "tags=2"], json!({"tags": [1, 2]}));
        check(&["tags=[3,4]"], json!({"tags": [3, 4]}));
        check(&["shape={\"a\":1}"], json!({"shape": {"a": 1}}));
        check(&["level=2"], json!({"level": 2}));
        check(&["level=max"], json!({"level": "max"}));
        check(&["count:=[1]", "free:=true"], json!({"count": [1], "free": true}));
        check(&["count=many"], json!({"count": "many"}));
        check(&["unknown=5"], json!({"unknown": "5"}));
        check(&["{\"count\": 1}", "text=x"], json!({"count": 1, "text": "x"}));
        check(&["-", "count=1"], json!({"text": "piped", "count": 1}));
    }

    #[test]
    fn choices_are_what_a_parameter_is_limited_to() {
        assert_eq!(choices(&schema(), "level"), ["1", "2", "max"]);
        assert_eq!(choices(&schema(), "on"), ["true", "false"]);
        assert!(choices(&schema(), "text").is_empty() && choices(&schema(), "unknown").is_empty());
        let documented = json!({"properties": {"x": {"oneOf": [{"const": "a"}, {"const": "b"}]}}});
        assert_eq!(choices(&documented, "x"), ["a", "b"]);
    }

    #[test]
    fn wrong_words_are_usage_errors() {
        let check = |words: &[&str], message: &str| {
            let error = parse(words).unwrap_err();
            assert!(error.contains(message), "{words:?}: {error}");
        };
        check(&["lonely"], "`lonely` is no argument; write key=value");
        check(&["=x"], "is no argument");
        check(&["count=1", "count=2"], "`count` is given twice");
        check(&["-", "-"], "once only");
        check(&["-", "text=x"], "`text` is given twice");
        check(&["count:=oops"], "`count:=`");
        check(&["{\"a\": 1, \"a\": 2}"], "the JSON argument");
        check(&["{broken"], "the JSON argument");
    }
}
