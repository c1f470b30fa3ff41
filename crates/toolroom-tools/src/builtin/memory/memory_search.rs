//! `memory_search`: searches memories.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::call::CallContext;
use toolroom::memory::Memory;
use toolroom::policy::Provenance;
use toolroom::tool::{IdError, IntoOutput as _, Tool, ToolError, ToolOutput, tool_fn};

use super::relevance::MemoryQuery;
use super::{MemoryPort, failed, memories, reads, some_text};

/// Maximum number of results.
const MAX_RESULTS: usize = 50;

/// Total characters of the memories shown; the first one is always shown.
const MAX_CHARS: usize = 16_000;

/// A result has its own limits and is never shortened again. JSON may escape one character as six.
const RESULT_CAP: usize = (MAX_CHARS + 2 * 4_000) * 6 + MAX_RESULTS * 500;

#[derive(Deserialize, JsonSchema)]
struct MemorySearchArguments {
    /// Words or part of a text
    #[schemars(length(min = 1, max = 500))]
    query: String,
}

#[derive(Serialize)]
struct MemorySearchOutput {
    results: Vec<MemoryHit>,
    /// Number of matches, shown or not.
    total: usize,
}

#[derive(Serialize)]
struct MemoryHit {
    key: String,
    content: String,
    category: &'static str,
    hit_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

pub(super) fn tool(port: MemoryPort) -> Result<Arc<dyn Tool>, IdError> {
    let description =
        "Search what is remembered about the user, by words or part of a text, best match first";
    let tool =
        tool_fn("builtin:memory_search", description, move |context, arguments: MemorySearchArguments| {
            let port = port.clone();
            async move { search(&port, &context, &arguments.query).await }
        })?
        .check(|arguments| some_text(arguments, "query"));
    Ok(Arc::new(tool.with(|spec| {
        reads(spec)
            .title("Search Memory")
            .result_cap(RESULT_CAP)
            .when_to_use("the answer may depend on something from an earlier conversation")
            .category("memory", &["memory", "recall", "remember", "search", "earlier"])
            .usage_example("what do you know about my family?")
            .usage_example("which hotel did I like?")
    })))
}

async fn search(port: &MemoryPort, context: &CallContext, query: &str) -> Result<ToolOutput, ToolError> {
    let known = memories(port)?.memories(context.scope()).await.map_err(failed)?;
    let found = MemoryQuery::new(query).ranked(known);
    let total = found.len();
    let mut chars = 0;
    let fits = |memory: &Memory| {
        let is_first = chars == 0;
        chars += memory.content.chars().count();
        is_first || chars <= MAX_CHARS
    };
    let shown: Vec<Memory> = found.into_iter().take(MAX_RESULTS).take_while(fits).collect();
    let holds = shown.iter().map(Memory::provenance).fold(Provenance::NONE, Provenance::and);
    let results = shown.into_iter().map(MemoryHit::from_memory).collect();
    Ok(MemorySearchOutput { results, total }.into_output()?.holding(holds))
}

impl MemoryHit {
    fn from_memory(memory: Memory) -> Self {
        let Memory { key, content, category, hits, source, .. } = memory;
        Self { key, content, category: category.as_str(), hit_count: hits, source }
    }
}
