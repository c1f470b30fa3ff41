//! Reports of calls.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom::call::{CallReport, Outcome, Pending};
use toolroom::ledger::{Answer, Answerer, CallId};

use super::failure::Failure;
use super::offer::OfferDocument;
use super::remedy::remedy;

/// Where the report is read, which decides the hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// The command line.
    Terminal,
    /// HTTP, with the answers the client may give.
    Web(&'static [Answer]),
}

/// Report of a call.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CallReport")]
pub(crate) struct CallDocument {
    /// Outcome of the call.
    #[schemars(extend("enum" = ["done", "failed", "denied", "pending", "cancelled"]))]
    outcome: &'static str,
    /// Id of the call.
    call_id: String,
    /// Id of the tool.
    tool: String,
    /// Result of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    result: Option<Arc<Value>>,
    /// Message next to the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Error, if there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    /// Duration in milliseconds.
    duration_ms: f64,
    /// Whether the result was shortened.
    truncated: bool,
    /// Artifact with the full result, if it was shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    /// URLs to open and files to show or save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offers: Vec<OfferDocument>,
    /// Rule that decided whether the call may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The approval it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<PendingApproval>,
}

/// The approval a pending call waits for.
#[derive(Debug, Serialize, JsonSchema)]
struct PendingApproval {
    /// Who may answer.
    by: Answerer,
    /// Why approval is needed.
    reason: String,
    /// When it expires: microseconds since the Unix epoch.
    expires_at: i64,
    /// How to answer.
    hint: String,
}

impl PendingApproval {
    fn new(call: &CallId, pending: &Pending, surface: Surface) -> Self {
        Self {
            by: pending.by,
            reason: pending.reason.clone(),
            expires_at: pending.expires_at.as_micros(),
            hint: what_to_do(call, pending, surface),
        }
    }
}

/// How to approve and resume a parked call.
pub(crate) fn what_to_do(call: &CallId, pending: &Pending, surface: Surface) -> String {
    let approve = format!("`toolroom approvals approve {call}`");
    let resume = format!("then run it with `POST /v1/calls/{call}/resume`");
    match (pending.by, surface) {
        (Answerer::Client, _) => "its client runs it and sends the result".to_owned(),
        (Answerer::Caller, Surface::Terminal) => {
            format!("answer with {approve}, then run it with `toolroom call --resume {call}`")
        }
        (Answerer::Operator, Surface::Terminal) => {
            format!(
                "as the operator, answer with {approve}, then run it with `toolroom call --resume {call}`"
            )
        }
        (Answerer::Caller, Surface::Web([])) => format!(
            "the operator approves with {approve}, {resume}; a key with scope `answer` can approve its own calls"
        ),
        (Answerer::Operator, Surface::Web([])) => format!("the operator approves with {approve}, {resume}"),
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
            // Microsecond precision.
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
                document.pending = Some(PendingApproval::new(&report.call_id, pending, surface));
            }
        }
        document
    }
}
