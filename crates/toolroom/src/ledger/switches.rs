//! Switches of one project.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchState {
    /// On.
    On,
    /// Off.
    Off,
}

impl SwitchState {
    /// The name used in records and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }

    /// Whether it is on.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}

impl fmt::Display for SwitchState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Every switch that was set. Others keep their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches {
    tools: HashMap<String, SwitchState>,
    features: HashMap<String, SwitchState>,
}

impl Switches {
    /// Records a tool's toggle; a family has one for all its variants.
    pub fn set_tool(&mut self, name: &str, state: SwitchState) {
        self.tools.insert(name.to_owned(), state);
    }

    /// Records a feature's switch.
    pub fn set_feature(&mut self, name: &str, state: SwitchState) {
        self.features.insert(name.to_owned(), state);
    }

    /// The toggle of a tool or family, if it was set.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<SwitchState> {
        self.tools.get(name).copied()
    }

    /// Every toggle that was set, by tool or family.
    #[must_use]
    pub fn tools(&self) -> BTreeMap<&str, SwitchState> {
        self.tools.iter().map(|(name, state)| (name.as_str(), *state)).collect()
    }

    /// Every feature switch that was set, by name.
    #[must_use]
    pub fn features(&self) -> BTreeMap<&str, SwitchState> {
        self.features.iter().map(|(name, state)| (name.as_str(), *state)).collect()
    }

    /// The switch of a feature, if it was set.
    #[must_use]
    pub fn feature(&self, name: &str) -> Option<SwitchState> {
        self.features.get(name).copied()
    }
}
