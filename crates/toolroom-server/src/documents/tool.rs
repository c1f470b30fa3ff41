//! Tool definitions.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::catalog::{Catalog, Entry, NotFound, ToggleError};
use toolroom::scope::ProjectId;
use toolroom::tool::ToolSpec;

/// A tool definition with the limits in effect.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub(crate) struct ToolDocument {
    /// The definition, with configured limits.
    #[serde(flatten)]
    spec: ToolSpec,
    /// Whether the tool is switched on.
    enabled: bool,
    /// Hash of the definition.
    definition_hash: Arc<str>,
    /// Schema patterns that are not enforced.
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

/// Why a tool has no toggle.
#[derive(Debug)]
pub(crate) enum ToggleNameError {
    /// Unknown tool.
    Unknown(NotFound),
    /// Only its feature can be switched.
    FeatureOnly(ToggleError),
}

/// The toggle of a tool or family: its own, or that of its family.
pub(crate) fn toggle_name(
    catalog: &Catalog,
    project: &ProjectId,
    name: &str,
) -> Result<String, ToggleNameError> {
    let is_family =
        |entry: &Arc<Entry>| entry.spec().family.as_ref().is_some_and(|family| family.name == name);
    if catalog.list(project).iter().any(is_family) {
        return Ok(name.to_owned());
    }
    let entry = catalog.find(project, name).map_err(ToggleNameError::Unknown)?;
    entry.toggle().map(str::to_owned).map_err(ToggleNameError::FeatureOnly)
}
