//! Rulings and verdicts.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::Answerer;

/// The three rulings, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// Runs.
    Allow,
    /// Waits for a person.
    Ask,
    /// Does not run.
    Deny,
}

impl Ruling {
    /// The name used in records and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The ruling of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|ruling| ruling.as_str() == name)
    }
}

/// The rule a tool's own judgement counts as.
pub const JUDGE_RULE: &str = "tool.judge";

/// A tool's own judgement of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// No objection.
    Allow,
    /// A person should see it first, because…
    Ask(String),
    /// The operator has to see it first, because…
    AskOperator(String),
    /// Must not run, because…
    Deny(String),
}

impl Judgement {
    /// Who has to answer, if it asks.
    #[must_use]
    pub const fn asks(&self) -> Option<Answerer> {
        match self {
            Self::Ask(_) => Some(Answerer::Caller),
            Self::AskOperator(_) => Some(Answerer::Operator),
            Self::Allow | Self::Deny(_) => None,
        }
    }
}

/// A ruling, the rule that fired, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The ruling.
    pub ruling: Ruling,
    /// The rule that fired.
    pub rule: Cow<'static, str>,
    /// Why; empty for an ordinary allow.
    pub reason: String,
    /// Who may answer, if it asks.
    pub by: Answerer,
}

impl Verdict {
    /// Runs, by this rule.
    #[must_use]
    pub fn allow(rule: impl Into<Cow<'static, str>>) -> Self {
        Self { ruling: Ruling::Allow, rule: rule.into(), reason: String::new(), by: Answerer::Caller }
    }

    /// The stricter of this verdict and the tool's own judgement. A tool never loosens a verdict; where both ask, the question
    /// has both reasons, and the operator's comes before the caller's.
    #[must_use]
    pub fn tightened(mut self, judgement: Judgement) -> Self {
        let by = judgement.asks().unwrap_or(self.by);
        let (ruling, reason) = match judgement {
            Judgement::Allow => return self,
            Judgement::Ask(reason) | Judgement::AskOperator(reason) => (Ruling::Ask, reason),
            Judgement::Deny(reason) => (Ruling::Deny, reason),
        };
        let by_tool = |reason| Self { ruling, rule: Cow::Borrowed(JUDGE_RULE), reason, by };
        match (self.ruling, ruling) {
            (Ruling::Ask, Ruling::Ask) if !self.by.may_answer_for(by) => {
                by_tool(format!("{reason}; {}", self.reason))
            }
            (Ruling::Ask, Ruling::Ask) => {
                self.reason = format!("{}; {reason}", self.reason);
                self
            }
            (policy, tool) if tool <= policy => self,
            _ => by_tool(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_can_only_tighten_a_verdict() {
        let verdict = |ruling| Verdict { ruling, ..Verdict::allow("x") };
        let judgements = [
            Judgement::Allow,
            Judgement::Ask("why".into()),
            Judgement::AskOperator("why".into()),
            Judgement::Deny("why".into()),
        ];
        for ruling in [Ruling::Allow, Ruling::Ask, Ruling::Deny] {
            for judgement in judgements.clone() {
                let after = verdict(ruling).tightened(judgement.clone());
                assert!(after.ruling >= ruling, "{ruling:?} loosened by {judgement:?}");
            }
        }
        assert_eq!(verdict(Ruling::Allow).tightened(Judgement::Deny("no".into())).rule, "tool.judge");
        let both = Verdict { reason: "a rule".into(), ..verdict(Ruling::Ask) };
        let both = both.tightened(Judgement::Ask("this empties the disk".into()));
        assert_eq!((&*both.rule, both.reason.as_str()), ("x", "a rule; this empties the disk"));
    }

    #[test]
    fn a_question_to_the_operator_is_answered_by_the_operator() {
        let ask = |by| Verdict { ruling: Ruling::Ask, reason: "a rule".into(), by, ..Verdict::allow("x") };
        let seen = |verdict: Verdict| (verdict.rule.into_owned(), verdict.reason, verdict.by);
        let tool = |reason: &str| Judgement::AskOperator(reason.into());
        let judged = ("tool.judge".to_owned(), "why".to_owned(), Answerer::Operator);
        assert_eq!(seen(Verdict::allow("x").tightened(tool("why"))), judged);
        let judged = ("tool.judge".to_owned(), "why; a rule".to_owned(), Answerer::Operator);
        assert_eq!(seen(ask(Answerer::Caller).tightened(tool("why"))), judged);
        let ruled = ("x".to_owned(), "a rule; why".to_owned(), Answerer::Operator);
        assert_eq!(seen(ask(Answerer::Operator).tightened(tool("why"))), ruled);
        let ruled = ask(Answerer::Operator).tightened(Judgement::Ask("why".into()));
        assert_eq!(ruled.by, Answerer::Operator, "a tool's own question takes nothing from a rule's");
    }
}
