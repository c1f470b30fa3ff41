//! How the end of a call is told: as text, or as one JSON document.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use toolroom::call::{CallReport, Outcome, Pending};
use toolroom::ledger::{Answerer, CallId};
use toolroom::tool::ToolError;

use super::judged::Judged;
use super::output::Output;
use super::sheet::flat;
use super::tools::remedy;

pub(super) fn print(report: &CallReport, output: Output) -> anyhow::Result<()> {
    match &report.outcome {
        Outcome::Done(done) => {
            output.result(&done.value)?;
            if let Some(artifact) = &done.artifact {
                output.hint(&format!(
                    "shortened; read on with `toolroom call result_read artifact={artifact}`"
                ));
            }
        }
        Outcome::Failed(error) => {
            output.failure(error.for_model(), error.hint(), error.for_operator().as_deref());
        }
        Outcome::Denied(denial) => {
            let hint = denial.off.as_ref().map(remedy);
            let reason = format!("denied: {}", denial.reason);
            output.failure(&reason, hint.as_deref(), denial.cause().as_deref());
        }
        Outcome::Pending(pending) => {
            // Waiting is no error.
            output.talk(format_args!("{} waits for approval: {}", report.call_id, flat(&pending.reason)));
            output.hint(&what_to_do(&report.call_id, pending));
        }
    }
    Ok(())
}

/// What `--json` prints of a call.
#[derive(Serialize)]
pub(super) struct Document {
    outcome: &'static str,
    call_id: String,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Arc<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    duration_ms: f64,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Waiting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Judged>,
}

/// What a pending call waits for.
#[derive(Serialize)]
struct Waiting {
    by: Answerer,
    reason: String,
    /// Microseconds since the Unix epoch.
    expires_at: i64,
    hint: String,
}

impl Waiting {
    fn of(call: &CallId, pending: &Pending) -> Self {
        Self {
            by: pending.by,
            reason: pending.reason.clone(),
            expires_at: pending.expires_at.as_micros(),
            hint: what_to_do(call, pending),
        }
    }
}

/// What to type so that a parked call gets on.
fn what_to_do(call: &CallId, pending: &Pending) -> String {
    let who = match pending.by {
        Answerer::Caller => "answer",
        Answerer::Operator => "as the operator, answer",
        Answerer::Client => return "its client runs it, and sends what came of it".to_owned(),
    };
    format!(
        "{who} with `toolroom approvals approve {call}`, then run it with `toolroom call --resume {call}`"
    )
}

#[derive(Serialize)]
pub(super) struct Failure {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<f64>,
}

impl Failure {
    pub(super) fn of(error: &ToolError) -> Self {
        Self {
            kind: error.kind().as_str(),
            message: error.for_model().to_owned(),
            hint: error.hint().map(str::to_owned),
            retry_after: error.retry_after().map(|span| span.as_secs_f64()),
        }
    }
}

impl Document {
    pub(super) fn of(report: &CallReport, explain: Option<Judged>) -> Self {
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
            rule: report.rule.as_ref().map(ToString::to_string),
            pending: None,
            explain,
        };
        match &report.outcome {
            Outcome::Done(done) => {
                document.result = Some(done.value.clone());
                document.message.clone_from(&done.message);
                document.truncated = done.truncated;
                document.artifact = done.artifact.as_ref().map(ToString::to_string);
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
                document.pending = Some(Waiting::of(&report.call_id, pending));
            }
        }
        document
    }
}
