//! Guards: what asks whatever rules and preset say.

use super::Facts;
use super::facts::PROVENANCE_ROOT;

/// Looks at the facts of every call. An explicit allow lifts its question only if the rule shows that it was written
/// with it in mind: its condition mentions [`Guard::root`]. A standing yes lifts it for one conversation, never for good.
pub(super) struct Guard {
    /// The rule its question counts as.
    pub(super) rule: &'static str,
    /// What a tool does that it is about, whatever the tool.
    pub(super) about: &'static str,
    /// The root name that a condition has to mention.
    pub(super) root: &'static str,
    /// Why a person should see the call, if one should.
    pub(super) asks: fn(&Facts<'_>) -> Option<String>,
}

/// Every guard.
pub(super) const GUARDS: [Guard; 1] = [Guard {
    rule: "provenance.third",
    about: "sends something outward after private data and untrusted content were read",
    root: PROVENANCE_ROOT,
    asks: third_of_three,
}];

fn third_of_three(facts: &Facts<'_>) -> Option<String> {
    let asks = facts.provenance.asks_before(facts.spec.effective_capabilities());
    let to = facts.destination.map(|to| format!(" to `{to}`")).unwrap_or_default();
    asks.then(|| format!("it sends something{to}, and private data and untrusted content were read before"))
}

/// Whether a rule's question is asked each time, so that no answer can settle it for good.
#[must_use]
pub fn asks_each_time(rule: &str) -> bool {
    GUARDS.iter().any(|guard| guard.rule == rule)
}
