//! Prints the outcome of a call as text or JSON.

use serde::Serialize;
use toolroom::call::{CallReport, Outcome};
use toolroom::tool::{ErrorKind, RaisedBy};

use crate::cli::console::output::{Output, single_line};
use crate::documents::{CallDocument, Judged, Surface, offer_told, remedy, what_to_do};

pub(super) fn print(report: &CallReport, output: Output) -> anyhow::Result<()> {
    match &report.outcome {
        Outcome::Done(done) => {
            output.result(&done.value)?;
            for offer in &done.offers {
                output.hint(&single_line(&offer_told(offer)));
            }
            if let Some(artifact) = &done.artifact {
                output.hint(&format!(
                    "the result is shortened; read on with `toolroom call result_read artifact={artifact}`"
                ));
            }
        }
        Outcome::Failed(error) => {
            let hint = match (error.raised_by(), error.kind()) {
                // The hint for models does not help a person.
                (RaisedBy::Kernel, kind @ ErrorKind::NotFound) if error.hint() == kind.hint() => {
                    Some("see `toolroom tools --all`")
                }
                _ => error.hint(),
            };
            output.failure(error.for_model(), hint, error.for_operator().as_deref());
        }
        Outcome::Denied(denial) => {
            let hint = denial.off.as_ref().map(remedy);
            let reason = format!("denied: {}", denial.reason);
            output.failure(&reason, hint.as_deref(), denial.cause().as_deref());
        }
        Outcome::Pending(pending) => {
            // Pending is not an error.
            output.talk(format_args!(
                "{} waits for approval: {}",
                report.call_id,
                single_line(&pending.reason)
            ));
            output.hint(&what_to_do(&report.call_id, pending, Surface::Terminal));
        }
    }
    Ok(())
}

/// What `--json` prints of a call.
#[derive(Serialize)]
pub(super) struct CallOutput {
    #[serde(flatten)]
    call: CallDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Judged>,
}

impl CallOutput {
    pub(super) fn new(report: &CallReport, explain: Option<Judged>) -> Self {
        Self { call: CallDocument::of(report, Surface::Terminal), explain }
    }
}
