//! `toolroom approvals approve` and `deny`: records the operator's answer and runs nothing.

use toolroom::approval::{AnswerError, AnswerRequest, EditError, EditRequest, Responder};
use toolroom::ledger::{Answer, CallId, CallRecord, DecideError, QuestionState, StandingAnswer};
use toolroom::schema::parse_object;
use toolroom::scope::Scope;

use super::find_question;
use super::standing_answer;
use crate::app::App;
use crate::cli::call::read_stdin;
use crate::cli::console::exit::{Exit, Refused, Usage};
use crate::cli::console::output::{Output, visible};
use crate::documents::{AnswerDocument, EditDocument, ReachDocument, standing, state};

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
    let has_condition = when.is_some();
    let request =
        AnswerRequest { call: call.clone(), scope: scope.clone(), by: Responder::Operator, answer, when };
    let planned = match app.room.standing_answer(&request).await {
        Ok(planned) => planned,
        Err(error) => return Err(answer_error(app, scope, &call, error).await),
    };
    if planned.is_none() && has_condition {
        let text = "this call is not part of a conversation, so a condition cannot apply to later calls";
        return Err(Usage(text.to_owned()).into());
    }
    let mut reach = None;
    match &planned {
        Some(planned) if output.is_json() => reach = Some(app.room.reach(planned).await?),
        Some(planned) => standing_answer::show(app, planned, output).await?,
        None => {}
    }
    let stored = match app.room.answer(request).await {
        Ok(stored) => stored,
        Err(error) => return Err(answer_error(app, scope, &call, error).await),
    };
    if output.is_json() {
        let still_asks = match &stored {
            Some(stored) => standing_answer::next(app, scope, stored).await?,
            None => None,
        };
        let reach = reach.as_ref().map(ReachDocument::of);
        let document = AnswerDocument { call_id: call, answer, standing: stored, reach, still_asks };
        output.document(&document)?;
    } else {
        print_answer(&question.record, answer, stored.as_ref(), output);
        if let Some(stored) = &stored {
            standing_answer::print_next(app, scope, stored, output).await?;
        }
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
        return Err(Refused(standing(&question, now)).into());
    }
    let record = question.record;
    let call = record.id.clone();
    let request =
        EditRequest { call: call.clone(), scope: scope.clone(), by: Responder::Operator, arguments };
    let edited = match app.room.edit(request).await {
        Ok(edited) => edited,
        Err(EditError::Decide(error)) => return Err(answer_error(app, scope, &call, error.into()).await),
        Err(EditError::Denied(denial)) => return Err(Refused(EditError::Denied(denial).to_string()).into()),
        Err(error @ (EditError::Refused(_) | EditError::NotKept | EditError::Sealed(_))) => {
            return Err(error.into());
        }
    };
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

/// Maps a rejected answer to a refusal, a usage error or a failure.
async fn answer_error(app: &App, scope: &Scope, call: &CallId, error: AnswerError) -> anyhow::Error {
    match error {
        AnswerError::Decide(DecideError::NotWaiting(_)) => {
            let question = app.room.approvals().question(scope, call).await;
            let how = question.ok().flatten().map(|question| standing(&question, app.room.clock().now()));
            Refused(how.unwrap_or_else(|| error.to_string())).into()
        }
        AnswerError::Decide(
            DecideError::NotYours | DecideError::NotOwn | DecideError::TooFar(_) | DecideError::OnlyClient,
        ) => Refused(error.to_string()).into(),
        AnswerError::Decide(DecideError::Ledger(_)) | AnswerError::Sealed(_) | AnswerError::Unreadable(_) => {
            error.into()
        }
        AnswerError::Condition(_)
        | AnswerError::NotThisCall(_)
        | AnswerError::NotForever { .. }
        | AnswerError::OnlyOnce { .. }
        | AnswerError::NeedsCondition { .. }
        | AnswerError::Secret
        | AnswerError::NothingStands
        | AnswerError::NoCondition
        | AnswerError::NoArguments => Usage(format!("{:#}", anyhow::Error::from(error))).into(),
    }
}
