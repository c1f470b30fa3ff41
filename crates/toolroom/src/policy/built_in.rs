//! The rules that are part of Toolroom, for those who list them.

use super::Preset;
use super::guard::GUARDS;
use super::preset::CONCERNS;
use crate::tool::Risk;

/// A question that a preset or a guard asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInRule {
    /// Its id.
    pub id: &'static str,
    /// What a tool does that is asked about; continues "asks before a tool that".
    pub about: &'static str,
    /// The risk from which on it asks; `None` if it never does.
    pub from_risk: Option<Risk>,
}

impl BuiltInRule {
    /// How often it asks, in words.
    #[must_use]
    pub const fn how_often(&self) -> &'static str {
        match self.from_risk {
            None => "never",
            Some(Risk::Low) => "always",
            Some(Risk::Medium) => "medium or high risk",
            Some(Risk::High) => "high risk",
        }
    }
}

impl Preset {
    /// Every built-in rule under this preset, those that never ask among them.
    pub fn built_in(self) -> impl Iterator<Item = BuiltInRule> {
        let concerns = CONCERNS.iter().map(move |concern| BuiltInRule {
            id: concern.rule,
            about: concern.about,
            from_risk: (concern.from_risk)(self),
        });
        // A guard asks whatever the preset.
        let guards = GUARDS.iter().map(|guard| BuiltInRule {
            id: guard.rule,
            about: guard.about,
            from_risk: Some(Risk::Low),
        });
        concerns.chain(guards)
    }
}
