//! Presets: the verdict where no rule decides.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Capability, Effect, Risk, ToolSpec};

/// Which calls ask where no rule decides, from lenient to strict.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Destructive tools, tools that require confirmation, and the provenance guard ask.
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

/// A property of a tool that a preset may ask about.
pub(super) struct Concern {
    /// The rule a question counts as if this is its first concern.
    pub(super) rule: &'static str,
    /// Completes "asks before a tool that".
    pub(super) about: &'static str,
    /// The lowest risk a preset asks about.
    pub(super) minimum_risk: fn(Preset) -> Option<Risk>,
    /// Whether it is the tool author's request, which a sandbox does not satisfy.
    asked_for_by_tool: bool,
    /// The reason, if it applies to this tool.
    describe: fn(&ToolSpec) -> Option<&'static str>,
}

/// Every concern, most serious first. A preset asks one question about a tool, named by its first concern, with the reasons
/// of all.
pub(super) const CONCERNS: [Concern; 5] = [
    Concern {
        rule: "default.confirmation",
        about: "wants to be confirmed",
        minimum_risk: always,
        asked_for_by_tool: true,
        describe: confirmation,
    },
    Concern {
        rule: "default.destructive",
        about: "may destroy something, or does not say what it does",
        minimum_risk: always,
        asked_for_by_tool: false,
        describe: destructive,
    },
    Concern {
        rule: "default.exec",
        about: "starts programs",
        minimum_risk: always_unless_open,
        asked_for_by_tool: false,
        describe: exec,
    },
    Concern {
        rule: "default.write",
        about: "changes something",
        minimum_risk: by_risk,
        asked_for_by_tool: false,
        describe: write,
    },
    Concern {
        rule: "default.egress",
        about: "sends something outward",
        minimum_risk: by_risk,
        asked_for_by_tool: false,
        describe: egress,
    },
];

impl Concern {
    /// The reason to ask about the tool under this preset, if there is one.
    pub(super) fn reason(&self, preset: Preset, spec: &ToolSpec) -> Option<&'static str> {
        let is_risky = (self.minimum_risk)(preset).is_some_and(|least| spec.risk >= least);
        let sandbox_is_enough = spec.confined && preset != Preset::Careful && !self.asked_for_by_tool;
        (is_risky && !sandbox_is_enough).then(|| (self.describe)(spec)).flatten()
    }
}

fn always(_: Preset) -> Option<Risk> {
    Some(Risk::Low)
}

fn always_unless_open(preset: Preset) -> Option<Risk> {
    match preset {
        Preset::Open => None,
        Preset::Balanced | Preset::Careful => Some(Risk::Low),
    }
}

fn by_risk(preset: Preset) -> Option<Risk> {
    match preset {
        Preset::Open => None,
        Preset::Balanced => Some(Risk::Medium),
        Preset::Careful => Some(Risk::Low),
    }
}

fn confirmation(spec: &ToolSpec) -> Option<&'static str> {
    spec.requires_confirmation.then_some("wants to be confirmed")
}

fn destructive(spec: &ToolSpec) -> Option<&'static str> {
    let is_declared = spec.effect == Some(Effect::Destructive)
        || spec.capabilities.is_some_and(|capabilities| capabilities.has(Capability::Destructive));
    let is_undeclared = spec.effect.is_none() || spec.capabilities.is_none();
    match (is_declared, is_undeclared) {
        (true, _) => Some("may destroy something"),
        (false, true) => Some("does not say what it does and so counts as destructive"),
        (false, false) => None,
    }
}

fn exec(spec: &ToolSpec) -> Option<&'static str> {
    spec.effective_capabilities().has(Capability::Exec).then_some("starts programs")
}

fn write(spec: &ToolSpec) -> Option<&'static str> {
    let writes = spec.effective_effect().writes() || spec.effective_capabilities().has(Capability::Writes);
    writes.then_some("changes something")
}

fn egress(spec: &ToolSpec) -> Option<&'static str> {
    spec.effective_capabilities().has(Capability::Egress).then_some("sends something outward")
}

impl Preset {
    /// The reasons of all concerns about a tool in one sentence.
    pub(super) fn reason(self, spec: &ToolSpec) -> String {
        let mut reasons: Vec<&str> =
            CONCERNS.iter().filter_map(|concern| concern.reason(self, spec)).collect();
        match spec.risk {
            Risk::Low => {}
            Risk::Medium => reasons.push("its risk is medium"),
            Risk::High => reasons.push("its risk is high"),
        }
        let last = reasons.pop().unwrap_or_default();
        let and = if reasons.is_empty() { "" } else { " and " };
        format!("`{}` {}{and}{last}", spec.id.bare(), reasons.join(", "))
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
