//! What the operator wants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::policy::Ruling;

use super::allowlist::Entry;
use super::finding::Weight;

/// How careful commands are judged, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Security {
    /// Only dangers are refused, and only what nobody can judge asks.
    Open,
    /// Risky commands ask.
    #[default]
    Cautious,
    /// Only what the allow-list names runs.
    Strict,
}

impl Security {
    /// The name used in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Cautious => "cautious",
            Self::Strict => "strict",
        }
    }

    /// What follows from a finding of this weight.
    pub(super) const fn ruling(self, weight: Weight) -> Ruling {
        match (self, weight) {
            (_, Weight::Danger) | (Self::Strict, Weight::Opaque | Weight::Touch) => Ruling::Deny,
            (Self::Open | Self::Cautious, Weight::Opaque) | (Self::Cautious, _) => Ruling::Ask,
            // What the list names is the operator's own decision.
            (Self::Strict, Weight::Risk) | (Self::Open, _) => Ruling::Allow,
        }
    }
}

/// How commands are judged.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `exec_security`
    pub security: Security,
    /// `exec_allowlist`; counts in strict mode.
    pub allowlist: Vec<Entry>,
}
