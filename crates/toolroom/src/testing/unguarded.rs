//! A policy that allows every call.

use crate::policy::{Policy, Preset, Rule, RuleText, Ruling};

/// Allows every call by the rule `bench`. For tests of a tool itself; the tool's own judgement still counts.
#[must_use]
pub fn unguarded() -> Policy {
    let everything = RuleText {
        id: "bench".to_owned(),
        effect: Ruling::Allow,
        tool: "*".to_owned(),
        // Mentions provenance, so that it also lifts the provenance guard.
        when: Some("provenance.private or true".to_owned()),
        by: None,
        reason: None,
        matches: Vec::new(),
        not_matches: Vec::new(),
    };
    let policy = Rule::new(everything).and_then(|rule| Policy::new(Preset::Open, vec![rule]));
    // A test checks that the rule is valid.
    policy.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Answers, Facts, Provenance};
    use crate::scope::Scope;
    use crate::tool::{Arguments, Effect, Risk, ToolSpec};

    /// The verdict on a call of the most dangerous tool.
    fn judged(policy: &Policy, provenance: Provenance) -> (Ruling, String) {
        // Without capabilities of its own it counts as having all of them.
        let mut spec = ToolSpec::new("app:wipe", "Wipes.").unwrap().effect(Effect::Destructive);
        spec.risk = Risk::High;
        spec.requires_confirmation = true;
        let (arguments, scope) = (Arguments::new(), Scope::default());
        let facts = Facts {
            spec: &spec,
            arguments: &arguments,
            scope: &scope,
            entrance: "bench",
            thread: None,
            provenance,
            origin: None,
            destination: None,
            definition: "",
        };
        let verdict = policy.verdict(&facts, &Answers::default());
        (verdict.ruling, verdict.rule.into_owned())
    }

    #[test]
    fn nothing_asks() {
        for bits in 0..8 {
            let provenance = Provenance {
                private: bits & 1 > 0,
                untrusted: bits & 2 > 0,
                outward: bits & 4 > 0,
                ..Provenance::NONE
            };
            assert_eq!(
                judged(&unguarded(), provenance),
                (Ruling::Allow, "bench".to_owned()),
                "{provenance:?}"
            );
            assert_eq!(judged(&Policy::default(), provenance).0, Ruling::Ask, "what would ask otherwise");
        }
    }
}
