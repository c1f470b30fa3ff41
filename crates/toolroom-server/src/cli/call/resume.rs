//! Running a call that was parked.

use toolroom::call::{CallReport, ResumeError, ResumeRequest};

use crate::app::App;
use crate::cli::console::exit::{Missing, Refused};
use crate::cli::console::output::Output;

/// Runs it. If its arguments were edited, the call that took its place is the one to run.
pub(super) async fn run(app: &App, mut request: ResumeRequest, output: Output) -> anyhow::Result<CallReport> {
    loop {
        match app.room.resume(request.clone()).await {
            Ok(report) => return Ok(report),
            Err(ResumeError::Replaced { of, by }) => {
                output.talk(format_args!("the arguments of {of} were edited; {by} takes its place"));
                request.call = by;
            }
            Err(error @ ResumeError::NotFound(_)) => {
                return Err(Missing(format!("{error}; see `toolroom approvals` and `toolroom log`")).into());
            }
            Err(error @ (ResumeError::Over { .. } | ResumeError::Unrepeatable { .. })) => {
                let hint = format!("see `toolroom log {}`", request.call);
                return Err(Refused(format!("{error}; {hint}")).into());
            }
            Err(
                error @ (ResumeError::NotKept(_)
                | ResumeError::Broken(_)
                | ResumeError::Sealed(_)
                | ResumeError::Ledger(_)),
            ) => return Err(error.into()),
        }
    }
}
