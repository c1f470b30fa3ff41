//! The operator's answer from the command line: it is recorded, and nothing is run.

use toolroom::approval::{EditError, Responder};
use toolroom::ledger::{Answer, CallId, CallRecord, QuestionState, StandingAnswer};
use toolroom::schema::parse_object;
use toolroom::scope::Scope;

use super::find_question;
use super::standing_answer;
use crate::app::App;
use crate::approvals::{ApprovalService, ReplyError};
use crate::cli::call::read_stdin;
use crate::cli::console::exit::{Exit, Refused, Usage};
use crate::cli::console::output::{Output, visible};
use crate::documents::{EditDocument, standing, state};

/// An answer without the call it is about.
pub(super) struct Said {
    pub(super) answer: Answer,
    /// Which later calls it is about, too.
    pub(super) when: Option<String>,
}

/// Records an answer of the operator: whoever owns the data folder.
pub(super) async fn give(
    app: &App,
    scope: &Scope,
    name: &str,
    said: Said,
    output: Output,
) -> anyhow::Result<Exit> {
    let question = find_question(app, scope, name).await?;
    let Said { answer, when } = said;
    let call = question.record.id.clone();
    let approvals = ApprovalService::new(&app.room, scope, &Responder::Operator);
    if !output.is_json()
        && let Some(planned) = approvals.plan(&call, answer, when.clone()).await.map_err(not_recorded)?
    {
        standing_answer::show(app, &planned, output).await?;
    }
    let document = approvals.answer_with_effects(&call, answer, when).await.map_err(not_recorded)?;
    if output.is_json() {
        output.document(&document)?;
    } else {
        tell(&question.record, answer, document.standing.as_ref(), output);
        standing_answer::tell_next(document.still_asks.as_deref(), output);
    }
    Ok(Exit::Done)
}

/// How a parked call goes on once it is granted: with the run it belongs to, or by itself.
fn next_step(record: &CallRecord, call: &CallId) -> String {
    match &record.run {
        Some(run) => format!("`toolroom runs resume {}` goes on with it", visible(run)),
        None => format!("run it with `toolroom call --resume {call}`"),
    }
}

fn tell(record: &CallRecord, answer: Answer, kept: Option<&StandingAnswer>, output: Output) {
    let (said, tool) = (answer.as_str(), visible(&record.tool));
    if answer == Answer::Session && kept.is_none() {
        output.talk("it belongs to no conversation, so the answer is for this call alone");
    }
    output.talk(match answer.is_yes() {
        true => format!("said {said} to {tool}; {}", next_step(record, &record.id)),
        false => format!("said {said} to {tool}; it will not run"),
    });
    if let Some(kept) = kept {
        output.talk(format_args!("take it back with `toolroom policy forget {}`", kept.id));
    }
}

/// Puts other arguments in the place of the parked ones.
pub(super) async fn edit(
    app: &App,
    scope: &Scope,
    name: &str,
    json: &str,
    output: Output,
) -> anyhow::Result<Exit> {
    let text = match json {
        "-" => read_stdin().map_err(|error| Usage(format!("standard input cannot be read: {error}")))?,
        json => json.to_owned(),
    };
    let arguments = parse_object(&text).map_err(|error| Usage(format!("--edit: {error}")))?;
    let question = find_question(app, scope, name).await?;
    let now = app.room.clock().now();
    if state(&question, now) != QuestionState::Waiting {
        return Err(Refused(standing(&question, now)).into());
    }
    let record = question.record;
    let call = record.id.clone();
    let approvals = ApprovalService::new(&app.room, scope, &Responder::Operator);
    let edited = approvals.edit(&call, arguments).await.map_err(not_recorded)?;
    if output.is_json() {
        let (replaced_by, waits_for) = (edited.call, edited.waits_for);
        let document = EditDocument { call_id: call, answer: Answer::Edit, replaced_by, waits_for };
        output.document(&document)?;
    } else {
        let by = &edited.call;
        output.talk(format_args!("{by} takes its place; {}", next_step(&record, by)));
    }
    Ok(Exit::Done)
}

fn not_recorded(error: ReplyError) -> anyhow::Error {
    match error {
        ReplyError::NotFound(_)
        | ReplyError::Closed(_)
        | ReplyError::Forbidden(_)
        | ReplyError::OnlyClient(_)
        | ReplyError::Edit(EditError::Denied(_)) => Refused(error.to_string()).into(),
        ReplyError::Answer(_) | ReplyError::NoLaterCalls => {
            Usage(format!("{:#}", anyhow::Error::from(error))).into()
        }
        ReplyError::Edit(_) | ReplyError::Failed(_) => error.into(),
    }
}
