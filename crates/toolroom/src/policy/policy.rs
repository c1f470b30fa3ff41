//! A preset and rules, and what they make of a call.

use std::collections::HashSet;

use super::facts::{Case, PROVENANCE_ROOT};
use super::tally::Tally;
use super::trace::{Record, Unrecorded};
use super::{Answers, Facts, Preset, Rule, RuleError, Ruling, Trace, Verdict};

/// What may run, what asks and what is forbidden. The room's documentation says how it decides.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    preset: Preset,
    rules: Vec<Rule>,
}

impl Policy {
    /// A policy of these rules, in this order, and a preset for what no rule is about.
    ///
    /// # Errors
    /// When two rules have the same id.
    pub fn new(preset: Preset, rules: Vec<Rule>) -> Result<Self, RuleError> {
        let mut ids = HashSet::new();
        match rules.iter().find(|rule| !ids.insert(rule.id())) {
            Some(rule) => Err(RuleError::Duplicate { id: rule.id().to_owned() }),
            None => Ok(Self { preset, rules }),
        }
    }

    /// This policy with what somebody adds who may only narrow it: the stricter preset, and their rules that ask or
    /// deny, each under a free name. Rules that allow are not taken but given back, so that a person can be told.
    #[must_use]
    pub fn narrowed_by(mut self, preset: Option<Preset>, rules: Vec<Rule>) -> (Self, Vec<Rule>) {
        self.preset = self.preset.max(preset.unwrap_or(self.preset));
        let mut ignored = Vec::new();
        for rule in rules {
            match rule.text().effect {
                Ruling::Allow => ignored.push(rule),
                Ruling::Ask | Ruling::Deny => {
                    let rule = rule.renamed(|id| self.rules.iter().any(|other| other.id() == id));
                    self.rules.push(rule);
                }
            }
        }
        (self, ignored)
    }

    /// What is decided where no rule decides.
    #[must_use]
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// The rules in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a rule has a condition on what was read and sent before.
    pub(crate) fn looks_at_provenance(&self) -> bool {
        self.rules.iter().any(|rule| rule.mentions(PROVENANCE_ROOT))
    }

    /// What becomes of a call.
    #[must_use]
    pub fn verdict(&self, facts: &Facts<'_>, answers: &Answers) -> Verdict {
        self.judge(facts, answers, &mut Unrecorded)
    }

    /// What becomes of a call, and what every rule had to do with it.
    #[must_use]
    pub fn trace(&self, facts: &Facts<'_>, answers: &Answers) -> Trace {
        let mut tried = Vec::new();
        let verdict = self.judge(facts, answers, &mut tried);
        Trace::settled(verdict, tried)
    }

    fn judge<R: Record>(&self, facts: &Facts<'_>, answers: &Answers, record: &mut R) -> Verdict {
        let case = Case::new(facts);
        let mut tally = Tally::new(&case, record);
        for rule in &self.rules {
            tally.hear_rule(rule);
            // The first deny decides. Conditions may be costly, and somebody else's file may hold many of them.
            if tally.is_denied() && !R::EVERYTHING {
                return tally.conclude();
            }
        }
        tally.hear_preset(self.preset);
        tally.hear_guards();
        answers.about(facts).for_each(|answer| tally.hear_answer(answer));
        tally.conclude()
    }
}
