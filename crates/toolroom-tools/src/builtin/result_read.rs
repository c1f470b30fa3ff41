//! `result_read`: reads a stored result page by page.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom::call::CallContext;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts};
use toolroom::tool::{Capability, Effect, ErrorKind, IdError, Pool, Tool, ToolError, tool_fn};

/// As long as a model may read of any result.
const MAX_PAGE_CHARS: usize = 18_000;

/// JSON may escape one character as six. A page has its own limit and is never shortened again.
const RESULT_CAP: usize = MAX_PAGE_CHARS * 6 + 1_000;

#[derive(Deserialize, JsonSchema)]
struct ResultReadArguments {
    /// Id from the marker in the shortened result, e.g. `art_…`
    artifact: String,
    /// First character of the page
    #[serde(default)]
    #[schemars(range(min = 0))]
    offset: u64,
    /// Characters per page
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 18_000))]
    limit: u64,
    /// JSON pointer to a part, e.g. `/items/3/name`; default: the whole result
    pointer: Option<String>,
}

fn default_limit() -> u64 {
    10_000
}

#[derive(Serialize)]
struct ResultPage {
    content: String,
    offset: u64,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    total_chars: u64,
}

pub(super) fn tool(artifacts: Arc<dyn Artifacts>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Read a part of a tool result that was too long to return in full";
    let tool =
        tool_fn("builtin:result_read", description, move |context, arguments: ResultReadArguments| {
            let artifacts = Arc::clone(&artifacts);
            async move { read(artifacts.as_ref(), &context, &arguments).await }
        })?;
    Ok(Arc::new(tool.with(|spec| {
        // A stored result may come from any tool, including untrusted ones.
        let reads = [Capability::ReadsPrivate, Capability::ReadsUntrusted];
        spec.title("Read Result")
            .effect(Effect::Read)
            .capabilities(&reads)
            .when_to_use("a result contains a marker that names an artifact")
            .category("results", &[])
            // A whole result may be large, and a pointer requires parsing it.
            .pool(Pool::Blocking)
            .result_cap(RESULT_CAP)
    })))
}

async fn read(
    artifacts: &dyn Artifacts,
    context: &CallContext,
    arguments: &ResultReadArguments,
) -> Result<ResultPage, ToolError> {
    let id = ArtifactId::new(&arguments.artifact);
    let found = artifacts.artifact(context.scope(), &id).await.map_err(|error| {
        ToolError::new(ErrorKind::Crashed, "the stored result could not be read").caused_by(error)
    })?;
    let artifact = found.ok_or_else(|| {
        let text =
            format!("there is no artifact `{}`; take the id from the marker in a result", arguments.artifact);
        ToolError::not_found(text)
    })?;
    let text = text_of(&artifact, arguments.pointer.as_deref())?;
    Ok(cut(&text, arguments.offset, arguments.limit))
}

fn text_of<'a>(artifact: &'a Artifact, pointer: Option<&str>) -> Result<Cow<'a, str>, ToolError> {
    let crashed = |error: Box<dyn std::error::Error + Send + Sync>| {
        ToolError::new(ErrorKind::Crashed, "the stored result is damaged").caused_by(error)
    };
    let Some(pointer) = pointer else {
        return std::str::from_utf8(&artifact.bytes).map(Cow::Borrowed).map_err(|error| {
            let (kind, size) = (&artifact.media_type, artifact.bytes.len());
            ToolError::invalid(format!(
                "the artifact is a file, not text ({kind}, {size} bytes); send it to the user instead"
            ))
            .caused_by(error)
        });
    };
    if artifact.media_type != Artifact::JSON {
        return Err(ToolError::invalid(
            "this result is plain text, so `pointer` cannot be used; leave it out",
        ));
    }
    let value: Value = serde_json::from_slice(&artifact.bytes).map_err(|error| crashed(error.into()))?;
    match value.pointer(pointer) {
        Some(Value::String(text)) => Ok(Cow::Owned(text.clone())),
        Some(part) => Ok(Cow::Owned(part.to_string())),
        None => {
            Err(ToolError::not_found(format!("nothing at `{pointer}`; pointers look like `/items/0/name`")))
        }
    }
}

fn cut(text: &str, offset: u64, limit: u64) -> ResultPage {
    let total_chars = text.chars().count() as u64;
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let count = usize::try_from(limit).unwrap_or(usize::MAX).min(MAX_PAGE_CHARS);
    let content: String = text.chars().skip(start).take(count).collect();
    let end = offset.saturating_add(content.chars().count() as u64);
    let next_offset = (end < total_chars && !content.is_empty()).then_some(end);
    ResultPage { content, offset, next_offset, total_chars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_join_to_the_whole_text() {
        let text = "añ🙂漢\n".repeat(1000);
        for limit in [1, 7, 999, 18_000] {
            let (mut joined, mut next) = (String::new(), Some(0));
            while let Some(offset) = next {
                let page = cut(&text, offset, limit);
                assert_eq!(page.total_chars, 5000);
                joined.push_str(&page.content);
                next = page.next_offset;
            }
            assert_eq!(joined, text, "limit {limit}");
        }
        assert_eq!(cut(&text, u64::MAX, 10).content, "");
        assert!(cut(&text, u64::MAX, 10).next_offset.is_none());
    }
}
