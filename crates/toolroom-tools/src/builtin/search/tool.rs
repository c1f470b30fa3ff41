//! The tool itself.

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

/// More is a list to read, not an answer.
const MAX_RESULTS: usize = 100;

/// A name is to be told from others at a glance.
const NAME_CHARS: usize = 120;

/// A result is bounded by its own limits and never shortened again: ids have at most 256 characters, and JSON may
/// write a character of them and of a name as two.
const RESULT_CAP: usize = MAX_RESULTS * (2 * (256 + NAME_CHARS) + 100);

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    /// What to look for, e.g. `time` or `@builtin time`; empty for what is used most
    #[schemars(length(max = 500))]
    query: String,
    /// How many results at most
    #[serde(default = "default_limit")]
    #[schemars(range(min = 0, max = 100))]
    limit: u64,
}

fn default_limit() -> u64 {
    10
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// Best match first
    results: Vec<Hit>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Hit {
    /// Id of the tool or the call
    id: String,
    /// Title of the tool, or tool and arguments of the call
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// Falls along the results: the whole part is how well the name matches (5 exact to 1 mentioned, 0 for an empty
    /// query), the fraction how much it is used
    score: f64,
}

pub(in crate::builtin) fn tool(
    catalog: Weak<Catalog>,
    journal: Arc<dyn Journal>,
    switchboard: Arc<dyn Switchboard>,
) -> Result<Arc<dyn Tool>, IdError> {
    let mut output = schemars::schema_for!(Found);
    // The Rust name and the dialect say nothing to a reader.
    for key in ["title", "$schema"] {
        output.remove(key);
    }
    let sources = Arc::new(Sources { catalog, journal, switchboard });
    let searcher = ToolId::parse(ID)?;
    let tool = tool_fn(ID, DESCRIPTION, move |context, wanted: Wanted| {
        let (sources, searcher) = (Arc::clone(&sources), searcher.clone());
        async move { search(&sources, &searcher, &context, &wanted).await?.into_output() }
    })?;
    Ok(Arc::new(tool.with(|spec| {
        spec.title("Search")
            .output(output.to_value())
            .effect(Effect::Read)
            .capabilities(&[Capability::ReadsPrivate])
            .yields(Yields::Stated)
            .when_to_use(
                "the right tool is not among those at hand, or an earlier call has to be found again",
            )
            .category("search", &["find", "discover", "tools", "history", "journal"])
            .usage_example("which tool tells the time?")
            .usage_example("what did I calculate yesterday?")
            // Hundreds of definitions are read.
            .pool(Pool::Blocking)
            .result_cap(RESULT_CAP)
    })))
}

async fn search(
    sources: &Sources,
    searcher: &ToolId,
    context: &CallContext,
    wanted: &Wanted,
) -> Result<Found, ToolError> {
    let limit = usize::try_from(wanted.limit).unwrap_or(MAX_RESULTS).min(MAX_RESULTS);
    let gathered = sources.gather(context, searcher).await?;
    let ranked = rank(&Query::parse(&wanted.query), gathered.candidates());
    Ok(Found { results: ranked.iter().take(limit).map(Hit::of).collect() })
}

impl Found {
    /// The result. Earlier calls may hold what was read; definitions of tools do not.
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        let has_calls = self.results.iter().any(|hit| hit.kind == Kind::Call);
        let value = serde_json::to_value(self).map_err(|error| {
            ToolError::new(ErrorKind::Crashed, "the results cannot be written").caused_by(error)
        })?;
        let holds = if has_calls { Provenance::UNKNOWN_RESULTS } else { Provenance::NONE };
        Ok(ToolOutput::new(value).holding(holds))
    }
}

impl Hit {
    fn of(ranked: &Ranked<'_>) -> Self {
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
