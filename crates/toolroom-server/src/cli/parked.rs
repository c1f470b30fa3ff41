//! Parked calls: finding one by what a person types, and telling how it stands.

use serde::Serialize;
use serde_json::Value;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Answerer, CallFilter, CallId, CallStatus, Question, QuestionState, UnreadableQuestion,
};
use toolroom::scope::Scope;

use super::exit::Missing;
use super::log::{named, short};
use super::output::{BOLD, DIM, one_line};
use super::span::told;
use super::words::plain;
use crate::app::App;

/// Room for arguments beside the other columns.
const SUMMARY_CHARS: usize = 48;

/// A question by its call's id, by the end of it, or that of the newest call which is still parked.
pub(super) async fn find(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Question> {
    let status = (name == "last").then_some(CallStatus::Pending);
    let question = match named(app, scope, name, CallFilter { status, ..CallFilter::default() }).await? {
        Some(call) => app.room.approvals().question(scope, &call.id).await?,
        None => None,
    };
    let missing = || match name {
        "last" => Missing("no call is parked".to_owned()),
        _ => Missing(format!("no call was parked under `{name}`; see `toolroom approvals`")),
    };
    Ok(question.ok_or_else(missing)?)
}

/// How it stands now; an expiry may not have been written down yet.
pub(super) fn state(question: &Question, now: Timestamp) -> QuestionState {
    match question.state {
        QuestionState::Waiting | QuestionState::Granted if question.is_late(now) => QuestionState::Expired,
        state => state,
    }
}

/// How it stands now, in a sentence for whoever comes too late to answer.
pub(super) fn standing(question: &Question, now: Timestamp) -> String {
    let call = &question.record.id;
    let answered = || match (question.answer, question.answered_by) {
        (Some(answer), Some(by)) => format!("{}, by the {}", answer.as_str(), by.as_str()),
        _ => "by somebody".to_owned(),
    };
    match (state(question, now), &question.replaced_by) {
        (QuestionState::Waiting, _) if question.waits_for_client() => {
            format!("`{call}` waits for the client that runs it")
        }
        (QuestionState::Waiting, _) => format!("`{call}` waits for an answer"),
        (QuestionState::Refused, Some(by)) => {
            format!("the arguments of `{call}` were edited; `{by}` takes its place")
        }
        (QuestionState::Granted | QuestionState::Refused, _) => {
            format!("`{call}` was answered already: {}", answered())
        }
        (QuestionState::Used, _) => format!("`{call}` was answered already, and has begun"),
        (QuestionState::Expired, _) => format!("`{call}` was not answered, or not run, in time"),
        (QuestionState::Void, _) => format!("the approval of `{call}` no longer holds"),
    }
}

/// What `--json` prints of a question.
#[derive(Serialize)]
pub(super) struct Document {
    call_id: CallId,
    tool: String,
    state: QuestionState,
    by: Answerer,
    rule: Option<String>,
    reason: String,
    entrance: String,
    asked_at: Timestamp,
    expires_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_by: Option<Answerer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<CallId>,
    /// The exact ones where the question is shown, those of the journal in lists.
    pub(super) arguments: Value,
}

impl Document {
    pub(super) fn of(question: &Question, now: Timestamp) -> Self {
        Self {
            call_id: question.record.id.clone(),
            tool: question.record.tool.to_string(),
            state: state(question, now),
            by: question.approval.by,
            rule: question.record.rule.as_ref().map(ToString::to_string),
            reason: question.approval.reason.clone(),
            entrance: question.record.entrance.to_string(),
            asked_at: question.record.asked_at,
            expires_at: question.approval.expires_at,
            answer: question.answer,
            answered_by: question.answered_by,
            replaced_by: question.replaced_by.clone(),
            arguments: Value::clone(&question.record.arguments),
        }
    }
}

/// One of a list of questions.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Listed {
    Question(Document),
    Unreadable { call_id: CallId, error: String },
}

impl Listed {
    pub(super) fn unreadable(unreadable: &UnreadableQuestion) -> Self {
        Self::Unreadable { call_id: unreadable.call.clone(), error: why_unreadable(unreadable) }
    }
}

/// What is told of a question that cannot be read, and what to do about it.
pub(super) fn why_unreadable(unreadable: &UnreadableQuestion) -> String {
    let UnreadableQuestion { call, error } = unreadable;
    let why = anyhow::Error::from(error.clone());
    format!(
        "{call} waits, but cannot be read: {why:#}; answer it with the Toolroom that wrote it, or let its time pass"
    )
}

/// The columns of a listing.
pub(super) fn columns(question: &Question, now: Timestamp) -> Vec<String> {
    let record = &question.record;
    let (state, by) = (state(question, now), question.approval.by.as_str());
    let who = match state {
        QuestionState::Waiting | QuestionState::Granted => {
            format!("{} left, {by}", told(question.approval.expires_at.since(now)))
        }
        QuestionState::Used | QuestionState::Refused | QuestionState::Expired | QuestionState::Void => {
            by.to_owned()
        }
    };
    vec![
        short(&record.id),
        format!("{BOLD}{}{BOLD:#}", one_line(&record.tool, SUMMARY_CHARS)),
        state.as_str().to_owned(),
        format!("{DIM}{who}{DIM:#}"),
        one_line(&plain(&record.arguments), SUMMARY_CHARS),
        one_line(&question.approval.reason, SUMMARY_CHARS),
    ]
}
