//! What a client says came of a call that it ran.

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

/// What is larger is not taken.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The result, or why there is none, in the client's words.
pub(super) type Delivered = Result<Value, String>;

/// What a client brings for a call that it was to run.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The call.
    pub call: CallId,
    /// Whose client it is: only whoever made the call can deliver for it.
    pub scope: Scope,
    /// The result, or what went wrong, in words a model may read.
    pub outcome: Result<Value, String>,
    /// What the agent may use that made the call, as it is now.
    pub choice: Option<Arc<ToolChoice>>,
}

impl Delivery {
    /// This came of the call of that id.
    #[must_use]
    pub fn new(call: CallId, scope: Scope, outcome: Result<Value, String>) -> Self {
        Self { call, scope, outcome, choice: None }
    }
}

/// Why nothing was taken. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// Nothing was handed to this client under that id.
    #[error("no call was handed to a client under `{0}`")]
    NotHanded(CallId),
    /// A person has to be asked first, and has not answered.
    #[error("`{call}` waits for the yes of the {}; what a client does before that does not count", by.as_str())]
    NotApproved {
        /// The call.
        call: CallId,
        /// Who has to answer.
        by: Answerer,
    },
    /// A result was delivered before, or the call was given up. To send it again is no mistake.
    #[error("`{call}` is {status} already; what is delivered now changes nothing")]
    Over {
        /// The call.
        call: CallId,
        /// How it stands.
        status: CallStatus,
    },
    /// The call can no longer be gone on with.
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
    /// Takes what a client says came of a call that it ran. The call goes through every station with it: what was
    /// forbidden meanwhile is denied, limits hold, secrets are hidden, a long result is shortened. Nothing runs here.
    ///
    /// # Errors
    /// When nothing was handed to this client, a person has to be asked first, or a result was delivered before.
    pub async fn deliver(&self, delivery: Delivery) -> Result<CallReport, DeliverError> {
        let Delivery { call, scope, outcome, choice } = delivery;
        let question = self.handed(&scope, &call).await?;
        if question.record.status.is_final() {
            return Err(DeliverError::Over { call, status: question.record.status });
        }
        if question.state == QuestionState::Waiting && !question.is_late(self.clock.now()) {
            self.sign(&question).await?;
        }
        let mut resume = ResumeRequest::new(call.clone(), scope.clone());
        resume.choice = choice;
        let report = self.go_on(resume, Some(outcome)).await?;
        match &report.outcome {
            // Of two who deliver at once one comes second.
            Outcome::Denied(denial) if denial.rule == SPENT_RULE => {
                let status = self.journal.call(&scope, &call).await?.map(|record| record.status);
                Err(DeliverError::Over { call, status: status.unwrap_or(CallStatus::Begun) })
            }
            _ => Ok(report),
        }
    }

    /// The question of a call that a client of this very scope has to run.
    async fn handed(&self, scope: &Scope, call: &CallId) -> Result<Question, DeliverError> {
        let question = self.approvals.question(scope, call).await?;
        let is_theirs = |question: &Question| {
            ClientTool::has_id(&question.record.tool)
                && Answerer::Client.may_answer_call_of(scope, &question.record.scope)
        };
        question.filter(is_theirs).ok_or_else(|| DeliverError::NotHanded(call.clone()))
    }

    /// Answers what waits for the client. After a crash it may have been answered, and not been used.
    async fn sign(&self, question: &Question) -> Result<(), DeliverError> {
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
            // Somebody was quicker; how it stands now is seen when it goes on.
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

/// What the station `run` hands on.
pub(super) fn output(delivered: Delivered) -> Result<ToolOutput, ToolError> {
    let value = delivered.map_err(ToolError::tool)?;
    let bytes = json_bytes(&value);
    if bytes > MAX_BYTES {
        dismantle(value);
        let text = format!("the result of the client has {bytes} bytes, at most {MAX_BYTES} are taken");
        return Err(ToolError::tool(text));
    }
    Ok(ToolOutput::new(value))
}
