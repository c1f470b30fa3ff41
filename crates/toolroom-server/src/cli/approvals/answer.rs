//! `toolroom approvals approve` and `deny`: records the operator's answer and runs nothing.

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
use crate::documents::{EditDocument, question_status_text, state};

/// An answer given on the command line.
pub(super) struct OperatorAnswer {
    pub(super) answer: Answer,
    /// Condition on the later calls the answer applies to.
    pub(super) when: Option<String>,
}

/// Records an answer of the operator, who is the owner of the data folder.
pub(super) async fn record(
    app: &App,
    scope: &Scope,
    name: &str,
    answer: OperatorAnswer,
    output: Output,
) -> anyhow::Result<Exit> {
    let question = find_question(app, scope, name).await?;
    let OperatorAnswer { answer, when } = answer;
    let call = question.record.id.clone();
    let approvals = ApprovalService::new(&app.room, scope, &Responder::Operator);
    if !output.is_json()
        && let Some(planned) = approvals.plan(&call, answer, when.clone()).await.map_err(answer_error)?
    {
        standing_answer::show(app, &planned, output).await?;
    }
    let document = approvals.answer_with_effects(&call, answer, when).await.map_err(answer_error)?;
    if output.is_json() {
        output.document(&document)?;
    } else {
        print_answer(&question.record, answer, document.standing.as_ref(), output);
        standing_answer::print_next(document.still_asks.as_deref(), output);
    }
    Ok(Exit::Done)
}

/// How to continue an approved call: with its run, or by itself.
fn next_step(record: &CallRecord, call: &CallId) -> String {
    match &record.run {
        Some(run) => format!("continue with `toolroom runs resume {}`", visible(run)),
        None => format!("run it with `toolroom call --resume {call}`"),
    }
}

fn print_answer(record: &CallRecord, answer: Answer, stored: Option<&StandingAnswer>, output: Output) {
    let tool = visible(&record.tool);
    if answer == Answer::Session && stored.is_none() {
        output.talk("The call is not part of a conversation, so the answer applies to this call only");
    }
    let verb = answered(answer);
    output.talk(match answer.is_yes() {
        true => format!("{verb}: {tool}; {}", next_step(record, &record.id)),
        false => format!("{verb}: {tool}; the call will not run"),
    });
    if let Some(stored) = stored {
        output.talk(format_args!("Undo with `toolroom policy forget {}`", stored.id));
    }
}

/// The answer as people read it.
pub(super) const fn answered(answer: Answer) -> &'static str {
    match answer {
        Answer::Once => "Approved once",
        Answer::Session => "Approved for this conversation",
        Answer::Always => "Always approved",
        Answer::No => "Denied",
        Answer::Never => "Always denied",
        Answer::Edit => "Edited",
        Answer::Stop => "Denied, and the run stopped",
    }
}

/// Replaces the arguments of a parked call.
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
        return Err(Refused(question_status_text(&question, now)).into());
    }
    let record = question.record;
    let call = record.id.clone();
    let approvals = ApprovalService::new(&app.room, scope, &Responder::Operator);
    let edited = approvals.edit(&call, arguments).await.map_err(answer_error)?;
    if output.is_json() {
        let (replaced_by, waits_for) = (edited.call, edited.waits_for);
        let document = EditDocument { call_id: call, answer: Answer::Edit, replaced_by, waits_for };
        output.document(&document)?;
    } else {
        let by = &edited.call;
        output.talk(format_args!("Replaced by {by}; {}", next_step(&record, by)));
    }
    Ok(Exit::Done)
}

fn answer_error(error: ReplyError) -> anyhow::Error {
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
