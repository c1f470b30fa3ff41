//! Results of foreign tools in the form that MCP client and MCP server share.
//!
//! A single text becomes a JSON string, and structured content alone becomes that value. Everything else keeps the form of the
//! protocol, `{"content": [BLOCK, …], "structuredContent": DATA}`, except that no block holds bytes: a picture, a sound
//! or a file is an attachment of the call, and its block has `artifact` and `bytes` instead of `data` or `blob`. The MCP
//! server puts the bytes back.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value, json};
use toolroom::schema::Schema;
use toolroom::tool::{Attachment, ToolOutput};

/// Further files of a result are left out.
const MAX_FILES: usize = 32;

/// Schema violations listed in the warning.
const MAX_PROBLEMS: usize = 3;

/// Some servers omit the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Descriptive fields of a block.
const DESCRIPTIVE_FIELDS: [&str; 7] =
    ["uri", "name", "title", "description", "mimeType", "size", "annotations"];

/// Makes an attachment from a media type and bytes.
pub(crate) type MakeFile<'a> = dyn Fn(&str, Vec<u8>) -> Attachment + 'a;

/// The output of a successful call. Structured content that violates the output schema is passed on as text with a
/// warning, so that it is not mistaken for valid data.
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
    let violation = promised.and_then(|schema| schema_violation(schema, structured.as_ref()));
    let output = match (violation, structured) {
        (Some(why), data) => {
            if let Some(data) = data.filter(|data| !blocks.iter().any(|block| repeats(block, data))) {
                blocks.push(text_block(&data.to_string()));
            }
            ToolOutput::new(json!({"content": blocks})).with_message(why)
        }
        (None, Some(data)) if blocks.iter().all(|block| repeats(block, &data)) && !is_tool_result(&data) => {
            ToolOutput::new(data)
        }
        (None, Some(data)) => ToolOutput::new(json!({"content": blocks, "structuredContent": data})),
        (None, None) => ToolOutput::new(bare_text(&mut blocks).unwrap_or_else(|| json!({"content": blocks}))),
    };
    output.with_attachments(files)
}

/// Why structured content violates the output schema.
fn schema_violation(schema: &Schema, data: Option<&Value>) -> Option<String> {
    let Some(data) = data else {
        return Some("the tool declares an output schema but returned no structured content".to_owned());
    };
    // A check that cannot run is no violation.
    let problems = schema.check(data).ok().filter(|problems| !problems.is_empty())?;
    let listed: Vec<String> = problems.iter().take(MAX_PROBLEMS).map(ToString::to_string).collect();
    Some(format!("the result does not match the tool's output schema: {}", listed.join("; ")))
}

/// The text of a result that is a single text.
fn bare_text(blocks: &mut [Value]) -> Option<Value> {
    match blocks {
        [] => Some(json!("")),
        [only] if only.as_object().is_some_and(|block| block.len() == 2) => {
            only.get_mut("text").filter(|text| text.is_string()).map(Value::take)
        }
        _ => None,
    }
}

/// Whether data could be mistaken for a result in the form of the protocol.
fn is_tool_result(data: &Value) -> bool {
    data.get("content").is_some_and(Value::is_array)
}

/// Whether a text block repeats the data, or its only field.
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

/// Keeps the known fields of a block. Bytes become attachments.
fn block(make_file: &MakeFile<'_>, given: Value, files: &mut Vec<Attachment>) -> Value {
    let Value::Object(mut given) = given else { return text_block("[content of an unknown kind]") };
    let kind = given.remove("type").unwrap_or_default();
    let mut block = Map::from_iter([("type".to_owned(), kind.clone())]);
    match kind.as_str() {
        Some("text") => {
            let text = given.remove("text").filter(Value::is_string).unwrap_or_else(|| json!(""));
            block.insert("text".to_owned(), text);
            block.extend(take_fields(&mut given, &["annotations"]));
        }
        Some("image" | "audio") => {
            block.extend(take_fields(&mut given, &["mimeType", "annotations"]));
            if let Err(why) = attach(make_file, &mut block, given.get("data"), files) {
                return text_block(&why);
            }
        }
        Some("resource") => {
            let Some(Value::Object(mut given_resource)) = given.remove("resource") else {
                return text_block("[a resource without content]");
            };
            let mut resource = take_fields(&mut given_resource, &["uri", "mimeType"]);
            match given_resource.remove("text").filter(Value::is_string) {
                Some(text) => drop(resource.insert("text".to_owned(), text)),
                None => {
                    if let Err(why) = attach(make_file, &mut resource, given_resource.get("blob"), files) {
                        return text_block(&why);
                    }
                }
            }
            block.insert("resource".to_owned(), Value::Object(resource));
            block.extend(take_fields(&mut given, &["annotations"]));
        }
        Some("resource_link") if given.get("uri").is_some_and(Value::is_string) => {
            block.extend(descriptive_fields(&mut given));
        }
        _ => return text_block("[content of an unknown kind]"),
    }
    Value::Object(block)
}

/// The fields that describe a resource.
pub(crate) fn descriptive_fields(given: &mut Map<String, Value>) -> Map<String, Value> {
    take_fields(given, &DESCRIPTIVE_FIELDS)
}

/// Removes these fields and returns those that are set.
fn take_fields(given: &mut Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let field =
        |name: &&str| Some(((*name).to_owned(), given.remove(*name).filter(|value| !value.is_null())?));
    names.iter().filter_map(field).collect()
}

/// Decodes base64 into an attachment and refers to it in the block.
fn attach(
    make_file: &MakeFile<'_>,
    block: &mut Map<String, Value>,
    encoded: Option<&Value>,
    files: &mut Vec<Attachment>,
) -> Result<(), String> {
    if files.len() >= MAX_FILES {
        return Err(format!("[a file was left out: more than {MAX_FILES} in one result]"));
    }
    let unreadable = || "[a file was left out: it is not valid base64]".to_owned();
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
