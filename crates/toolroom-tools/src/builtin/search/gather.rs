//! Collects what a caller can find: the tools it may call, and its latest calls.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use toolroom::call::CallContext;
use toolroom::catalog::{Catalog, Entry};
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallFilter, CallRecord, Journal, LedgerError, Switchboard, ToolUsage};
use toolroom::tool::{ErrorKind, ToolError, ToolId};

use super::frecency::Frecency;
use super::one_line::call_line;
use super::rank::{Candidate, Kind};

/// Number of latest calls searched.
const CALLS: u32 = 200;

/// Searchable characters of a call; fewer are shown.
const CALL_CHARS: usize = 500;

/// The sources of a search.
pub(super) struct Sources {
    /// Weak, because the catalog owns the search tool.
    pub(super) catalog: Weak<Catalog>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) switchboard: Arc<dyn Switchboard>,
}

/// Everything a caller can find.
pub(super) struct Searchable {
    tools: Vec<(Arc<Entry>, Frecency)>,
    calls: Vec<PastCall>,
}

struct PastCall {
    id: String,
    source: String,
    line: String,
    frecency: Frecency,
}

impl Sources {
    /// Collects what the caller of `context` may see. Leaves out calls of `searcher`: an earlier search for the same words
    /// would always match best, and searching is not use.
    pub(super) async fn gather(
        &self,
        context: &CallContext,
        searcher: &ToolId,
    ) -> Result<Searchable, ToolError> {
        let scope = context.scope();
        let catalog = self
            .catalog
            .upgrade()
            .ok_or_else(|| ToolError::new(ErrorKind::Crashed, "the catalog has been dropped"))?;
        let standing = self.switchboard.standing(&scope.project).await.map_err(unreadable)?;
        let usage = self.journal.usage(scope).await.map_err(unreadable)?;
        let latest = CallFilter { limit: Some(CALLS), ..CallFilter::default() };
        let calls = self.journal.calls(scope, latest).await.map_err(unreadable)?;

        let now = context.now();
        let usage = usage.iter().filter(|usage| *usage.tool != *searcher.as_str());
        let usage: HashMap<&str, &ToolUsage> = usage.map(|usage| (&*usage.tool, usage)).collect();
        let mut tools = catalog.list(&scope.project);
        tools.retain(|entry| {
            catalog.check_enabled(entry.spec(), &standing.switches, context.client_context()).is_ok()
        });
        let with_frecency = |entry: Arc<Entry>| {
            let used = usage.get(entry.spec().id.as_str());
            let frecency =
                used.map_or(Frecency::NEVER, |used| Frecency::new(used.calls, now.since(used.last_at)));
            (entry, frecency)
        };
        let calls = calls.iter().filter(|call| *call.tool != *searcher.as_str());
        Ok(Searchable {
            tools: tools.into_iter().map(with_frecency).collect(),
            calls: calls.map(|call| PastCall::new(call, now)).collect(),
        })
    }
}

fn unreadable(error: LedgerError) -> ToolError {
    ToolError::new(ErrorKind::Crashed, "past calls and switches could not be read").caused_by(error)
}

impl PastCall {
    fn new(call: &CallRecord, now: Timestamp) -> Self {
        // Calls of unknown tools have no source.
        let source = ToolId::parse(&call.tool).map_or_else(|_| String::new(), |id| source_of(&id).to_owned());
        Self {
            id: call.id.to_string(),
            source,
            line: call_line(&call.tool, &call.arguments, CALL_CHARS),
            // Used once, when it was made.
            frecency: Frecency::new(1, now.since(call.asked_at)),
        }
    }
}

/// `mcp:github` of `mcp:github:create_issue`.
fn source_of(id: &ToolId) -> &str {
    id.as_str().strip_suffix(id.bare()).unwrap_or_default().trim_end_matches(':')
}

impl Searchable {
    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate<'_>> {
        let tools = self.tools.iter().map(|(entry, frecency)| tool(entry, *frecency));
        tools.chain(self.calls.iter().map(call))
    }
}

fn tool(entry: &Entry, frecency: Frecency) -> Candidate<'_> {
    let spec = entry.spec();
    let mut handles = vec![spec.id.bare(), spec.title.as_str()];
    handles.extend(spec.aliases.iter().map(String::as_str));
    handles.extend(spec.texts.values().map(|text| text.title.as_str()));
    let mut texts = vec![spec.description.as_str()];
    texts.extend(spec.category.as_deref());
    texts.extend(spec.tags.iter().map(String::as_str));
    texts.extend(spec.texts.values().map(|text| text.description.as_str()));
    Candidate {
        kind: Kind::Tool,
        id: spec.id.as_str(),
        source: source_of(&spec.id),
        name: &spec.title,
        handles,
        texts,
        frecency,
    }
}

fn call(call: &PastCall) -> Candidate<'_> {
    Candidate {
        kind: Kind::Call,
        id: &call.id,
        source: &call.source,
        name: &call.line,
        handles: Vec::new(),
        texts: vec![&call.line],
        frecency: call.frecency,
    }
}
