//! Combines rules, preset, guards and standing answers into the verdict on one call.

use std::borrow::Cow;

use super::answers::ParsedAnswer;
use super::built_in::{GUARDS, Guard};
use super::facts::EvaluationContext;
use super::preset::{CONCERNS, Concern};
use super::rule::{Rule, RuleMatch};
use super::trace::TraceSink;
use super::{DEFAULT_RULE, Finding, Preset, Ruling, Verdict};
use crate::ledger::{AnswerId, Answerer, StandingAnswer};

/// Takes rules, preset, guards and standing answers in this order.
pub(super) struct VerdictBuilder<'a, R> {
    context: &'a EvaluationContext<'a>,
    record: &'a mut R,
    /// The first rule that denies, and why.
    denied: Option<(&'a str, String)>,
    questions: Vec<OpenQuestion<'a>>,
    allows: Vec<&'a Rule>,
}

/// A question about the call. A person has to answer it unless a standing answer lifts it.
struct OpenQuestion<'a> {
    source: QuestionSource<'a>,
    lifted_by: Option<&'a AnswerId>,
}

enum QuestionSource<'a> {
    Rule(&'a Rule),
    Preset(Preset, &'static Concern),
    Guard(&'static Guard, String),
}

impl<'a, R: TraceSink> VerdictBuilder<'a, R> {
    pub(super) fn new(context: &'a EvaluationContext<'a>, record: &'a mut R) -> Self {
        Self { context, record, denied: None, questions: Vec::new(), allows: Vec::new() }
    }

    pub(super) fn is_denied(&self) -> bool {
        self.denied.is_some()
    }

    /// A rule that cannot be evaluated denies under every effect, because a guard that errors denies.
    pub(super) fn apply_rule(&mut self, rule: &'a Rule) {
        let effect = rule.text().effect;
        let mut note = |finding: fn() -> Finding| self.record.note(rule.id(), effect, finding);
        match rule.evaluate(self.context) {
            Ok(RuleMatch::OtherTool) => note(|| Finding::OtherTool),
            Ok(RuleMatch::ConditionFalse) => note(|| Finding::ConditionFalse),
            Ok(RuleMatch::Applies) => {
                note(|| Finding::Fired);
                match effect {
                    Ruling::Allow => self.allows.push(rule),
                    Ruling::Ask => self.ask(QuestionSource::Rule(rule)),
                    Ruling::Deny => self.deny(rule.id(), || rule.reason()),
                }
            }
            Err(error) => {
                self.record.note(rule.id(), effect, || Finding::Failed(error.to_string()));
                self.deny(rule.id(), || {
                    format!("rule `{}` cannot be evaluated: {error}; fix its `when`", rule.id())
                });
            }
        }
    }

    /// The preset asks nothing where a rule allows.
    pub(super) fn apply_preset(&mut self, preset: Preset) {
        let mut decided_by = self.allows.first().map(|rule| rule.id());
        for concern in &CONCERNS {
            if concern.reason(preset, self.context.facts.spec).is_none() {
                self.record.note(concern.rule, Ruling::Ask, || Finding::ConditionFalse);
            } else if let Some(other) = decided_by {
                self.record.note(concern.rule, Ruling::Ask, || Finding::BeatenBy(other.to_owned()));
            } else {
                decided_by = Some(concern.rule);
                self.record.note(concern.rule, Ruling::Ask, || Finding::Fired);
                self.ask(QuestionSource::Preset(preset, concern));
            }
        }
    }

    /// A guard asks nothing where a rule allows that mentions its root name.
    pub(super) fn apply_guards(&mut self) {
        for guard in &GUARDS {
            let Some(reason) = (guard.asks)(self.context.facts) else {
                self.record.note(guard.rule, Ruling::Ask, || Finding::ConditionFalse);
                continue;
            };
            match self.allows.iter().find(|rule| rule.mentions(guard.root)) {
                Some(rule) => {
                    self.record.note(guard.rule, Ruling::Ask, || Finding::LiftedBy(rule.id().to_owned()));
                }
                None => {
                    self.record.note(guard.rule, Ruling::Ask, || Finding::Fired);
                    self.ask(QuestionSource::Guard(guard, reason));
                }
            }
        }
    }

    /// A *never* denies, also if its condition cannot be evaluated, and so does an answer that is neither yes nor no. A
    /// *yes* lifts one question; if its condition cannot be evaluated, none.
    pub(super) fn apply_answer(&mut self, parsed: &'a ParsedAnswer) {
        let answer = &parsed.answer;
        let applies = match (parsed.mismatch(self.context.facts), answer.effect) {
            (Some(mismatch), _) => return self.note_answer(answer, || mismatch),
            (None, Ruling::Allow) => return self.lift(parsed),
            (None, Ruling::Ask) => Err("it neither allows nor denies".to_owned()),
            (None, Ruling::Deny) => parsed.holds_in(self.context),
        };
        match applies {
            Ok(false) => self.note_answer(answer, || Finding::ConditionFalse),
            Ok(true) => {
                self.note_answer(answer, || Finding::Fired);
                let tool = self.context.facts.spec.id.bare();
                self.deny(answer.id.as_str(), || format!("a standing answer (never) denies `{tool}`"));
            }
            Err(why) => {
                let reason = || format!("standing answer `{}` cannot be read: {why}", answer.id);
                self.deny(answer.id.as_str(), reason);
                self.note_answer(answer, || Finding::Failed(why));
            }
        }
    }

    fn lift(&mut self, parsed: &'a ParsedAnswer) {
        let answer = &parsed.answer;
        if !parsed.is_about_definition(self.context.facts) {
            return self.note_answer(answer, || Finding::OtherDefinition);
        }
        let lifts = answer.lifts.as_deref();
        let asked = |question: &&mut OpenQuestion<'_>| {
            question.lifted_by.is_none() && lifts == Some(question.source.rule())
        };
        let Some(question) = self.questions.iter_mut().find(asked) else {
            return self.note_answer(answer, || Finding::Unneeded);
        };
        let rule = || lifts.unwrap_or_default().to_owned();
        if self.context.facts.spec.single_answers || !question.source.accepts(answer) {
            return self.note_answer(answer, || Finding::MayNotLift(rule()));
        }
        match parsed.holds_in(self.context) {
            Ok(true) => {
                question.lifted_by = Some(&answer.id);
                self.note_answer(answer, || Finding::Lifts(rule()));
            }
            Ok(false) => self.note_answer(answer, || Finding::ConditionFalse),
            Err(why) => self.note_answer(answer, || Finding::Failed(why)),
        }
    }

    fn note_answer(&mut self, answer: &StandingAnswer, finding: impl FnOnce() -> Finding) {
        self.record.note(answer.id.as_str(), answer.effect, finding);
    }

    fn ask(&mut self, source: QuestionSource<'a>) {
        self.questions.push(OpenQuestion { source, lifted_by: None });
    }

    fn deny(&mut self, rule: &'a str, reason: impl FnOnce() -> String) {
        if self.denied.is_none() {
            self.denied = Some((rule, reason()));
        }
    }

    /// Deny before ask before allow. Of several questions the operator's comes first; a question that is lifted counts
    /// as not asked, so that a yes to one rule never answers for another.
    pub(super) fn build(self) -> Verdict {
        if let Some((rule, reason)) = self.denied {
            return Verdict { ruling: Ruling::Deny, rule: owned(rule), reason, by: Answerer::Caller };
        }
        let open = || self.questions.iter().filter(|question| question.lifted_by.is_none());
        let operators = open().find(|question| question.source.by() == Answerer::Operator);
        if let Some(first) = operators.or_else(|| open().next()) {
            // A rule's own reason must not hide those of preset and guards.
            let others = open().filter(|other| !std::ptr::eq(*other, first) && other.source.is_built_in());
            let mut reason = first.source.reason(self.context);
            for other in others {
                reason.push_str("; ");
                reason.push_str(&other.source.reason(self.context));
            }
            return Verdict {
                ruling: Ruling::Ask,
                rule: first.source.rule_name(),
                reason,
                by: first.source.by(),
            };
        }
        let answer = || self.questions.iter().find_map(|question| question.lifted_by);
        match (self.allows.first(), answer()) {
            (Some(rule), _) => Verdict::allow(rule.id().to_owned()),
            (None, Some(answer)) => Verdict::allow(answer.to_string()),
            (None, None) => Verdict::allow(DEFAULT_RULE),
        }
    }
}

impl QuestionSource<'_> {
    fn rule(&self) -> &str {
        match self {
            Self::Rule(rule) => rule.id(),
            Self::Preset(_, concern) => concern.rule,
            Self::Guard(guard, _) => guard.rule,
        }
    }

    fn rule_name(&self) -> Cow<'static, str> {
        match self {
            Self::Rule(rule) => owned(rule.id()),
            Self::Preset(_, concern) => Cow::Borrowed(concern.rule),
            Self::Guard(guard, _) => Cow::Borrowed(guard.rule),
        }
    }

    fn by(&self) -> Answerer {
        match self {
            Self::Rule(rule) => rule.by(),
            Self::Preset(..) | Self::Guard(..) => Answerer::Caller,
        }
    }

    fn reason(&self, context: &EvaluationContext<'_>) -> String {
        match self {
            Self::Rule(rule) => rule.reason(),
            Self::Preset(preset, _) => preset.reason(context.facts.spec),
            Self::Guard(_, reason) => reason.clone(),
        }
    }

    fn is_built_in(&self) -> bool {
        match self {
            Self::Rule(_) => false,
            Self::Preset(..) | Self::Guard(..) => true,
        }
    }

    /// Whether this yes, which names the question, may lift it: its author may answer, and a guard is answered anew in
    /// each conversation.
    fn accepts(&self, answer: &StandingAnswer) -> bool {
        let lasts_too_long = matches!(self, Self::Guard(..)) && answer.thread.is_none();
        // A yes to a destination lifts only the question of a guard.
        let is_for_destination_only = answer.destination.is_some() && !matches!(self, Self::Guard(..));
        !is_for_destination_only && answer.by.may_answer_for(self.by()) && !lasts_too_long
    }
}

fn owned(rule: &str) -> Cow<'static, str> {
    Cow::Owned(rule.to_owned())
}
