//! Parked calls and their answers.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolroom::approval::AnswerCoverage;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Answerer, CallId, Question, QuestionState, StandingAnswer, UnreadableQuestion,
};

/// Current state of a question, including an expiry that is not stored yet.
pub(crate) fn state(question: &Question, now: Timestamp) -> QuestionState {
    match question.state {
        QuestionState::Waiting | QuestionState::Granted if question.is_late(now) => QuestionState::Expired,
        state => state,
    }
}

/// Why a question cannot be answered any more.
pub(crate) fn question_status_text(question: &Question, now: Timestamp) -> String {
    let call = &question.record.id;
    let answered = || match (question.answer, question.answered_by) {
        (Some(answer), Some(by)) => format!("{}, by the {}", answer.as_str(), by.as_str()),
        _ => "elsewhere".to_owned(),
    };
    match (state(question, now), &question.replaced_by) {
        (QuestionState::Waiting, _) if question.waits_for_client() => {
            format!("`{call}` waits for its client to run it")
        }
        (QuestionState::Waiting, _) => format!("`{call}` waits for approval"),
        (QuestionState::Refused, Some(by)) => {
            format!("the arguments of `{call}` were edited; replaced by `{by}`")
        }
        (QuestionState::Granted | QuestionState::Refused, _) => {
            format!("`{call}` was answered already: {}", answered())
        }
        (QuestionState::Used, _) => format!("`{call}` was answered already, and has begun"),
        (QuestionState::Expired, _) => format!("`{call}` expired before it was answered or run"),
        (QuestionState::Void, _) => format!("the approval of `{call}` is no longer valid"),
    }
}

/// A parked call that needs approval.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Question")]
pub(crate) struct QuestionDocument {
    /// The parked call.
    call_id: CallId,
    /// Id of the tool.
    tool: String,
    /// State.
    state: QuestionState,
    /// Who may answer.
    by: Answerer,
    /// Rule that requires approval.
    rule: Option<String>,
    /// Reason.
    reason: String,
    /// Interface the call came through.
    entrance: String,
    /// Time of the call: microseconds since the Unix epoch.
    asked_at: Timestamp,
    /// Expiry time.
    expires_at: Timestamp,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
    /// Role of the responder.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_by: Option<Answerer>,
    /// The call that replaced it, if the arguments were edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<CallId>,
    /// Exact arguments of a single question; redacted ones in lists.
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

/// An entry in a list of questions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ListedQuestion {
    /// A readable question.
    Question(Box<QuestionDocument>),
    /// An unreadable question.
    Unreadable {
        /// The parked call.
        call_id: CallId,
        /// Error and what to do.
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

/// The error for an unreadable question.
pub(crate) fn why_unreadable(unreadable: &UnreadableQuestion) -> String {
    let UnreadableQuestion { call, error } = unreadable;
    let why = anyhow::Error::from(error.clone());
    format!(
        "{call} waits, but cannot be read: {why:#}; answer it with the Toolroom that wrote it, or let it expire"
    )
}

/// A recorded answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GivenAnswer")]
pub(crate) struct AnswerDocument {
    /// Id of the call.
    pub(crate) call_id: CallId,
    /// The answer.
    pub(crate) answer: Answer,
    /// The standing answer, if it applies to later calls.
    pub(crate) standing: Option<StandingAnswer>,
    /// How many past calls it would have decided.
    pub(crate) reach: Option<ReachDocument>,
    /// The rule that still requires approval of calls like this one.
    pub(crate) still_asks: Option<Cow<'static, str>>,
}

/// Reach of a standing answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AnswerCoverage")]
pub(crate) struct ReachDocument {
    /// Past calls it would have decided.
    matched: usize,
    /// Past calls of the tool that were checked.
    of: usize,
}

impl ReachDocument {
    pub(crate) fn of(reach: &AnswerCoverage) -> Self {
        Self { matched: reach.matched, of: reach.of }
    }
}

/// Edited arguments of a parked call.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EditedCall")]
pub(crate) struct EditDocument {
    /// The call that was parked.
    pub(crate) call_id: CallId,
    /// `edit`.
    pub(crate) answer: Answer,
    /// The call that replaces it.
    pub(crate) replaced_by: CallId,
    /// Who must approve the new call, if the editor may not.
    pub(crate) waits_for: Option<Answerer>,
}
