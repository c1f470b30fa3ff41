//! Parked calls: finding one by what a person types, and telling how it stands.

use toolroom::clock::Timestamp;
use toolroom::ledger::{CallFilter, CallStatus, Question, QuestionState};
use toolroom::scope::Scope;

use crate::app::App;
use crate::cli::console::exit::Missing;
use crate::cli::console::output::short_id;
use crate::cli::console::output::{BOLD, DIM, one_line};
use crate::cli::console::time::remaining;
use crate::cli::log::named;
use crate::documents::state;
use toolroom::schema::plain;

/// Room for arguments beside the other columns.
const SUMMARY_CHARS: usize = 48;

/// A question by its call's id, by the end of it, or that of the newest call which is still parked.
pub(crate) async fn find(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Question> {
    let status = (name == "last").then_some(CallStatus::Pending);
    let question = match named(app, scope, name, CallFilter { status, ..CallFilter::default() }).await? {
        Some(call) => app.room.approvals().question(scope, &call.id).await?,
        None => None,
    };
    let missing = || match name {
        "last" => Missing("no call is parked; what became of earlier ones is in `toolroom log`".to_owned()),
        _ => Missing(format!("no call was parked under `{name}`; see `toolroom approvals`")),
    };
    Ok(question.ok_or_else(missing)?)
}

/// The columns of a listing.
pub(crate) fn columns(question: &Question, now: Timestamp) -> Vec<String> {
    let record = &question.record;
    let (state, by) = (state(question, now), question.approval.by.as_str());
    let who = match state {
        QuestionState::Waiting | QuestionState::Granted => {
            format!("{} left, {by}", remaining(question.approval.expires_at.since(now)))
        }
        QuestionState::Used | QuestionState::Refused | QuestionState::Expired | QuestionState::Void => {
            by.to_owned()
        }
    };
    vec![
        short_id(&record.id),
        format!("{BOLD}{}{BOLD:#}", one_line(&record.tool, SUMMARY_CHARS)),
        state.as_str().to_owned(),
        format!("{DIM}{who}{DIM:#}"),
        one_line(&plain(&record.arguments), SUMMARY_CHARS),
        one_line(&question.approval.reason, SUMMARY_CHARS),
    ]
}
