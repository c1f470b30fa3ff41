//! Results that clients deliver for calls of their own tools.

use std::sync::Arc;

use serde_json::Value;

use super::admit::SPENT_RULE;
use super::report::{CallReport, Outcome};
use super::resume::{ResumeError, ResumeRequest};
use super::shorten::dismantle;
use super::size::json_bytes;
use crate::ledger::{
    Answer, Answerer, CallId, CallStatus, DecideError, Decision, LedgerError, Question, QuestionState,
};
use crate::policy::ToolChoice;
use crate::scope::Scope;
use crate::tool::{ClientTool, ToolError, ToolOutput};
use crate::toolroom::Toolroom;

/// Most bytes of a delivered result.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The result, or the client's error.
pub(super) type Delivered = Result<Value, String>;

/// A client's result for a call of its tool.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The call.
    pub call: CallId,
    /// The client's scope: only the caller of the call can deliver for it.
    pub scope: Scope,
    /// The result, or an error that a model may read.
    pub outcome: Result<Value, String>,
    /// The tools that the calling agent may use now.
    pub choice: Option<Arc<ToolChoice>>,
}

impl Delivery {
    /// A delivery for the call of that id.
    #[must_use]
    pub fn new(call: CallId, scope: Scope, outcome: Result<Value, String>) -> Self {
        Self { call, scope, outcome, choice: None }
    }
}

/// Why a result was refused. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// No such call waits for this client.
    #[error("no call `{0}` waits for this client")]
    NotHanded(CallId),
    /// The call still waits for an approval.
    #[error("`{call}` waits for approval by the {}; no result is accepted before that", by.as_str())]
    NotApproved {
        /// The call.
        call: CallId,
        /// Who has to answer.
        by: Answerer,
    },
    /// The call has ended: a result was delivered before, or it was cancelled. Sending a result twice is harmless.
    #[error("`{call}` is {status} already; the result was not used")]
    Over {
        /// The call.
        call: CallId,
        /// How it stands.
        status: CallStatus,
    },
    /// The call cannot be resumed.
    #[error(transparent)]
    Resume(ResumeError),
    /// The call could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl From<ResumeError> for DeliverError {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::NotFound(call) => Self::NotHanded(call),
            ResumeError::Over { call, status } => Self::Over { call, status },
            ResumeError::Replaced { of, .. } => Self::Over { call: of, status: CallStatus::Denied },
            ResumeError::Ledger(error) => Self::Ledger(error),
            error => Self::Resume(error),
        }
    }
}

impl Toolroom {
    /// Takes a client's result. The call passes every station with it: rules and limits hold, secrets are redacted, a long
    /// result is shortened. No tool runs.
    ///
    /// # Errors
    /// When no such call waits for this client, an approval is missing, or a result was delivered before.
    pub async fn deliver(&self, delivery: Delivery) -> Result<CallReport, DeliverError> {
        let Delivery { call, scope, outcome, choice } = delivery;
        let question = self.client_question(&scope, &call).await?;
        if question.record.status.is_final() {
            return Err(DeliverError::Over { call, status: question.record.status });
        }
        if question.state == QuestionState::Waiting && !question.is_late(self.clock.now()) {
            self.grant(&question).await?;
        }
        let mut resume = ResumeRequest::new(call.clone(), scope.clone());
        resume.choice = choice;
        let report = self.resume_with(resume, Some(outcome)).await?;
        match &report.outcome {
            // Another delivery was faster.
            Outcome::Denied(denial) if denial.rule == SPENT_RULE => {
                let status = self.journal.call(&scope, &call).await?.map(|record| record.status);
                Err(DeliverError::Over { call, status: status.unwrap_or(CallStatus::Begun) })
            }
            _ => Ok(report),
        }
    }

    /// The question of a call that a client of exactly this scope has to run.
    async fn client_question(&self, scope: &Scope, call: &CallId) -> Result<Question, DeliverError> {
        let question = self.approvals.question(scope, call).await?;
        let is_theirs = |question: &Question| {
            ClientTool::has_id(&question.record.tool)
                && Answerer::Client.may_answer_call_of(scope, &question.record.scope)
        };
        question.filter(is_theirs).ok_or_else(|| DeliverError::NotHanded(call.clone()))
    }

    /// Grants a call that waits for the client. After a crash it may have been granted and not used.
    async fn grant(&self, question: &Question) -> Result<(), DeliverError> {
        let call = question.record.id.clone();
        if question.approval.by != Answerer::Client {
            return Err(DeliverError::NotApproved { call, by: question.approval.by });
        }
        let decision = Decision {
            call,
            scope: question.record.scope.clone(),
            answer: Answer::Once,
            by: Answerer::Client,
            at: self.clock.now(),
            standing: None,
        };
        match self.ledger.decide(decision).await {
            // Another delivery was faster; resuming shows the state.
            Ok(()) | Err(DecideError::NotWaiting(_)) => Ok(()),
            Err(DecideError::Ledger(error)) => Err(error.into()),
            Err(
                DecideError::NotYours
                | DecideError::NotOwn
                | DecideError::TooFar(_)
                | DecideError::OnlyClient,
            ) => Err(DeliverError::NotHanded(question.record.id.clone())),
        }
    }
}

/// The delivered result as the tool's output.
pub(super) fn output(delivered: Delivered) -> Result<ToolOutput, ToolError> {
    let value = delivered.map_err(ToolError::tool)?;
    let bytes = json_bytes(&value);
    if bytes > MAX_BYTES {
        dismantle(value);
        let text = format!("the client's result has {bytes} bytes, the limit is {MAX_BYTES}");
        return Err(ToolError::tool(text));
    }
    Ok(ToolOutput::new(value))
}
