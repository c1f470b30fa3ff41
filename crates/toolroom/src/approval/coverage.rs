//! Which past calls a standing answer would have covered.

use serde_json::Value;

use crate::call::described;
use crate::catalog::Entry;
use crate::ledger::{CallFilter, CallRecord, LedgerError, StandingAnswer};
use crate::policy::{Condition, Facts, Provenance};
use crate::tool::Arguments;
use crate::toolroom::Toolroom;

/// How many past calls are looked at.
const MAX_CALLS: u32 = 1_000;

/// Past calls that a standing answer would have covered, so that a person sees how wide it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerCoverage {
    /// Calls of the tool it would have decided.
    pub matched: usize,
    /// Calls of the tool that were looked at.
    pub of: usize,
}

impl Toolroom {
    /// Counts the newest calls of the tool that the answer would have covered. The journal stores arguments redacted and
    /// shortened, so a condition on such an argument may be counted wrongly.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn coverage(&self, answer: &StandingAnswer) -> Result<AnswerCoverage, LedgerError> {
        let filter = CallFilter {
            tool: Some(answer.tool.to_string()),
            limit: Some(MAX_CALLS),
            ..CallFilter::default()
        };
        let mut calls = self.journal.calls(&answer.scope, filter).await?;
        let question = self.approvals.question(&answer.scope, &answer.call).await?;
        let unsealed = |error| LedgerError::new("unseal the request", error);
        let entry = match &question {
            Some(question) => self.entry_of(question).map_err(unsealed)?,
            None => self.catalog.find(&answer.scope.project, &answer.tool).ok(),
        };
        // The parked call itself is the question, not a past one.
        calls.retain(|call| call.id != answer.call);
        // An invalid condition covers nothing; saving the answer fails anyway.
        let Ok(condition) = answer.when.as_deref().map(Condition::parse).transpose() else {
            return Ok(AnswerCoverage { matched: 0, of: calls.len() });
        };
        let matched = calls.iter().filter(|call| match &*call.arguments {
            Value::Object(arguments) => {
                covers(condition.as_ref(), entry.as_deref(), call, arguments, Provenance::NONE)
            }
            // Arguments that were not a JSON object never reached a rule.
            _ => false,
        });
        Ok(AnswerCoverage { matched: matched.count(), of: calls.len() })
    }
}

/// Whether an answer with this condition covers a call of the tool with these arguments.
pub(super) fn covers(
    condition: Option<&Condition>,
    entry: Option<&Entry>,
    record: &CallRecord,
    arguments: &Arguments,
    provenance: Provenance,
) -> bool {
    let Some(Ok(spec)) = entry.map(|entry| described(entry, arguments)) else { return false };
    let facts = Facts {
        spec,
        arguments,
        scope: &record.scope,
        entrance: &record.entrance,
        thread: record.thread.as_deref(),
        provenance,
        origin: None,
        destination: None,
        definition: record.definition.as_deref().unwrap_or_default(),
    };
    condition.is_none_or(|condition| condition.holds(&facts).unwrap_or(false))
}
