//! Writes the outcome of a call as the result of `tools/call`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolroom::call::{CallReport, Done, Outcome};
use toolroom::ledger::ArtifactId;
use toolroom::tool::Offer;

use crate::documents::offer_told;
use crate::mcp::calls::artifacts::ResultArtifacts;
use crate::mcp::protocol::Era;
use crate::mcp::resources::{self, ARTIFACTS};

/// Content types, and the field each requires, unless it refers to a file.
const KINDS: [(&str, &str); 5] = [
    ("text", "text"),
    ("image", "data"),
    ("audio", "data"),
    ("resource", "resource"),
    ("resource_link", "uri"),
];

/// Versions without resource links.
const WITHOUT_LINKS: [&str; 2] = ["2024-11-05", "2025-03-26"];

/// The version without audio.
const WITHOUT_SOUND: &str = "2024-11-05";

/// Prefix of foreign tool ids.
const FOREIGN: &str = "mcp:";

/// A result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// A block of content. Texts, the common case, are serialized without a JSON value.
#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        text: Cow<'a, str>,
    },
    Other(Value),
}

/// What a tool declares about its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum OutputContract {
    /// No schema.
    None,
    /// An output schema that clients have seen.
    Schema,
}

/// The outcome of a call as the fields of a result.
pub(in crate::mcp) fn outcome_text(
    report: &CallReport,
    era: Era,
    contract: OutputContract,
    kept: &ResultArtifacts,
) -> String {
    let result = match &report.outcome {
        Outcome::Done(done) => {
            // A tool of our own that returns data in this form means data.
            let is_foreign = report.tool.starts_with(FOREIGN);
            let is_protocol = is_foreign || contract == OutputContract::None;
            return match protocol_result(kept.whole.as_ref().unwrap_or(&done.value)).filter(|_| is_protocol) {
                Some(result) => content_result(done, &result, era, contract, kept),
                None => data_result(done, era, contract, kept.whole.as_ref()),
            };
        }
        Outcome::Failed(error) => {
            let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            format!("{}{hint}", error.for_model())
        }
        Outcome::Denied(denial) => {
            format!("denied: {}\nhint: this call was refused; do not retry it", denial.reason)
        }
        Outcome::Pending(pending) => format!("waits for approval: {}", pending.reason),
    };
    failed(&result)
}

/// A result that reports an error to the client's model.
pub(in crate::mcp) fn failed(text: &str) -> String {
    written(&CallResult { content: vec![text_block(text)], structured_content: None, is_error: true })
}

fn data_result(done: &Done, era: Era, contract: OutputContract, whole: Option<&Value>) -> String {
    if done.truncated && contract == OutputContract::Schema && whole.is_none() {
        return failed("the result is too large, and the whole result was not kept");
    }
    let structured = whole.unwrap_or(&done.value);
    let text = match &*done.value {
        Value::String(text) => text_block(text),
        value => text_block(value.to_string()),
    };
    let mut content = vec![text];
    content.extend(extra_blocks(done, era));
    // Earlier versions allow objects only.
    let is_told = structured.is_object() || (era.is_modern() && contract == OutputContract::Schema);
    let structured_content = is_told.then_some(structured);
    written(&CallResult { content, structured_content, is_error: false })
}

/// Blocks after the result: its message, offers to the client, and a link to the whole result.
fn extra_blocks(done: &Done, era: Era) -> impl Iterator<Item = Block<'_>> {
    let message = done.message.as_deref().map(text_block);
    let offers = done.offers.iter().map(move |offer| offered(offer, era));
    let whole = done.artifact.as_ref().map(|artifact| link(artifact, &done.value, era));
    message.into_iter().chain(offers).chain(whole)
}

/// A result in the form of the protocol.
pub(in crate::mcp) struct ProtocolResult<'a> {
    pub(in crate::mcp) content: &'a [Value],
    structured: Option<&'a Value>,
}

/// Parses a value in the form of the protocol. Blocks may refer to a file instead of containing its bytes.
pub(in crate::mcp) fn protocol_result(value: &Value) -> Option<ProtocolResult<'_>> {
    let fields = value.as_object()?;
    let content = fields.get("content")?.as_array()?;
    let structured = fields.get("structuredContent");
    let is_known = |name: &String| matches!(name.as_str(), "content" | "structuredContent");
    let is_block = |block: &Value| {
        let kind = block.get("type").and_then(Value::as_str);
        let has = |field: &str| block.get(field).or(block.get("artifact")).is_some();
        KINDS.iter().any(|(name, field)| kind == Some(*name) && has(field))
    };
    let says_something = !content.is_empty() || structured.is_some();
    let fits = says_something && fields.keys().all(is_known) && content.iter().all(is_block);
    fits.then_some(ProtocolResult { content, structured })
}

/// Passes on a result in the form of the protocol. Of a shortened result, complete blocks and shortened texts remain.
fn content_result(
    done: &Done,
    form: &ProtocolResult<'_>,
    era: Era,
    contract: OutputContract,
    kept: &ResultArtifacts,
) -> String {
    let shown = match done.value.get("content").and_then(Value::as_array) {
        Some(shown) if done.truncated => shown.as_slice(),
        _ => form.content,
    };
    let mut content = Vec::with_capacity(shown.len());
    for block in shown {
        content.push(match block {
            Value::String(mark) => text_block(mark),
            block if !done.truncated || form.content.contains(block) => block_for(block, era, kept),
            block => match block.get("text").and_then(Value::as_str) {
                Some(text) => text_block(text),
                None => text_block(block.to_string()),
            },
        });
    }
    // Structured data that the schema promises is passed on whole, other data only if it was not shortened.
    let structured = match contract {
        OutputContract::Schema => form.structured,
        OutputContract::None => form.structured.filter(|_| !done.truncated),
    };
    let is_told = |data: &&Value| data.is_object() || (era.is_modern() && contract == OutputContract::Schema);
    let structured_content = structured.filter(is_told);
    if let (Some(data), None) = (structured, structured_content) {
        content.push(text_block(data.to_string()));
    }
    content.extend(extra_blocks(done, era));
    // Clients reject a result without its promised data unless it is an error.
    let is_error = contract == OutputContract::Schema && structured.is_none();
    written(&CallResult { content, structured_content, is_error })
}

/// A block with the bytes of its file, as text if the client's version does not support its type.
fn block_for(block: &Value, era: Era, kept: &ResultArtifacts) -> Block<'static> {
    let Some(fields) = block.as_object() else { return Block::Other(block.clone()) };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let resource = fields.get("resource").and_then(Value::as_object);
    if fields.contains_key("artifact") {
        let whole = kept.with_bytes(fields, "data").map(|block| Block::Other(Value::Object(block)));
        return whole.filter(|_| knows(era, kind)).unwrap_or_else(|| lost(fields));
    }
    if let Some(resource) = resource.filter(|resource| resource.contains_key("artifact")) {
        let Some(whole) = kept.with_bytes(resource, "blob") else { return lost(resource) };
        let mut block = fields.clone();
        block.insert("resource".to_owned(), Value::Object(whole));
        return Block::Other(Value::Object(block));
    }
    if knows(era, kind) { Block::Other(block.clone()) } else { text_block(block.to_string()) }
}

/// Whether the version supports this type of content.
fn knows(era: Era, kind: &str) -> bool {
    match era {
        Era::Legacy(version) => match kind {
            "resource_link" => !WITHOUT_LINKS.contains(&version.as_str()),
            "audio" => version.as_str() != WITHOUT_SOUND,
            _ => true,
        },
        Era::Modern => true,
    }
}

/// Placeholder for a file that is not available.
fn lost(named: &Map<String, Value>) -> Block<'static> {
    let text = |name: &str| named.get(name).and_then(Value::as_str).unwrap_or("?");
    text_block(format!(
        "[a file that cannot be shown: {}, {ARTIFACTS}{}]",
        text("mimeType"),
        text("artifact")
    ))
}

fn text_block<'a>(text: impl Into<Cow<'a, str>>) -> Block<'a> {
    Block::Text { kind: "text", text: text.into() }
}

/// A link to the whole result.
fn link(artifact: &ArtifactId, shortened: &Value, era: Era) -> Block<'static> {
    let uri = resources::uri_of(artifact);
    let about = "The whole result, which was shortened";
    match era {
        Era::Legacy(version) if WITHOUT_LINKS.contains(&version.as_str()) => {
            text_block(format!("{about}: {uri}"))
        }
        Era::Legacy(_) | Era::Modern => {
            let kind = if shortened.is_string() { "text/plain" } else { "application/json" };
            Block::Other(json!({
                "type": "resource_link", "uri": uri, "name": artifact.as_str(), "description": about, "mimeType": kind,
            }))
        }
    }
}

/// An offer as a block: a link to a file, or a text.
fn offered(offer: &Offer, era: Era) -> Block<'static> {
    match offer.file().filter(|_| knows(era, "resource_link")) {
        Some(file) => Block::Other(resources::link_to(file)),
        None => {
            let place = offer.file().map(|file| format!(", {}", resources::uri_of(&file.artifact)));
            text_block(format!("{}{}", offer_told(offer), place.unwrap_or_default()))
        }
    }
}

fn written(result: &CallResult<'_>) -> String {
    serde_json::to_string(result).unwrap_or_else(|_| r#"{"content":[],"isError":true}"#.to_owned())
}

/// The fields of an object, or none.
pub(in crate::mcp) fn object(value: Option<Value>) -> Option<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(fields)) => Some(fields),
        Some(_) => None,
    }
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
