//! What came of a call.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom::call::{CallReport, Outcome, Pending};
use toolroom::ledger::{Answer, Answerer, CallId};

use super::failure::Failure;
use super::offer::OfferDocument;
use super::remedy::remedy;

/// Who reads the document, and so what they could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// Somebody who types.
    Terminal,
    /// A program that sends requests, and whose answers to this call would be these.
    Web(&'static [Answer]),
}

/// What came of a call.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CallReport")]
pub(crate) struct CallDocument {
    /// How it ended, or that it waits.
    #[schemars(extend("enum" = ["done", "failed", "denied", "pending", "cancelled"]))]
    outcome: &'static str,
    /// The call's row in the journal.
    call_id: String,
    /// The tool's full id.
    tool: String,
    /// What the tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    result: Option<Arc<Value>>,
    /// A sentence beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    /// How long it took.
    duration_ms: f64,
    /// Whether the result was shortened.
    truncated: bool,
    /// Where the whole result is, if it was shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    /// What the client is asked to do: open an address, show or save a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offers: Vec<OfferDocument>,
    /// The rule that decided whether it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Waiting>,
}

/// What a pending call waits for.
#[derive(Debug, Serialize, JsonSchema)]
struct Waiting {
    /// Who may answer.
    by: Answerer,
    /// Why it asks.
    reason: String,
    /// When the answer becomes no: microseconds since the Unix epoch.
    expires_at: i64,
    /// How to answer.
    hint: String,
}

impl Waiting {
    fn of(call: &CallId, pending: &Pending, surface: Surface) -> Self {
        Self {
            by: pending.by,
            reason: pending.reason.clone(),
            expires_at: pending.expires_at.as_micros(),
            hint: what_to_do(call, pending, surface),
        }
    }
}

/// How a parked call gets on.
pub(crate) fn what_to_do(call: &CallId, pending: &Pending, surface: Surface) -> String {
    let approve = format!("`toolroom approvals approve {call}`");
    let resume = format!("then run it with `POST /v1/calls/{call}/resume`");
    match (pending.by, surface) {
        (Answerer::Client, _) => "its client runs it, and sends what came of it".to_owned(),
        (Answerer::Caller, Surface::Terminal) => {
            format!("answer with {approve}, then run it with `toolroom call --resume {call}`")
        }
        (Answerer::Operator, Surface::Terminal) => {
            format!(
                "as the operator, answer with {approve}, then run it with `toolroom call --resume {call}`"
            )
        }
        (Answerer::Caller, Surface::Web([])) => format!(
            "the operator answers with {approve}, {resume}; a key with the scope `answer` answers its own calls"
        ),
        (Answerer::Operator, Surface::Web([])) => format!("the operator answers with {approve}, {resume}"),
        (_, Surface::Web(answers)) => {
            let answers: Vec<&str> = answers.iter().map(|answer| answer.as_str()).collect();
            format!("answer with `POST /v1/approvals/{call}` ({}), {resume}", answers.join(", "))
        }
    }
}

impl CallDocument {
    pub(crate) fn of(report: &CallReport, surface: Surface) -> Self {
        let mut document = Self {
            outcome: report.outcome.name(),
            call_id: report.call_id.to_string(),
            tool: report.tool.clone(),
            result: None,
            message: None,
            error: None,
            // Whole microseconds: more digits would be noise.
            duration_ms: report.duration.as_micros() as f64 / 1000.0,
            truncated: false,
            artifact: None,
            offers: Vec::new(),
            rule: report.rule.as_ref().map(ToString::to_string),
            pending: None,
        };
        match &report.outcome {
            Outcome::Done(done) => {
                document.result = Some(done.value.clone());
                document.message.clone_from(&done.message);
                document.truncated = done.truncated;
                document.artifact = done.artifact.as_ref().map(ToString::to_string);
                document.offers = done.offers.iter().map(OfferDocument::of).collect();
            }
            Outcome::Failed(error) => document.error = Some(Failure::of(error)),
            Outcome::Denied(denial) => {
                let message = format!("denied: {}", denial.reason);
                let hint = denial.off.as_ref().map(remedy);
                document.error =
                    Some(Failure { kind: "permission_denied", message, hint, retry_after: None });
            }
            Outcome::Pending(pending) => {
                document.message = Some(format!("waits for approval: {}", pending.reason));
                document.pending = Some(Waiting::of(&report.call_id, pending, surface));
            }
        }
        document
    }
}
