//! `memory_search`: finds what is remembered.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::call::CallContext;
use toolroom::memory::Memory;
use toolroom::policy::Provenance;
use toolroom::tool::{IdError, IntoOutput as _, Tool, ToolError, ToolOutput, tool_fn};

use super::relevance::Query;
use super::{Kept, failed, memories, reads, some_text};

/// More is a list to read, not an answer.
const MAX_RESULTS: usize = 50;

/// Whole memories are shown until they have this many characters; the first one always is.
const MAX_CHARS: usize = 16_000;

/// A result is bounded by its own limits and never shortened again: JSON may write one character as six.
const RESULT_CAP: usize = (MAX_CHARS + 2 * 4_000) * 6 + MAX_RESULTS * 500;

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    /// Words or a part of a text
    #[schemars(length(min = 1, max = 500))]
    query: String,
}

#[derive(Serialize)]
struct Found {
    results: Vec<Hit>,
    /// How many there are, shown or not.
    total: usize,
}

#[derive(Serialize)]
struct Hit {
    key: String,
    content: String,
    category: &'static str,
    hit_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

pub(super) fn tool(kept: Kept) -> Result<Arc<dyn Tool>, IdError> {
    let description =
        "Search what is remembered about the user, by words or by a part of a text, best match first";
    let tool = tool_fn("builtin:memory_search", description, move |context, wanted: Wanted| {
        let kept = kept.clone();
        async move { search(&kept, &context, &wanted.query).await }
    })?
    .check(|arguments| some_text(arguments, "query"));
    Ok(Arc::new(tool.with(|spec| {
        reads(spec)
            .title("Search Memory")
            .result_cap(RESULT_CAP)
            .when_to_use("the answer may depend on something the user said in an earlier conversation")
            .category("memory", &["memory", "recall", "remember", "search", "earlier"])
            .usage_example("what do you know about my family?")
            .usage_example("which hotel did I like?")
    })))
}

async fn search(kept: &Kept, context: &CallContext, query: &str) -> Result<ToolOutput, ToolError> {
    let known = memories(kept)?.memories(context.scope()).await.map_err(failed)?;
    let found = Query::new(query).ranked(known);
    let total = found.len();
    let mut chars = 0;
    let fits = |memory: &Memory| {
        let is_first = chars == 0;
        chars += memory.content.chars().count();
        is_first || chars <= MAX_CHARS
    };
    let shown: Vec<Memory> = found.into_iter().take(MAX_RESULTS).take_while(fits).collect();
    let holds = shown.iter().map(Memory::provenance).fold(Provenance::NONE, Provenance::and);
    let results = shown.into_iter().map(Hit::of).collect();
    Ok(Found { results, total }.into_output()?.holding(holds))
}

impl Hit {
    fn of(memory: Memory) -> Self {
        let Memory { key, content, category, hits, source, .. } = memory;
        Self { key, content, category: category.as_str(), hit_count: hits, source }
    }
}
