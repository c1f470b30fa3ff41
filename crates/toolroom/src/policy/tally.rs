//! What is said for and against one call, and what follows from it.

use std::borrow::Cow;

use super::answers::ReadAnswer;
use super::facts::Case;
use super::guard::{GUARDS, Guard};
use super::preset::{CONCERNS, Concern};
use super::rule::{Fit, Rule};
use super::trace::Record;
use super::{DEFAULT_RULE, Finding, Preset, Ruling, Verdict};
use crate::ledger::{AnswerId, Answerer, StandingAnswer};

/// Hears rules, preset, guards and standing answers, in this order, and then concludes.
pub(super) struct Tally<'a, R> {
    case: &'a Case<'a>,
    record: &'a mut R,
    /// The first that denies, and why.
    denied: Option<(&'a str, String)>,
    questions: Vec<Question<'a>>,
    allows: Vec<&'a Rule>,
}

/// Something a person has to answer, unless they have already.
struct Question<'a> {
    asker: Asker<'a>,
    lifted_by: Option<&'a AnswerId>,
}

enum Asker<'a> {
    Rule(&'a Rule),
    Preset(Preset, &'static Concern),
    Guard(&'static Guard, String),
}

impl<'a, R: Record> Tally<'a, R> {
    pub(super) fn new(case: &'a Case<'a>, record: &'a mut R) -> Self {
        Self { case, record, denied: None, questions: Vec::new(), allows: Vec::new() }
    }

    pub(super) fn is_denied(&self) -> bool {
        self.denied.is_some()
    }

    /// A rule that cannot be evaluated denies, whatever its effect: a guard that errors denies.
    pub(super) fn hear_rule(&mut self, rule: &'a Rule) {
        let effect = rule.text().effect;
        let mut note = |finding: fn() -> Finding| self.record.note(rule.id(), effect, finding);
        match rule.fit(self.case) {
            Ok(Fit::OtherTool) => note(|| Finding::OtherTool),
            Ok(Fit::ConditionFalse) => note(|| Finding::ConditionFalse),
            Ok(Fit::Applies) => {
                note(|| Finding::Fired);
                match effect {
                    Ruling::Allow => self.allows.push(rule),
                    Ruling::Ask => self.ask(Asker::Rule(rule)),
                    Ruling::Deny => self.deny(rule.id(), || rule.reason()),
                }
            }
            Err(error) => {
                self.record.note(rule.id(), effect, || Finding::Failed(error.to_string()));
                self.deny(rule.id(), || {
                    format!("rule `{}` cannot be evaluated: {error}; mend its `when`", rule.id())
                });
            }
        }
    }

    /// The preset is silent where a rule allows.
    pub(super) fn hear_preset(&mut self, preset: Preset) {
        let mut decided_by = self.allows.first().map(|rule| rule.id());
        for concern in &CONCERNS {
            if concern.tell(preset, self.case.facts.spec).is_none() {
                self.record.note(concern.rule, Ruling::Ask, || Finding::ConditionFalse);
            } else if let Some(other) = decided_by {
                self.record.note(concern.rule, Ruling::Ask, || Finding::BeatenBy(other.to_owned()));
            } else {
                decided_by = Some(concern.rule);
                self.record.note(concern.rule, Ruling::Ask, || Finding::Fired);
                self.ask(Asker::Preset(preset, concern));
            }
        }
    }

    /// A guard is silent where a rule allows that was written with it in mind.
    pub(super) fn hear_guards(&mut self) {
        for guard in &GUARDS {
            let Some(reason) = (guard.asks)(self.case.facts) else {
                self.record.note(guard.rule, Ruling::Ask, || Finding::ConditionFalse);
                continue;
            };
            match self.allows.iter().find(|rule| rule.mentions(guard.root)) {
                Some(rule) => {
                    self.record.note(guard.rule, Ruling::Ask, || Finding::LiftedBy(rule.id().to_owned()));
                }
                None => {
                    self.record.note(guard.rule, Ruling::Ask, || Finding::Fired);
                    self.ask(Asker::Guard(guard, reason));
                }
            }
        }
    }

    /// A *never* denies, and so does a *never* whose condition cannot be judged and an answer that says neither yes
    /// nor no. A *yes* lifts one question; one that cannot be judged lifts none.
    pub(super) fn hear_answer(&mut self, read: &'a ReadAnswer) {
        let answer = &read.answer;
        let held = match (read.elsewhere(self.case.facts), answer.effect) {
            (Some(elsewhere), _) => return self.note_answer(answer, || elsewhere),
            (None, Ruling::Allow) => return self.lift(read),
            (None, Ruling::Ask) => Err("it neither allows nor denies".to_owned()),
            (None, Ruling::Deny) => read.holds_in(self.case),
        };
        match held {
            Ok(false) => self.note_answer(answer, || Finding::ConditionFalse),
            Ok(true) => {
                self.note_answer(answer, || Finding::Fired);
                let tool = self.case.facts.spec.id.bare();
                self.deny(answer.id.as_str(), || format!("somebody said never to `{tool}`"));
            }
            Err(why) => {
                let told = || format!("standing answer `{}` cannot be read: {why}", answer.id);
                self.deny(answer.id.as_str(), told);
                self.note_answer(answer, || Finding::Failed(why));
            }
        }
    }

    fn lift(&mut self, read: &'a ReadAnswer) {
        let answer = &read.answer;
        if !read.is_about_definition(self.case.facts) {
            return self.note_answer(answer, || Finding::OtherDefinition);
        }
        let lifts = answer.lifts.as_deref();
        let asked = |question: &&mut Question<'_>| {
            question.lifted_by.is_none() && lifts == Some(question.asker.rule())
        };
        let Some(question) = self.questions.iter_mut().find(asked) else {
            return self.note_answer(answer, || Finding::Unneeded);
        };
        let rule = || lifts.unwrap_or_default().to_owned();
        if self.case.facts.spec.single_answers || !question.asker.accepts(answer) {
            return self.note_answer(answer, || Finding::MayNotLift(rule()));
        }
        match read.holds_in(self.case) {
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

    fn ask(&mut self, asker: Asker<'a>) {
        self.questions.push(Question { asker, lifted_by: None });
    }

    fn deny(&mut self, rule: &'a str, reason: impl FnOnce() -> String) {
        if self.denied.is_none() {
            self.denied = Some((rule, reason()));
        }
    }

    /// Deny before ask before allow. Of several questions the operator's comes first; a question that is lifted counts
    /// as not asked, so that a yes to one rule never answers for another.
    pub(super) fn conclude(self) -> Verdict {
        if let Some((rule, reason)) = self.denied {
            return Verdict { ruling: Ruling::Deny, rule: owned(rule), reason, by: Answerer::Caller };
        }
        let open = || self.questions.iter().filter(|question| question.lifted_by.is_none());
        let operators = open().find(|question| question.asker.by() == Answerer::Operator);
        if let Some(first) = operators.or_else(|| open().next()) {
            // The words of a rule must not hide from the person why they would have been asked anyway.
            let others = open().filter(|other| !std::ptr::eq(*other, first) && other.asker.is_built_in());
            let mut reason = first.asker.reason(self.case);
            for other in others {
                reason.push_str("; ");
                reason.push_str(&other.asker.reason(self.case));
            }
            return Verdict {
                ruling: Ruling::Ask,
                rule: first.asker.rule_name(),
                reason,
                by: first.asker.by(),
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

impl Asker<'_> {
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

    fn reason(&self, case: &Case<'_>) -> String {
        match self {
            Self::Rule(rule) => rule.reason(),
            Self::Preset(preset, _) => preset.reason(case.facts.spec),
            Self::Guard(_, reason) => reason.clone(),
        }
    }

    fn is_built_in(&self) -> bool {
        match self {
            Self::Rule(_) => false,
            Self::Preset(..) | Self::Guard(..) => true,
        }
    }

    /// Whether this yes, which names the question, is enough for it: it was said by somebody who may answer, and a
    /// guard is answered anew in each conversation.
    fn accepts(&self, answer: &StandingAnswer) -> bool {
        let lasts_too_long = matches!(self, Self::Guard(..)) && answer.thread.is_none();
        // What a yes says about a destination says nothing about other questions.
        let is_beside = answer.destination.is_some() && !matches!(self, Self::Guard(..));
        !is_beside && answer.by.may_answer_for(self.by()) && !lasts_too_long
    }
}

fn owned(rule: &str) -> Cow<'static, str> {
    Cow::Owned(rule.to_owned())
}
