//! How a call would be judged.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::call::Explanation;
use toolroom::ledger::Answerer;
use toolroom::policy::{Finding, Ruling, Tried};
use toolroom::tool::{Arguments, Capability, Effect, Risk};

/// How a call would be judged.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Judged {
    /// Id of the tool.
    pub(crate) tool: String,
    /// Effect class.
    #[schemars(with = "Effect")]
    pub(crate) effect: &'static str,
    /// Capabilities.
    #[schemars(with = "Vec<Capability>")]
    pub(crate) capabilities: Vec<&'static str>,
    /// Risk.
    #[schemars(with = "Risk")]
    pub(crate) risk: &'static str,
    /// Validated arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Arguments>,
    /// Problem with the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// Verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ruling: Option<Ruling>,
    /// The rule that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// Reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Who may approve, if approval is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Answerer>,
    /// Every rule with its result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tried: Vec<Tried>,
}

impl Judged {
    pub(crate) fn of(explanation: &Explanation) -> Self {
        let spec = explanation.spec();
        let (ruling, rule, reason, by) = match &explanation.verdict {
            None => (None, None, None, None),
            Some(Ok(verdict)) => {
                let reason = Some(verdict.reason.clone()).filter(|reason| !reason.is_empty());
                let by = (verdict.ruling == Ruling::Ask).then_some(verdict.by);
                (Some(verdict.ruling), Some(verdict.rule.to_string()), reason, by)
            }
            Some(Err(denial)) => {
                (Some(Ruling::Deny), Some(denial.rule.to_string()), Some(denial.reason.clone()), None)
            }
        };
        let mut tried = explanation.trace.as_ref().map(|trace| trace.tried.clone()).unwrap_or_default();
        if let (Some(rule), Some(ruling)) = (&rule, ruling) {
            decide_by(&mut tried, rule, ruling);
        }
        Self {
            tool: spec.id.to_string(),
            effect: spec.effective_effect().as_str(),
            capabilities: spec.effective_capabilities().iter().map(Capability::as_str).collect(),
            risk: spec.risk.as_str(),
            arguments: explanation.arguments.as_ref().ok().cloned(),
            problem: explanation.arguments.as_ref().err().map(|error| error.for_model().to_owned()),
            ruling,
            rule,
            reason,
            by,
            tried,
        }
    }
}

/// Adds a decision made outside the policy, by a switch or the tool itself, and marks the rule it overrides.
fn decide_by(tried: &mut Vec<Tried>, rule: &str, effect: Ruling) {
    if tried.iter().any(|tried| tried.rule == rule) {
        return;
    }
    for other in tried.iter_mut().filter(|tried| tried.finding == Finding::Fired) {
        other.finding = Finding::BeatenBy(rule.to_owned());
    }
    tried.push(Tried { rule: rule.to_owned(), effect, finding: Finding::Fired });
}
