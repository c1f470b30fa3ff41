//! What is decided where no rule decides.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much runs unasked where no rule says anything, from lenient to strict.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Only what destroys, what wants to be confirmed, and the third bit of provenance ask.
    Open,
    /// Programs, and writes and outward calls of medium or high risk, ask as well.
    #[default]
    Balanced,
    /// Every write, every program and every outward call asks.
    Careful,
}

impl Preset {
    /// Every preset, from lenient to strict.
    pub const ALL: [Self; 3] = [Self::Open, Self::Balanced, Self::Careful];

    /// The name used in configuration and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Balanced => "balanced",
            Self::Careful => "careful",
        }
    }

    /// The preset of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.as_str() == name)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
