//! One tool with all that is known of it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::catalog::{Catalog, Entry, NotFound, ToggleError};
use toolroom::scope::ProjectId;
use toolroom::tool::ToolSpec;

/// A tool: its definition, with the limits that hold here.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub(crate) struct ToolDocument {
    /// What it is, with what the operator made of its own limits.
    #[serde(flatten)]
    spec: ToolSpec,
    /// Whether it is on.
    enabled: bool,
    /// Changes with the definition.
    definition_hash: Arc<str>,
    /// Patterns of the schema that are not held against arguments.
    patterns_not_enforced: Vec<String>,
}

impl ToolDocument {
    pub(crate) fn of(entry: &Entry, enabled: bool) -> Self {
        let limits = entry.limits();
        let mut spec = entry.spec().clone();
        spec.timeout = limits.timeout.clone();
        spec.result_cap = limits.result_cap;
        spec.rates.clone_from(&limits.rates);
        spec.concurrency = limits.concurrency;
        Self {
            spec,
            enabled,
            definition_hash: entry.definition_hash(),
            patterns_not_enforced: entry.patterns_not_enforced().to_vec(),
        }
    }
}

/// Why there is nothing to switch.
#[derive(Debug)]
pub(crate) enum NoToggle {
    /// No tool has that name.
    Unknown(NotFound),
    /// Only its feature is switched.
    FeatureOnly(ToggleError),
}

/// What is switched when a tool is: its own toggle, or that of its family, which may also be named itself.
pub(crate) fn toggle_name(catalog: &Catalog, project: &ProjectId, name: &str) -> Result<String, NoToggle> {
    let is_family =
        |entry: &Arc<Entry>| entry.spec().family.as_ref().is_some_and(|family| family.name == name);
    if catalog.list(project).iter().any(is_family) {
        return Ok(name.to_owned());
    }
    let entry = catalog.find(project, name).map_err(NoToggle::Unknown)?;
    entry.toggle().map(str::to_owned).map_err(NoToggle::FeatureOnly)
}
