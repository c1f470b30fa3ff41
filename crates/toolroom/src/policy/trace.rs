//! The trace that explains a verdict.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::{DEFAULT_RULE, Ruling, Verdict};

/// A verdict and the findings that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The verdict.
    pub verdict: Verdict,
    /// Rules in their order, then preset, guards, and standing answers about the tool.
    pub tried: Vec<Tried>,
}

/// One rule, concern, guard or standing answer, and its finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tried {
    /// Its id.
    pub rule: String,
    /// What it decides if it applies.
    pub effect: Ruling,
    /// The finding.
    pub finding: Finding,
}

/// How a rule relates to a call.
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
    /// It was given for another definition of the tool.
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
    /// It may not lift that question: another person has to answer it, or it is asked in each conversation.
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

/// Receives findings. They are made lazily, because most verdicts need no trace.
pub(super) trait TraceSink {
    /// Whether to evaluate rules that cannot change the verdict any more.
    const COMPLETE: bool;

    fn note(&mut self, rule: &str, effect: Ruling, finding: impl FnOnce() -> Finding);
}

pub(super) struct NoTrace;

impl TraceSink for NoTrace {
    const COMPLETE: bool = false;

    fn note(&mut self, _rule: &str, _effect: Ruling, _finding: impl FnOnce() -> Finding) {}
}

impl TraceSink for Vec<Tried> {
    const COMPLETE: bool = true;

    fn note(&mut self, rule: &str, effect: Ruling, finding: impl FnOnce() -> Finding) {
        self.push(Tried { rule: rule.to_owned(), effect, finding: finding() });
    }
}

impl Trace {
    /// Fills in which questions were lifted and which rule beat the others.
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
