//! What a settings page shows of the tools, switched on or not.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use super::{Catalog, Off};
use crate::ledger::Switches;
use crate::scope::ProjectId;
use crate::tool::ToolId;

/// One tool on a settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ToolLine")]
pub struct Display {
    /// The tool.
    pub id: ToolId,
    /// Name in the wanted language.
    pub name: String,
    /// Description in the wanted language.
    pub description: String,
    /// Whether it is on.
    pub enabled: bool,
    /// Whether it has a toggle of its own.
    pub toggleable: bool,
    /// Why it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub off: Option<Off>,
}

impl Catalog {
    /// Every tool of a project, by id. What a client would have to send along is no matter of settings.
    #[must_use]
    pub fn display(&self, project: &ProjectId, switches: &Switches, language: &str) -> Vec<Display> {
        let show = |entry: &super::Entry| {
            let spec = entry.spec();
            let text = spec.text(language);
            let off = match self.check_enabled(spec, switches, &Map::new()) {
                Ok(()) | Err(Off::Context { .. }) => None,
                Err(off) => Some(off),
            };
            Display {
                id: spec.id.clone(),
                name: text.title,
                description: text.description,
                enabled: off.is_none(),
                toggleable: entry.toggle().is_ok(),
                off,
            }
        };
        self.list(project).iter().map(|entry| show(entry)).collect()
    }
}
