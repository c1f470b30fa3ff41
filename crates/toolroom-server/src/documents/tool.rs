//! One tool with all that is known of it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolroom::catalog::{Catalog, Entry, NotFound, ToggleError};
use toolroom::scope::ProjectId;

/// A tool: its definition, with the limits that hold here.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub(crate) struct ToolDocument {
    /// Its full id.
    id: String,
    /// What people call it.
    title: String,
    /// What it does.
    description: String,
    /// JSON Schema of its arguments.
    parameters: Value,
    /// Whether it is on.
    enabled: bool,
    /// Changes with the definition.
    definition_hash: Arc<str>,
    /// Patterns of the schema that are not held against arguments.
    patterns_not_enforced: Vec<String>,
    /// Everything else that its definition says.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ToolDocument {
    pub(crate) fn of(entry: &Entry, enabled: bool) -> serde_json::Result<Self> {
        let spec = entry.spec();
        let mut rest = match serde_json::to_value(spec)? {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        for named in ["id", "title", "description", "parameters"] {
            rest.remove(named);
        }
        // What the operator made of the tool's own limits.
        let limits = entry.limits();
        rest.insert("timeout".into(), serde_json::to_value(&limits.timeout)?);
        rest.insert("result_cap".into(), limits.result_cap.into());
        rest.insert("rates".into(), serde_json::to_value(&limits.rates)?);
        rest.insert("concurrency".into(), limits.concurrency.into());
        Ok(Self {
            id: spec.id.to_string(),
            title: spec.title.clone(),
            description: spec.description.clone(),
            parameters: Value::clone(&spec.parameters),
            enabled,
            definition_hash: entry.definition_hash(),
            patterns_not_enforced: entry.patterns_not_enforced().to_vec(),
            rest,
        })
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
