//! What is decided where no rule decides.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Capability, Effect, Risk, ToolSpec};

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

/// Something about a tool that a preset may want a person to see.
pub(super) struct Concern {
    /// The rule a question counts as if this is its gravest concern.
    pub(super) rule: &'static str,
    /// What a tool does that it is about, whatever the tool.
    pub(super) about: &'static str,
    /// The risk from which on a preset minds.
    pub(super) from_risk: fn(Preset) -> Option<Risk>,
    /// Whether it is about what somebody wants to see, not about what may happen.
    is_wish: bool,
    /// What there is to say about this tool.
    tells: fn(&ToolSpec) -> Option<&'static str>,
}

/// Every concern, gravest first. A preset asks one question about a tool; it is named by the gravest concern and
/// tells all of them.
pub(super) const CONCERNS: [Concern; 5] = [
    Concern {
        rule: "default.confirmation",
        about: "wants to be confirmed",
        from_risk: always,
        is_wish: true,
        tells: confirmation,
    },
    Concern {
        rule: "default.destructive",
        about: "may destroy something, or does not say what it does",
        from_risk: always,
        is_wish: false,
        tells: destructive,
    },
    Concern {
        rule: "default.exec",
        about: "starts programs",
        from_risk: always_unless_open,
        is_wish: false,
        tells: exec,
    },
    Concern {
        rule: "default.write",
        about: "changes something",
        from_risk: by_risk,
        is_wish: false,
        tells: write,
    },
    Concern {
        rule: "default.egress",
        about: "sends something outward",
        from_risk: by_risk,
        is_wish: false,
        tells: egress,
    },
];

impl Concern {
    /// What there is to say about the tool, if the preset minds.
    pub(super) fn tell(&self, preset: Preset, spec: &ToolSpec) -> Option<&'static str> {
        let minds = (self.from_risk)(preset).is_some_and(|least| spec.risk >= least);
        // A sandbox bounds what is done, not what somebody wants to see.
        let is_bounded = spec.confined && preset != Preset::Careful && !self.is_wish;
        (minds && !is_bounded).then(|| (self.tells)(spec)).flatten()
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
    let says_so = spec.effect == Some(Effect::Destructive)
        || spec.capabilities.is_some_and(|capabilities| capabilities.has(Capability::Destructive));
    let is_silent = spec.effect.is_none() || spec.capabilities.is_none();
    match (says_so, is_silent) {
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
    /// Every concern about a tool in one sentence.
    pub(super) fn reason(self, spec: &ToolSpec) -> String {
        let mut words: Vec<&str> = CONCERNS.iter().filter_map(|concern| concern.tell(self, spec)).collect();
        match spec.risk {
            Risk::Low => {}
            Risk::Medium => words.push("its risk is medium"),
            Risk::High => words.push("its risk is high"),
        }
        let last = words.pop().unwrap_or_default();
        let and = if words.is_empty() { "" } else { " and " };
        format!("`{}` {}{and}{last}", spec.id.bare(), words.join(", "))
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
