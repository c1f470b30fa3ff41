//! Deletes old journal rows, results and conversations of all projects, as configured.
//!
//! Open and parked calls are never deleted, nor calls of active or waiting runs, nor calls that rate limits or usage counts
//! still need.

use std::time::Duration;

use serde::Serialize;
use toolroom::catalog::Catalog;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;
use toolroom_store::{CountedCalls, PruneReport, StoreError};

use crate::app::App;
use crate::config::{RetentionKeys, Span};
use crate::identity::projects;

/// How long a call counts for the usage of its tool; then a twentieth of its weight is left.
const COUNTED_AS_USE: Duration = Duration::from_secs(30 * 86_400);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PruneMode {
    Apply,
    Preview,
}

/// What was, or would be, deleted in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PrunedProject {
    pub(crate) project: ProjectId,
    pub(crate) calls: u64,
    pub(crate) artifacts: u64,
    pub(crate) conversations: u64,
    pub(crate) bytes: u64,
}

impl PrunedProject {
    fn of(project: ProjectId, report: PruneReport) -> Self {
        let PruneReport { calls, artifacts, conversations, bytes } = report;
        Self { project, calls, artifacts, conversations, bytes }
    }

    pub(crate) const fn is_nothing(&self) -> bool {
        self.calls == 0 && self.artifacts == 0 && self.conversations == 0
    }
}

/// Calls that rate limits still count.
pub(crate) fn counted_by_rates(catalog: &Catalog, project: &ProjectId, now: Timestamp) -> Vec<CountedCalls> {
    let tools = catalog.list(project);
    let counted = tools.iter().filter_map(|entry| {
        let span = entry.limits().rates.iter().map(|limit| limit.per).max()?;
        Some(CountedCalls { tool: entry.spec().id.to_string(), since: now.before(span) })
    });
    counted.collect()
}

/// Deletes what is older than these keys say, in all projects.
pub(crate) async fn apply(
    app: &App,
    keys: RetentionKeys,
    mode: PruneMode,
) -> Result<Vec<PrunedProject>, StoreError> {
    let now = app.room.clock().now();
    let mut deleted = Vec::new();
    for project in projects(&app.store).await? {
        let before =
            |span: Option<Span>, least: Duration| span.map(|span| now.before(span.duration().max(least)));
        let cutoffs = Cutoffs {
            calls: before(keys.journal, COUNTED_AS_USE),
            counted: counted_by_rates(app.room.catalog(), &project.id, now),
            results: before(keys.artifacts, Duration::ZERO),
            conversations: before(keys.conversations, Duration::ZERO),
        };
        deleted.push(PrunedProject::of(project.id.clone(), cutoffs.prune(app, &project.id, mode).await?));
    }
    Ok(deleted)
}

/// Rows older than these are deleted.
struct Cutoffs {
    calls: Option<Timestamp>,
    counted: Vec<CountedCalls>,
    results: Option<Timestamp>,
    conversations: Option<Timestamp>,
}

impl Cutoffs {
    async fn prune(
        &self,
        app: &App,
        project: &ProjectId,
        mode: PruneMode,
    ) -> Result<PruneReport, StoreError> {
        let store = &app.store;
        let mut total = PruneReport::default();
        if let Some(before) = self.conversations {
            total = total.and(match mode {
                PruneMode::Apply => store.prune_conversations(project, before).await?,
                PruneMode::Preview => store.prune_conversations_preview(project, before).await?,
            });
        }
        if let Some(before) = self.calls {
            total = total.and(match mode {
                PruneMode::Apply => store.prune(project, before, &self.counted).await?,
                PruneMode::Preview => {
                    // Older results are counted below.
                    let since = self.results.unwrap_or(Timestamp::from_micros(0));
                    store.prune_preview(project, before, &self.counted, since).await?
                }
            });
        }
        if let Some(before) = self.results {
            total = total.and(match mode {
                PruneMode::Apply => store.prune_results(project, before).await?,
                PruneMode::Preview => store.prune_results_preview(project, before).await?,
            });
        }
        Ok(total)
    }
}
