//! A preset and rules, and the verdicts they give.

use std::collections::HashSet;

use super::answers::ParsedAnswer;
use super::facts::{ARGUMENTS, EvaluationContext, PROVENANCE_ROOT};
use super::trace::{NoTrace, TraceSink};
use super::verdict_builder::VerdictBuilder;
use super::{Answers, Facts, Preset, Rule, RuleError, Ruling, Trace, Verdict};

/// Decides which calls run, ask or are denied; the module's documentation says how.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    preset: Preset,
    rules: Vec<Rule>,
}

/// The verdict on calls of one tool as far as it is known without their arguments. The tool's own judgement may still
/// tighten it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictPreview {
    /// The verdict where nothing of [`VerdictPreview::depends_on`] applies.
    pub verdict: Verdict,
    /// Rules, then standing answers, whose conditions read the arguments. Empty if all calls are denied anyway.
    pub depends_on: Vec<String>,
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

    /// This policy with additions from a source that may only narrow it: the stricter preset, and the rules that ask or
    /// deny, each under a free name. Returns the rules that allow unused, so that a caller can report them.
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

    /// The preset.
    #[must_use]
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// The rules in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a condition mentions provenance.
    pub(crate) fn looks_at_provenance(&self) -> bool {
        self.rules.iter().any(|rule| rule.mentions(PROVENANCE_ROOT))
    }

    /// The verdict on a call.
    #[must_use]
    pub fn verdict(&self, facts: &Facts<'_>, answers: &Answers) -> Verdict {
        self.judge(facts, answers, &mut NoTrace)
    }

    /// The verdict on a call, with the finding of every rule.
    #[must_use]
    pub fn trace(&self, facts: &Facts<'_>, answers: &Answers) -> Trace {
        let mut tried = Vec::new();
        let verdict = self.judge(facts, answers, &mut tried);
        Trace::settled(verdict, tried)
    }

    /// The verdict on calls of a tool with any arguments. Ignores the arguments of the facts.
    #[must_use]
    pub fn preview(&self, facts: &Facts<'_>, answers: &Answers) -> VerdictPreview {
        let context = EvaluationContext::new(facts);
        let mut no_trace = NoTrace;
        let mut builder = VerdictBuilder::new(&context, &mut no_trace);
        let mut depends_on = Vec::new();
        for rule in self.rules().iter().filter(|rule| rule.is_about(&context)) {
            match rule.mentions(ARGUMENTS) {
                true => depends_on.push(rule.id().to_owned()),
                false => builder.apply_rule(rule),
            }
        }
        builder.apply_preset(self.preset());
        builder.apply_guards();
        for parsed in answers.for_call(facts) {
            match reads_arguments(parsed) {
                true if parsed.mismatch(facts).is_none() => depends_on.push(parsed.answer.id.to_string()),
                true => {}
                false => builder.apply_answer(parsed),
            }
        }
        let verdict = builder.build();
        if verdict.ruling == Ruling::Deny {
            depends_on.clear();
        }
        VerdictPreview { verdict, depends_on }
    }

    fn judge<R: TraceSink>(&self, facts: &Facts<'_>, answers: &Answers, record: &mut R) -> Verdict {
        let context = EvaluationContext::new(facts);
        let mut builder = VerdictBuilder::new(&context, record);
        for rule in &self.rules {
            builder.apply_rule(rule);
            // Conditions may be costly, and an untrusted project file may hold many of them.
            if builder.is_denied() && !R::COMPLETE {
                return builder.build();
            }
        }
        builder.apply_preset(self.preset);
        builder.apply_guards();
        answers.for_call(facts).for_each(|answer| builder.apply_answer(answer));
        builder.build()
    }
}

/// An answer that is neither yes nor no denies, regardless of its condition.
fn reads_arguments(parsed: &ParsedAnswer) -> bool {
    parsed.answer.effect != Ruling::Ask && parsed.mentions(ARGUMENTS)
}
