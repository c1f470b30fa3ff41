//! The `search` tool.

use std::sync::{Arc, Weak};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::call::CallContext;
use toolroom::catalog::Catalog;
use toolroom::ledger::{Journal, Switchboard};
use toolroom::policy::Provenance;
use toolroom::tool::{
    Capability, Effect, ErrorKind, IdError, Pool, Tool, ToolError, ToolId, ToolOutput, Yields, tool_fn,
};

use super::gather::Sources;
use super::one_line::one_line;
use super::query::Query;
use super::rank::{Kind, Ranked, rank};

const ID: &str = "builtin:search";

const DESCRIPTION: &str = "Search the available tools and the latest calls by name, keyword or argument, best match \
    first; an empty query lists what is used most. `@builtin time` searches what one source brought.";

/// Maximum number of results.
const MAX_RESULTS: usize = 100;

/// Maximum length of a shown name.
const NAME_CHARS: usize = 120;

/// A result has its own limits and is never shortened again. Ids have at most 256 characters, and JSON may escape one
/// character of an id or name as two.
const RESULT_CAP: usize = MAX_RESULTS * (2 * (256 + NAME_CHARS) + 100);

#[derive(Deserialize, JsonSchema)]
struct SearchArguments {
    /// Search text, e.g. `time` or `@builtin time`; empty for the most used
    #[schemars(length(max = 500))]
    query: String,
    /// Maximum number of results
    #[serde(default = "default_limit")]
    #[schemars(range(min = 0, max = 100))]
    limit: u64,
}

fn default_limit() -> u64 {
    10
}

#[derive(Serialize, JsonSchema)]
struct SearchOutput {
    /// Best match first
    results: Vec<SearchResult>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SearchResult {
    /// Id of the tool or call
    id: String,
    /// Title of the tool, or the tool and arguments of the call
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// Never rises along the results: the whole part is how well the name matches (5 exact to 1 mentioned, 0 for an empty
    /// query), the fraction how much it is used
    score: f64,
}

pub(in crate::builtin) fn tool(
    catalog: Weak<Catalog>,
    journal: Arc<dyn Journal>,
    switchboard: Arc<dyn Switchboard>,
) -> Result<Arc<dyn Tool>, IdError> {
    let mut output = schemars::schema_for!(SearchOutput);
    // The Rust name and the dialect are noise for a model.
    for key in ["title", "$schema"] {
        output.remove(key);
    }
    let sources = Arc::new(Sources { catalog, journal, switchboard });
    let searcher = ToolId::parse(ID)?;
    let tool = tool_fn(ID, DESCRIPTION, move |context, wanted: SearchArguments| {
        let (sources, searcher) = (Arc::clone(&sources), searcher.clone());
        async move { search(&sources, &searcher, &context, &wanted).await?.into_output() }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Search")
            .output(output.to_value())
            .effect(Effect::Read)
            .capabilities(&[Capability::ReadsPrivate])
            .yields(Yields::Stated)
            .when_to_use("none of the offered tools fits, or an earlier call has to be found again")
            .category("search", &["find", "discover", "tools", "history", "journal"])
            .usage_example("which tool tells the time?")
            .usage_example("what did I calculate yesterday?")
            // Searches hundreds of definitions.
            .pool(Pool::Blocking)
            .result_cap(RESULT_CAP)
    })))
}

async fn search(
    sources: &Sources,
    searcher: &ToolId,
    context: &CallContext,
    wanted: &SearchArguments,
) -> Result<SearchOutput, ToolError> {
    let limit = usize::try_from(wanted.limit).unwrap_or(MAX_RESULTS).min(MAX_RESULTS);
    let gathered = sources.gather(context, searcher).await?;
    let ranked = rank(&Query::parse(&wanted.query), gathered.candidates());
    Ok(SearchOutput { results: ranked.iter().take(limit).map(SearchResult::from_ranked).collect() })
}

impl SearchOutput {
    /// The result. Past calls may contain private or untrusted data; tool definitions do not.
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        let has_calls = self.results.iter().any(|hit| hit.kind == Kind::Call);
        let value = serde_json::to_value(self).map_err(|error| {
            ToolError::new(ErrorKind::Crashed, "the results cannot be written").caused_by(error)
        })?;
        let holds = if has_calls { Provenance::UNKNOWN_RESULTS } else { Provenance::NONE };
        Ok(ToolOutput::new(value).holding(holds))
    }
}

impl SearchResult {
    fn from_ranked(ranked: &Ranked<'_>) -> Self {
        let candidate = &ranked.candidate;
        Self {
            id: candidate.id.to_owned(),
            name: one_line(candidate.name, NAME_CHARS),
            kind: candidate.kind,
            score: ranked.score(),
        }
    }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
