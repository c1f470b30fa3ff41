//! Parked calls, and what was said to them.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom::approval::AnswerCoverage;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Answerer, CallId, Question, QuestionState, StandingAnswer, UnreadableQuestion,
};

/// How a question stands now; an expiry may not have been written down yet.
pub(crate) fn state(question: &Question, now: Timestamp) -> QuestionState {
    match question.state {
        QuestionState::Waiting | QuestionState::Granted if question.is_late(now) => QuestionState::Expired,
        state => state,
    }
}

/// How it stands now, in a sentence for whoever comes too late to answer.
pub(crate) fn standing(question: &Question, now: Timestamp) -> String {
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

/// A question.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Question")]
pub(crate) struct QuestionDocument {
    /// The parked call.
    call_id: CallId,
    /// The tool's full id.
    tool: String,
    /// How it stands.
    state: QuestionState,
    /// Who has to answer.
    by: Answerer,
    /// The rule that asks.
    rule: Option<String>,
    /// Why it is asked.
    reason: String,
    /// Where the call came in.
    entrance: String,
    /// When it was asked: microseconds since the Unix epoch.
    asked_at: Timestamp,
    /// From when on the answer is no.
    expires_at: Timestamp,
    /// What was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
    /// As whom it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_by: Option<Answerer>,
    /// The call that took its place, if the arguments were edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<CallId>,
    /// The exact ones where the question is shown, those of the journal in lists.
    pub(crate) arguments: Value,
}

impl QuestionDocument {
    pub(crate) fn of(question: &Question, now: Timestamp) -> Self {
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
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ListedQuestion {
    /// One that can be read.
    Question(Box<QuestionDocument>),
    /// One that cannot.
    Unreadable {
        /// The parked call.
        call_id: CallId,
        /// Why not, and what to do.
        error: String,
    },
}

impl ListedQuestion {
    pub(crate) fn of(question: &Question, now: Timestamp) -> Self {
        Self::Question(Box::new(QuestionDocument::of(question, now)))
    }

    pub(crate) fn unreadable(unreadable: &UnreadableQuestion) -> Self {
        Self::Unreadable { call_id: unreadable.call.clone(), error: why_unreadable(unreadable) }
    }

    pub(crate) fn call(&self) -> &CallId {
        match self {
            Self::Question(question) => &question.call_id,
            Self::Unreadable { call_id, .. } => call_id,
        }
    }
}

/// What is told of a question that cannot be read, and what to do about it.
pub(crate) fn why_unreadable(unreadable: &UnreadableQuestion) -> String {
    let UnreadableQuestion { call, error } = unreadable;
    let why = anyhow::Error::from(error.clone());
    format!(
        "{call} waits, but cannot be read: {why:#}; answer it with the Toolroom that wrote it, or let its time pass"
    )
}

/// An answer that was taken.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GivenAnswer")]
pub(crate) struct AnswerDocument {
    /// The call it is about.
    pub(crate) call_id: CallId,
    /// What was said.
    pub(crate) answer: Answer,
    /// What stands from now on, if the answer is for more than this call.
    pub(crate) standing: Option<StandingAnswer>,
    /// How many past calls that would have decided.
    pub(crate) reach: Option<ReachDocument>,
    /// The rule that still asks about calls like this one.
    pub(crate) still_asks: Option<Cow<'static, str>>,
}

/// How far an answer reaches.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AnswerCoverage")]
pub(crate) struct ReachDocument {
    /// So many of them it would have decided.
    matched: usize,
    /// So many past calls of the tool were looked at.
    of: usize,
}

impl ReachDocument {
    pub(crate) fn of(reach: &AnswerCoverage) -> Self {
        Self { matched: reach.matched, of: reach.of }
    }
}

/// Arguments that were put in the place of others.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EditedCall")]
pub(crate) struct EditDocument {
    /// The call that was parked.
    pub(crate) call_id: CallId,
    /// `edit`.
    pub(crate) answer: Answer,
    /// The call that takes its place.
    pub(crate) replaced_by: CallId,
    /// Who has to answer that one, if whoever edited may not.
    pub(crate) waits_for: Option<Answerer>,
}
