//! What a JSON Schema lets one write, in a row of a table.

use serde_json::Value;

/// A table of the fields of an object; nothing, if it has none. Definitions are looked up in the whole document.
pub(super) fn fields(schema: &Value, whole: &Value) -> String {
    let required: Vec<&str> = list(&schema["required"]).iter().filter_map(Value::as_str).collect();
    let rows: String = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| row(name, field, whole, required.contains(&name.as_str())))
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("| name | value | |\n|---|---|---|\n{rows}\n"),
    }
}

pub(super) fn row(name: &str, schema: &Value, whole: &Value, required: bool) -> String {
    let about = schema["description"].as_str().unwrap_or_default().trim_end_matches('.');
    let default = match &schema["default"] {
        Value::Null => String::new(),
        value => format!("`{value}` if absent"),
    };
    let must = if required { "**required**" } else { "" };
    let words: Vec<&str> = [must, about, &default].into_iter().filter(|words| !words.is_empty()).collect();
    format!("| `{name}` | {} | {} |\n", cell(&kind(schema, whole)), cell(&words.join("; ")))
}

pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn kind(schema: &Value, whole: &Value) -> String {
    if let Some(place) = schema["$ref"].as_str() {
        let found = place.strip_prefix('#').and_then(|place| whole.pointer(place));
        return found.map_or_else(|| place.to_owned(), |found| kind(found, whole));
    }
    if let Some(only) = schema.get("const") {
        return format!("`{only}`");
    }
    for one_of in ["enum", "oneOf", "anyOf"] {
        if let Some(all) = schema[one_of].as_array() {
            let one = |one: &Value| match one_of {
                "enum" => format!("`{one}`"),
                _ => kind(one, whole),
            };
            return all.iter().map(one).filter(|one| one != "null").collect::<Vec<_>>().join(" or ");
        }
    }
    let names = match &schema["type"] {
        Value::String(name) => vec![name.as_str()],
        names => list(names).iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
    };
    let named = names.iter().map(|name| match *name {
        "array" => match kind(&schema["items"], whole) {
            items if items == "anything" => "list".to_owned(),
            items => format!("list of {items}"),
        },
        name => name.to_owned(),
    });
    let named = named.collect::<Vec<_>>().join(" or ");
    let bounds = [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " of them"),
    ];
    let bounds = bounds.iter().filter_map(|(least, most, of)| bound(&schema[*least], &schema[*most], of));
    let bounds: String = bounds.map(|bound| format!(", {bound}")).collect();
    match named.is_empty() {
        true => "anything".to_owned(),
        false => named + &bounds,
    }
}

fn bound(least: &Value, most: &Value, of: &str) -> Option<String> {
    match (least, most) {
        (Value::Null, Value::Null) => None,
        (least, Value::Null) => Some(format!("{least} or more{of}")),
        (Value::Null, most) => Some(format!("at most {most}{of}")),
        (least, most) => Some(format!("{least} to {most}{of}")),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
