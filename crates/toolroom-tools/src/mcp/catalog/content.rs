//! What a foreign tool gives back, in the one form that both halves know.
//!
//! One text is that text, and data that nothing else goes along with is that data. Everything else keeps the form of the
//! protocol, `{"content": [BLOCK, …], "structuredContent": DATA}`, with its names, except that no block holds bytes: a
//! picture, a sound or a file is an attachment of the call, and its block says `artifact` and `bytes` instead of `data` or
//! `blob`. Whoever serves such a result to a client of the protocol puts the bytes back.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value, json};
use toolroom::schema::Schema;
use toolroom::tool::{Attachment, ToolOutput};

/// So many files of a result are kept.
const MAX_FILES: usize = 32;

/// What is told of the ways in which data does not fit its schema.
const MAX_PROBLEMS: usize = 3;

/// Not everybody fills up the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Fields of a block beside the one that holds its content.
const DESCRIBING: [&str; 7] = ["uri", "name", "title", "description", "mimeType", "size", "annotations"];

/// Makes a file that is kept beside the result, of its media type and its bytes.
pub(crate) type MakeFile<'a> = dyn Fn(&str, Vec<u8>) -> Attachment + 'a;

/// The output of a call that went well. Data that does not fit what the tool has promised is told as text, with a word of
/// warning: it is lost to nobody, and nobody takes it for what was promised.
pub(crate) fn output(
    make_file: &MakeFile<'_>,
    promised: Option<&Schema>,
    content: Vec<Value>,
    structured: Option<Value>,
) -> ToolOutput {
    let mut files = Vec::new();
    let mut blocks: Vec<Value> =
        content.into_iter().map(|given| block(make_file, given, &mut files)).collect();
    let structured = structured.filter(|data| !data.is_null());
    let misfit = promised.and_then(|schema| misfit(schema, structured.as_ref()));
    let output = match (misfit, structured) {
        (Some(why), data) => {
            if let Some(data) = data.filter(|data| !blocks.iter().any(|block| repeats(block, data))) {
                blocks.push(text_block(&data.to_string()));
            }
            ToolOutput::new(json!({"content": blocks})).with_message(why)
        }
        (None, Some(data)) if blocks.iter().all(|block| repeats(block, &data)) && !is_form(&data) => {
            ToolOutput::new(data)
        }
        (None, Some(data)) => ToolOutput::new(json!({"content": blocks, "structuredContent": data})),
        (None, None) => ToolOutput::new(bare_text(&mut blocks).unwrap_or_else(|| json!({"content": blocks}))),
    };
    output.with_attachments(files)
}

/// What is wrong with data that had to fit a schema.
fn misfit(schema: &Schema, data: Option<&Value>) -> Option<String> {
    let Some(data) = data else {
        return Some("the tool has promised structured data and gave none".to_owned());
    };
    // What cannot be checked has not failed.
    let problems = schema.check(data).ok().filter(|problems| !problems.is_empty())?;
    let told: Vec<String> = problems.iter().take(MAX_PROBLEMS).map(ToString::to_string).collect();
    Some(format!("what the tool gave back does not fit the schema it has promised: {}", told.join("; ")))
}

/// The text of a result that is nothing else.
fn bare_text(blocks: &mut [Value]) -> Option<Value> {
    match blocks {
        [] => Some(json!("")),
        [only] if only.as_object().is_some_and(|block| block.len() == 2) => {
            only.get_mut("text").filter(|text| text.is_string()).map(Value::take)
        }
        _ => None,
    }
}

/// Whether data could be taken for a result in the form of the protocol.
fn is_form(data: &Value) -> bool {
    data.get("content").is_some_and(Value::is_array)
}

/// Whether a text says the same once more: all of the data, or its only field.
fn repeats(block: &Value, data: &Value) -> bool {
    let Some(text) = block.get("text").and_then(Value::as_str) else { return false };
    let only = data.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
    if only.and_then(Value::as_str) == Some(text) || data.as_str() == Some(text) {
        return true;
    }
    serde_json::from_str::<Value>(text).is_ok_and(|said| said == *data || Some(&said) == only)
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// One block, with nothing in it but what its kind has.
fn block(make_file: &MakeFile<'_>, given: Value, files: &mut Vec<Attachment>) -> Value {
    let Value::Object(mut given) = given else { return text_block("[content of an unknown kind]") };
    let kind = given.remove("type").unwrap_or_default();
    let mut block = Map::from_iter([("type".to_owned(), kind.clone())]);
    match kind.as_str() {
        Some("text") => {
            let text = given.remove("text").filter(Value::is_string).unwrap_or_else(|| json!(""));
            block.insert("text".to_owned(), text);
            block.extend(taken(&mut given, &["annotations"]));
        }
        Some("image" | "audio") => {
            block.extend(taken(&mut given, &["mimeType", "annotations"]));
            if let Err(why) = keep(make_file, &mut block, given.get("data"), files) {
                return text_block(&why);
            }
        }
        Some("resource") => {
            let Some(Value::Object(mut given_resource)) = given.remove("resource") else {
                return text_block("[a resource without content]");
            };
            let mut resource = taken(&mut given_resource, &["uri", "mimeType"]);
            match given_resource.remove("text").filter(Value::is_string) {
                Some(text) => drop(resource.insert("text".to_owned(), text)),
                None => {
                    if let Err(why) = keep(make_file, &mut resource, given_resource.get("blob"), files) {
                        return text_block(&why);
                    }
                }
            }
            block.insert("resource".to_owned(), Value::Object(resource));
            block.extend(taken(&mut given, &["annotations"]));
        }
        Some("resource_link") if given.get("uri").is_some_and(Value::is_string) => {
            block.extend(describing(&mut given));
        }
        _ => return text_block("[content of an unknown kind]"),
    }
    Value::Object(block)
}

/// What describes a resource, and not what is in it.
pub(crate) fn describing(given: &mut Map<String, Value>) -> Map<String, Value> {
    taken(given, &DESCRIBING)
}

/// These fields, of those that are there.
fn taken(given: &mut Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let field =
        |name: &&str| Some(((*name).to_owned(), given.remove(*name).filter(|value| !value.is_null())?));
    names.iter().filter_map(field).collect()
}

/// Keeps what is encoded, and writes down where.
fn keep(
    make_file: &MakeFile<'_>,
    block: &mut Map<String, Value>,
    encoded: Option<&Value>,
    files: &mut Vec<Attachment>,
) -> Result<(), String> {
    if files.len() >= MAX_FILES {
        return Err(format!("[a file, left out: more than {MAX_FILES} in one result]"));
    }
    let unreadable = || "[a file that cannot be read: it is no base64]".to_owned();
    let encoded = encoded.and_then(Value::as_str).ok_or_else(unreadable)?;
    let bytes = BASE64.decode(encoded.trim()).map_err(|_| unreadable())?;
    let file = make_file(block.get("mimeType").and_then(Value::as_str).unwrap_or_default(), bytes);
    block.insert("mimeType".to_owned(), json!(file.media_type()));
    block.insert("bytes".to_owned(), json!(file.size()));
    block.insert("artifact".to_owned(), json!(file.id()));
    files.push(file);
    Ok(())
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
