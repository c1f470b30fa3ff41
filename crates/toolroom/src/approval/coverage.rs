//! How far an answer would have reached.

use serde_json::Value;

use crate::call::described;
use crate::catalog::Entry;
use crate::ledger::{CallFilter, CallRecord, LedgerError, StandingAnswer};
use crate::policy::{Condition, Facts, Provenance};
use crate::tool::Arguments;
use crate::toolroom::Toolroom;

/// How many past calls are looked at.
const LOOKED_AT: u32 = 1_000;

/// Past calls that a standing answer would have been about, so that a person sees how wide it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerCoverage {
    /// Calls of the tool it would have decided.
    pub matched: usize,
    /// Calls of the tool that were looked at.
    pub of: usize,
}

impl Toolroom {
    /// Counts the newest calls of the tool that the answer would have been about. The journal keeps arguments
    /// redacted and long ones in part, so a condition on such an argument may be counted wrongly.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn coverage(&self, answer: &StandingAnswer) -> Result<AnswerCoverage, LedgerError> {
        let filter = CallFilter {
            tool: Some(answer.tool.to_string()),
            limit: Some(LOOKED_AT),
            ..CallFilter::default()
        };
        let mut calls = self.journal.calls(&answer.scope, filter).await?;
        let question = self.approvals.question(&answer.scope, &answer.call).await?;
        let unsealed = |error| LedgerError::new("open what was asked", error);
        let entry = match &question {
            Some(question) => self.entry_of(question).map_err(unsealed)?,
            None => self.catalog.find(&answer.scope.project, &answer.tool).ok(),
        };
        // The parked call itself is the question, not a past one.
        calls.retain(|call| call.id != answer.call);
        // A condition that cannot be read is about nothing; saving the answer fails anyway.
        let Ok(condition) = answer.when.as_deref().map(Condition::parse).transpose() else {
            return Ok(AnswerCoverage { matched: 0, of: calls.len() });
        };
        let matched = calls.iter().filter(|call| match &*call.arguments {
            Value::Object(arguments) => {
                is_about(condition.as_ref(), entry.as_deref(), call, arguments, Provenance::NONE)
            }
            // Text that was no JSON object never came as far as a rule.
            _ => false,
        });
        Ok(AnswerCoverage { matched: matched.count(), of: calls.len() })
    }
}

/// Whether an answer with this condition would be about a call of the tool with these arguments.
pub(super) fn is_about(
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
