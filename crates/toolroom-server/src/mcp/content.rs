//! How a call ended, as its client is told.

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolroom::call::{CallReport, Done, Outcome};
use toolroom::ledger::ArtifactId;

use super::resources;
use super::version::Era;

/// Kinds of content that a result can hold as they are.
const KINDS: [(&str, &str); 5] = [
    ("text", "text"),
    ("image", "data"),
    ("audio", "data"),
    ("resource", "resource"),
    ("resource_link", "uri"),
];

/// The first versions have no links to resources.
const WITHOUT_LINKS: [&str; 2] = ["2024-11-05", "2025-03-26"];

/// A result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// What a tool said of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// Nothing.
    None,
    /// That they fit a schema which clients were shown.
    Schema,
}

/// What a call came to, as the text of a result. `whole` is the result before it was shortened, where the client was
/// promised one that fits a schema.
pub(super) fn called(report: &CallReport, era: Era, promise: Promise, whole: Option<&Value>) -> String {
    let result = match &report.outcome {
        Outcome::Done(done) => return finished(done, era, promise, whole),
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

/// A result that says what went wrong, to whoever made the call.
pub(super) fn failed(text: &str) -> String {
    written(&CallResult { content: vec![text_block(text)], structured_content: None, is_error: true })
}

fn finished(done: &Done, era: Era, promise: Promise, whole: Option<&Value>) -> String {
    if let Some((content, structured_content)) = as_written(&done.value) {
        return written(&CallResult { content, structured_content, is_error: false });
    }
    let structured = whole.unwrap_or(&done.value);
    let text = match &*done.value {
        Value::String(text) => text_block(text),
        value => text_block(&value.to_string()),
    };
    let mut content = vec![text];
    content.extend(done.message.as_deref().map(text_block));
    content.extend(done.artifact.as_ref().map(|artifact| link(artifact, &done.value, era)));
    // Earlier clients take objects alone.
    let is_told = structured.is_object() || (era.is_modern() && promise == Promise::Schema);
    let structured_content = is_told.then_some(structured);
    written(&CallResult { content, structured_content, is_error: false })
}

/// Content and data of a result that is written as the protocol has it: that of a tool which speaks it, too.
fn as_written(value: &Value) -> Option<(Vec<Value>, Option<&Value>)> {
    let fields = value.as_object()?;
    let content = fields.get("content")?.as_array().filter(|content| !content.is_empty())?;
    let is_known = |name: &String| matches!(name.as_str(), "content" | "structuredContent");
    let is_block = |block: &Value| {
        let kind = block.get("type").and_then(Value::as_str);
        KINDS.iter().any(|(name, field)| kind == Some(*name) && block.get(field).is_some())
    };
    let fits = fields.keys().all(is_known) && content.iter().all(is_block);
    fits.then(|| (content.clone(), fields.get("structuredContent").filter(|data| data.is_object())))
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Where the whole of a result is that was shortened.
fn link(artifact: &ArtifactId, shortened: &Value, era: Era) -> Value {
    let uri = resources::uri_of(artifact);
    let about = "The whole result, which is shortened here";
    match era {
        Era::Legacy(version) if WITHOUT_LINKS.contains(&version.as_str()) => {
            text_block(&format!("{about}: {uri}"))
        }
        Era::Legacy(_) | Era::Modern => {
            let kind = if shortened.is_string() { "text/plain" } else { "application/json" };
            json!({
                "type": "resource_link", "uri": uri, "name": artifact.as_str(), "description": about, "mimeType": kind,
            })
        }
    }
}

fn written(result: &CallResult<'_>) -> String {
    serde_json::to_string(result).unwrap_or_else(|_| r#"{"content":[],"isError":true}"#.to_owned())
}

/// The fields of an object, or none.
pub(super) fn object(value: Option<Value>) -> Option<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(fields)) => Some(fields),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolroom::tool::Origin;

    use super::*;
    use crate::mcp::version::Version;

    fn done(value: Value) -> Done {
        Done {
            value: Arc::new(value),
            message: None,
            chars: 0,
            artifact: None,
            truncated: false,
            origin: Origin::Trusted,
        }
    }

    fn told(done: &Done, era: Era, promise: Promise) -> Value {
        serde_json::from_str(&finished(done, era, promise, None)).unwrap()
    }

    #[test]
    fn data_is_told_as_text_and_as_data() {
        let old = Era::Legacy(Version::agreed(""));
        for era in [old, Era::Modern] {
            let object = told(&done(json!({"a": 1})), era, Promise::None);
            assert_eq!(object["structuredContent"], json!({"a": 1}));
            assert_eq!(object["content"], json!([{"type": "text", "text": "{\"a\":1}"}]));
            assert_eq!(
                told(&done(json!("hi")), era, Promise::None),
                json!({"content": [{"type": "text", "text": "hi"}]})
            );
        }
        assert_eq!(told(&done(json!([1])), Era::Modern, Promise::Schema)["structuredContent"], json!([1]));
        assert!(told(&done(json!([1])), old, Promise::Schema).get("structuredContent").is_none());
    }

    #[test]
    fn content_of_the_protocol_is_passed_on_and_what_only_looks_like_it_is_data() {
        let picture = json!({"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]});
        assert_eq!(told(&done(picture.clone()), Era::Modern, Promise::None), picture);
        for odd in [
            json!({"content": "text"}),
            json!({"content": []}),
            json!({"content": [{"type": "text"}]}),
            json!({"content": [{"type": "strange", "text": "x"}]}),
            json!({"content": [{"type": "text", "text": "x"}], "status": 200}),
        ] {
            assert_eq!(told(&done(odd.clone()), Era::Modern, Promise::None)["structuredContent"], odd);
        }
    }

    #[test]
    fn a_shortened_result_says_where_the_whole_is() {
        let mut short = done(json!("a…z"));
        short.artifact = Some(ArtifactId::new("art_1"));
        let now = told(&short, Era::Modern, Promise::None);
        assert_eq!(now["content"][1]["type"], "resource_link");
        let first = told(&short, Era::Legacy(Version::agreed("2024-11-05")), Promise::None);
        assert_eq!(first["content"][1]["type"], "text");
    }
}
