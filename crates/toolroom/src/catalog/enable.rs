//! Switches: features, toggles of tools, and whether a tool is available.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Catalog, Entry};
use crate::ledger::{SwitchState, Switches};
use crate::nearest::quoted;
use crate::scope::ProjectId;
use crate::tool::{ToolId, ToolSpec};

/// A switch for several tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// What is behind it, for people.
    pub description: &'static str,
    /// Whether it is on by default.
    pub on_by_default: bool,
}

/// The features of the built-in tools, by name.
pub const FEATURES: &[Feature] = &[
    Feature {
        name: "email",
        description: "read and write mail through configured accounts",
        on_by_default: true,
    },
    Feature { name: "memory", description: "remember things between conversations", on_by_default: true },
    Feature { name: "scheduling", description: "timed tasks and the heartbeat", on_by_default: true },
];

/// One tool on a settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolLine {
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
    pub off: Option<Unavailable>,
}

/// Why a tool is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// Its own toggle, or its family's, is off.
    Tool {
        /// The name to switch on.
        name: String,
    },
    /// Its feature is off.
    Feature {
        /// The feature to switch on.
        name: String,
    },
    /// The client's context lacks keys the tool needs.
    Context {
        /// The missing keys.
        missing: Vec<String>,
    },
}

impl Unavailable {
    /// The rule this counts as in a journal row.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool.off",
            Self::Feature { .. } => "feature.off",
            Self::Context { .. } => "context.missing",
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name } => write!(formatter, "`{name}` is switched off"),
            Self::Feature { name } => write!(formatter, "the feature `{name}` is switched off"),
            Self::Context { missing } => write!(formatter, "the context is missing {}", quoted(missing)),
        }
    }
}

impl Serialize for Unavailable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a toggle was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` has no toggle of its own; switch the feature `{feature}`")]
pub struct ToggleError {
    /// The tool.
    pub tool: String,
    /// The feature that switches it.
    pub feature: String,
}

impl Entry {
    /// The name of this tool's toggle, if it has one.
    pub fn toggle(&self) -> Result<&str, ToggleError> {
        let spec = self.spec();
        match &spec.enablement.feature {
            Some(feature) if spec.enablement.feature_only => {
                Err(ToggleError { tool: spec.id.to_string(), feature: feature.clone() })
            }
            _ => Ok(spec.switch_name()),
        }
    }
}

impl Catalog {
    /// Whether a tool is on, as far as switches and the client's context decide.
    pub fn check_enabled(
        &self,
        spec: &ToolSpec,
        switches: &Switches,
        context: &Map<String, Value>,
    ) -> Result<(), Unavailable> {
        if let Some(name) = &spec.enablement.feature {
            // A feature that was never declared cannot be on: such a tool is refused at registration.
            let default = self.feature(name).is_some_and(|feature| feature.on_by_default);
            if !switches.feature(name).map_or(default, SwitchState::is_on) {
                return Err(Unavailable::Feature { name: name.clone() });
            }
        }
        let on = switches.tool(spec.switch_name()).map_or(spec.enablement.on_by_default, SwitchState::is_on);
        if !on && !spec.enablement.feature_only {
            return Err(Unavailable::Tool { name: spec.switch_name().to_owned() });
        }
        let missing: Vec<String> =
            spec.required_context.iter().filter(|key| is_absent(context.get(*key))).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(Unavailable::Context { missing }) }
    }

    /// Every tool of a project, by id. Missing context does not count: it depends on the client.
    #[must_use]
    pub fn tool_lines(&self, project: &ProjectId, switches: &Switches, language: &str) -> Vec<ToolLine> {
        let show = |entry: &Entry| {
            let spec = entry.spec();
            let text = spec.text(language);
            let off = match self.check_enabled(spec, switches, &Map::new()) {
                Ok(()) | Err(Unavailable::Context { .. }) => None,
                Err(off) => Some(off),
            };
            ToolLine {
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

/// A key with `null` or an empty text counts as absent.
fn is_absent(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => false,
    }
}
