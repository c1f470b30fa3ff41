//! How a verdict came about.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::{DEFAULT_RULE, Ruling, Verdict};

/// A verdict and everything that was looked at on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What was decided.
    pub verdict: Verdict,
    /// Rules in their order, then what the preset and the guards say, then the standing answers about the tool.
    pub tried: Vec<Tried>,
}

/// One rule, concern, guard or standing answer, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tried {
    /// Its id.
    pub rule: String,
    /// What it would have decided.
    pub effect: Ruling,
    /// What came of it.
    pub finding: Finding,
}

/// What came of looking at a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RuleFinding")]
pub enum Finding {
    /// It is about other tools.
    OtherTool,
    /// It is about other callers.
    OtherCaller,
    /// It holds in another conversation.
    OtherConversation,
    /// It was said of another definition of the tool.
    OtherDefinition,
    /// Its condition does not hold.
    ConditionFalse,
    /// It decided.
    Fired,
    /// It applies, but that rule decided.
    BeatenBy(String),
    /// It asks, but that rule or answer lifts its question.
    LiftedBy(String),
    /// It lifts the question of that rule.
    Lifts(String),
    /// The question it answers is not asked, or is answered already.
    Unneeded,
    /// It may not answer that question: somebody else has to, or it has to be asked in each conversation.
    MayNotLift(String),
    /// Its condition cannot be evaluated.
    Failed(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherTool => formatter.write_str("not this tool"),
            Self::OtherCaller => formatter.write_str("not this caller"),
            Self::OtherConversation => formatter.write_str("not this conversation"),
            Self::OtherDefinition => formatter.write_str("not this definition of the tool"),
            Self::ConditionFalse => formatter.write_str("condition false"),
            Self::Fired => formatter.write_str("fired"),
            Self::BeatenBy(rule) => write!(formatter, "beaten by `{rule}`"),
            Self::LiftedBy(rule) => write!(formatter, "lifted by `{rule}`"),
            Self::Lifts(rule) => write!(formatter, "lifts `{rule}`"),
            Self::Unneeded => formatter.write_str("not needed"),
            Self::MayNotLift(rule) => write!(formatter, "may not lift `{rule}`"),
            Self::Failed(why) => write!(formatter, "failed: {why}"),
        }
    }
}

/// Takes down what is tried. A verdict alone needs none of it, so a finding is made only for who keeps it.
pub(super) trait Record {
    /// Whether rules are worth hearing that cannot change the verdict any more.
    const EVERYTHING: bool;

    fn note(&mut self, rule: &str, effect: Ruling, finding: impl FnOnce() -> Finding);
}

/// Keeps nothing.
pub(super) struct Unrecorded;

impl Record for Unrecorded {
    const EVERYTHING: bool = false;

    fn note(&mut self, _rule: &str, _effect: Ruling, _finding: impl FnOnce() -> Finding) {}
}

impl Record for Vec<Tried> {
    const EVERYTHING: bool = true;

    fn note(&mut self, rule: &str, effect: Ruling, finding: impl FnOnce() -> Finding) {
        self.push(Tried { rule: rule.to_owned(), effect, finding: finding() });
    }
}

impl Trace {
    /// Adds what is known only at the end: which questions were lifted, and which rule beat the others.
    pub(super) fn settled(verdict: Verdict, mut tried: Vec<Tried>) -> Self {
        let lifts = tried.iter().filter_map(|tried| match &tried.finding {
            Finding::Lifts(rule) => Some((rule.clone(), tried.rule.clone())),
            _ => None,
        });
        for (rule, answer) in lifts.collect::<Vec<_>>() {
            for tried in
                tried.iter_mut().filter(|tried| tried.rule == rule && tried.finding == Finding::Fired)
            {
                tried.finding = Finding::LiftedBy(answer.clone());
            }
        }
        for tried in tried.iter_mut().filter(|tried| tried.finding == Finding::Fired) {
            if tried.rule != verdict.rule {
                tried.finding = Finding::BeatenBy(verdict.rule.to_string());
            }
        }
        if verdict.rule == DEFAULT_RULE {
            tried.note(DEFAULT_RULE, verdict.ruling, || Finding::Fired);
        }
        Self { verdict, tried }
    }
}
