//! What becomes of calls whose arguments nobody knows yet.

use super::answers::ReadAnswer;
use super::facts::{ARGUMENTS, Case};
use super::tally::Tally;
use super::trace::Unrecorded;
use super::{Answers, Facts, Policy, Ruling, Verdict};

/// What a policy makes of the calls of one tool, as far as that can be told without their arguments. The tool's own
/// judgement may still make a call stricter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// What is decided where nothing of [`Outlook::depends_on`] applies.
    pub verdict: Verdict,
    /// Rules, then standing answers, whose conditions look at the arguments, so that some calls may be decided
    /// otherwise. Empty if all calls are denied anyway.
    pub depends_on: Vec<String>,
}

impl Policy {
    /// What becomes of calls of a tool, whatever their arguments are: those of the facts are not looked at.
    #[must_use]
    pub fn outlook(&self, facts: &Facts<'_>, answers: &Answers) -> Outlook {
        let case = Case::new(facts);
        let mut nothing = Unrecorded;
        let mut tally = Tally::new(&case, &mut nothing);
        let mut depends_on = Vec::new();
        for rule in self.rules().iter().filter(|rule| rule.is_about(&case)) {
            match rule.mentions(ARGUMENTS) {
                true => depends_on.push(rule.id().to_owned()),
                false => tally.hear_rule(rule),
            }
        }
        tally.hear_preset(self.preset());
        tally.hear_guards();
        for read in answers.about(facts) {
            match read.looks_at_arguments() {
                true if read.elsewhere(facts).is_none() => depends_on.push(read.answer.id.to_string()),
                true => {}
                false => tally.hear_answer(read),
            }
        }
        let verdict = tally.conclude();
        if verdict.ruling == Ruling::Deny {
            depends_on.clear();
        }
        Outlook { verdict, depends_on }
    }
}

impl ReadAnswer {
    /// An answer that says neither yes nor no denies, whatever its condition.
    fn looks_at_arguments(&self) -> bool {
        self.answer.effect != Ruling::Ask && self.mentions(ARGUMENTS)
    }
}
