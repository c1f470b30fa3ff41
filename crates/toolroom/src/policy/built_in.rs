//! The built-in rules: guards, which ask regardless of rules and preset, and the list of all questions Toolroom asks itself.

use super::facts::PROVENANCE_ROOT;
use super::preset::CONCERNS;
use super::{Facts, Preset};
use crate::tool::Risk;

/// Checks the facts of every call. A rule that allows lifts its question only if the condition mentions
/// [`Guard::root`]; a standing yes lifts it for one conversation, never for good.
pub(super) struct Guard {
    /// The rule its question counts as.
    pub(super) rule: &'static str,
    /// Completes "asks before a tool that".
    pub(super) about: &'static str,
    /// The root name that a condition has to mention.
    pub(super) root: &'static str,
    /// Why a person should see the call, if they should.
    pub(super) asks: fn(&Facts<'_>) -> Option<String>,
}

/// Every guard.
pub(super) const GUARDS: [Guard; 1] = [Guard {
    rule: "provenance.third",
    about: "sends something outward after private data and untrusted content were read",
    root: PROVENANCE_ROOT,
    asks: sends_after_private_and_untrusted,
}];

fn sends_after_private_and_untrusted(facts: &Facts<'_>) -> Option<String> {
    let asks = facts.provenance.asks_before(facts.spec.effective_capabilities());
    let to = facts.destination.map(|to| format!(" to `{to}`")).unwrap_or_default();
    asks.then(|| format!("it sends something{to}, and private data and untrusted content were read before"))
}

/// Whether a rule's question is asked each time, so that no standing answer lifts it for good.
#[must_use]
pub fn asks_each_time(rule: &str) -> bool {
    GUARDS.iter().any(|guard| guard.rule == rule)
}

/// A question that a preset or a guard asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInRule {
    /// Its id.
    pub id: &'static str,
    /// Completes "asks before a tool that".
    pub about: &'static str,
    /// The lowest risk it asks about; `None` if it never asks.
    pub minimum_risk: Option<Risk>,
}

impl BuiltInRule {
    /// How often it asks, for users.
    #[must_use]
    pub const fn how_often(&self) -> &'static str {
        match self.minimum_risk {
            None => "never",
            Some(Risk::Low) => "always",
            Some(Risk::Medium) => "medium or high risk",
            Some(Risk::High) => "high risk",
        }
    }
}

impl Preset {
    /// Every built-in rule under this preset, including those that never ask.
    pub fn built_in(self) -> impl Iterator<Item = BuiltInRule> {
        let concerns = CONCERNS.iter().map(move |concern| BuiltInRule {
            id: concern.rule,
            about: concern.about,
            minimum_risk: (concern.minimum_risk)(self),
        });
        let guards = GUARDS.iter().map(|guard| BuiltInRule {
            id: guard.rule,
            about: guard.about,
            minimum_risk: Some(Risk::Low),
        });
        concerns.chain(guards)
    }
}
