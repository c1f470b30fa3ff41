//! The operator's settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::policy::Ruling;

use super::allowlist::AllowlistEntry;
use super::report::ConcernLevel;

/// How strictly commands are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Security {
    /// Dangers are refused; only commands that cannot be analysed need approval.
    Open,
    /// Risky commands need approval.
    #[default]
    Cautious,
    /// Only commands on the allow-list run.
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

    /// The ruling for a concern of this level.
    pub(super) const fn ruling(self, weight: ConcernLevel) -> Ruling {
        match (self, weight) {
            (_, ConcernLevel::Danger) | (Self::Strict, ConcernLevel::Opaque | ConcernLevel::Touch) => {
                Ruling::Deny
            }
            (Self::Open | Self::Cautious, ConcernLevel::Opaque) | (Self::Cautious, _) => Ruling::Ask,
            // The operator decides what is on the list.
            (Self::Strict, ConcernLevel::Risk) | (Self::Open, _) => Ruling::Allow,
        }
    }
}

/// How commands are judged.
#[derive(Debug, Clone, Default)]
pub struct JudgeSettings {
    /// `exec_security`
    pub security: Security,
    /// `exec_allowlist`; counts in strict mode.
    pub allowlist: Vec<AllowlistEntry>,
}
