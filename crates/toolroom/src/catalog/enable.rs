//! Whether a tool is switched on.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Catalog, Entry};
use crate::ledger::{SwitchState, Switches};
use crate::nearest::quoted;
use crate::tool::ToolSpec;

/// Why a tool is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Off {
    /// Its own toggle, or its family's, is off.
    Tool {
        /// The name to switch on.
        name: String,
    },
    /// The feature it hangs on is off.
    Feature {
        /// The feature to switch on.
        name: String,
    },
    /// The client did not send what it needs to know.
    Context {
        /// The missing keys.
        missing: Vec<String>,
    },
}

impl Off {
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

impl fmt::Display for Off {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name } => write!(formatter, "`{name}` is switched off"),
            Self::Feature { name } => write!(formatter, "the feature `{name}` is switched off"),
            Self::Context { missing } => write!(formatter, "the context lacks {}", quoted(missing)),
        }
    }
}

impl Serialize for Off {
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
    /// The name under which this tool's toggle is kept, if it has one.
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
    ) -> Result<(), Off> {
        if let Some(name) = &spec.enablement.feature {
            // A feature that was never declared cannot be on: such a tool is refused at registration.
            let default = self.feature(name).is_some_and(|feature| feature.on_by_default);
            if !switches.feature(name).map_or(default, SwitchState::is_on) {
                return Err(Off::Feature { name: name.clone() });
            }
        }
        let on = switches.tool(spec.switch_name()).map_or(spec.enablement.on_by_default, SwitchState::is_on);
        if !on && !spec.enablement.feature_only {
            return Err(Off::Tool { name: spec.switch_name().to_owned() });
        }
        let missing: Vec<String> =
            spec.required_context.iter().filter(|key| is_absent(context.get(*key))).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(Off::Context { missing }) }
    }
}

/// A key that was sent as `null` or as an empty text says nothing.
fn is_absent(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => false,
    }
}
