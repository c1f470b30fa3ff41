//! A policy that asks nobody.

use crate::policy::{Policy, Preset, Rule, RuleText, Ruling};

/// Lets every call run, by the rule `bench`. For tests of a tool's own work, where nobody is there to be asked; a tool's
/// own judgement still counts.
#[must_use]
pub fn unguarded() -> Policy {
    let everything = RuleText {
        id: "bench".to_owned(),
        effect: Ruling::Allow,
        tool: "*".to_owned(),
        // Mentions provenance, so that it speaks for the third bit as well.
        when: Some("provenance.private or true".to_owned()),
        by: None,
        reason: None,
        matches: Vec::new(),
        not_matches: Vec::new(),
    };
    let policy = Rule::new(everything).and_then(|rule| Policy::new(Preset::Open, vec![rule]));
    // The rule is one, a test says so; were it none, everything would be asked about.
    policy.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_asks() {
        assert_eq!(unguarded().rules().len(), 1);
    }
}
