//! The operator's answer from the command line: it is recorded, and nothing is run.

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
    let has_condition = when.is_some();
    let request =
        AnswerRequest { call: call.clone(), scope: scope.clone(), by: Responder::Operator, answer, when };
    let planned = match app.room.standing_answer(&request).await {
        Ok(planned) => planned,
        Err(error) => return Err(not_taken(app, scope, &call, error).await),
    };
    if planned.is_none() && has_condition {
        let text = "this call belongs to no conversation, so there are no later calls for a condition";
        return Err(Usage(text.to_owned()).into());
    }
    let mut reach = None;
    match &planned {
        Some(planned) if output.is_json() => reach = Some(app.room.coverage(planned).await?),
        Some(planned) => standing_answer::show(app, planned, output).await?,
        None => {}
    }
    let kept = match app.room.answer(request).await {
        Ok(kept) => kept,
        Err(error) => return Err(not_taken(app, scope, &call, error).await),
    };
    if output.is_json() {
        let still_asks = match &kept {
            Some(kept) => standing_answer::next(app, scope, kept).await?,
            None => None,
        };
        let reach = reach.as_ref().map(ReachDocument::of);
        let document = AnswerDocument { call_id: call, answer, standing: kept, reach, still_asks };
        output.document(&document)?;
    } else {
        tell(&question.record, answer, kept.as_ref(), output);
        if let Some(kept) = &kept {
            standing_answer::tell_next(app, scope, kept, output).await?;
        }
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
    let request =
        EditRequest { call: call.clone(), scope: scope.clone(), by: Responder::Operator, arguments };
    let edited = match app.room.edit(request).await {
        Ok(edited) => edited,
        Err(EditError::Decide(error)) => return Err(not_taken(app, scope, &call, error.into()).await),
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
        output.talk(format_args!("{by} takes its place; {}", next_step(&record, by)));
    }
    Ok(Exit::Done)
}

/// An answer that is not taken is a refusal, or makes no sense, unless something broke.
async fn not_taken(app: &App, scope: &Scope, call: &CallId, error: AnswerError) -> anyhow::Error {
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
