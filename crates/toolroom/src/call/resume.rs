//! Resumes parked calls after an approval or a delivery.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::approve::ResumedCall;
use super::deliver::Delivered;
use super::open_call::OpenCall;
use super::report::{CallReport, Denial, Outcome, Pending};
use super::request::ProgressSink;
use crate::approval::SealedRequest;
use crate::ledger::{
    Answer, Attempt, CallId, CallStatus, CloseCall, EXPIRED_RULE, LedgerError, ParkedQuestion, Question,
    QuestionState, SealError,
};
use crate::policy::{Provenance, ToolChoice};
use crate::provenance::CallSource;
use crate::scope::Scope;
use crate::tool::Effect;
use crate::toolroom::Toolroom;

/// Which parked call to resume, for whom.
#[derive(Clone)]
pub struct ResumeRequest {
    /// The parked call.
    pub call: CallId,
    /// Whose call it is.
    pub scope: Scope,
    /// Stops the call.
    pub cancellation: CancellationToken,
    /// Receives progress.
    pub progress: Option<ProgressSink>,
    /// The tools that the resuming agent may use now.
    pub choice: Option<Arc<ToolChoice>>,
    /// Source of the caller that receives the result; the call's own if absent.
    pub source: Option<CallSource>,
}

impl ResumeRequest {
    /// Resumes the call of that id.
    #[must_use]
    pub fn new(call: CallId, scope: Scope) -> Self {
        Self {
            call,
            scope,
            cancellation: CancellationToken::new(),
            progress: None,
            choice: None,
            source: None,
        }
    }
}

/// Why a call cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// No call was ever parked under that id.
    #[error("no call was parked under `{0}`")]
    NotFound(CallId),
    /// The call has run; an approval is used once.
    #[error("`{call}` has run already and is {status}; an approval is used once")]
    Over {
        /// The call.
        call: CallId,
        /// How it stands.
        status: CallStatus,
    },
    /// It began, its process died, and repeating it could do harm.
    #[error(
        "`{call}` began and its outcome is unknown; a {effect} is not repeated: check what happened, then make a new call"
    )]
    Unrepeatable {
        /// The call.
        call: CallId,
        /// What it does.
        effect: Effect,
    },
    /// The arguments were edited: another call is to be run.
    #[error("the arguments of `{of}` were edited; `{by}` takes its place")]
    Replaced {
        /// The call that was parked.
        of: CallId,
        /// The one that takes its place.
        by: CallId,
    },
    /// The toolroom has no seal, so the request was not stored.
    #[error("the request of `{0}` is not stored; make the call again")]
    NotKept(CallId),
    /// The runtime shut down while the call ran.
    #[error("`{0}` was interrupted; see its row in the journal")]
    Broken(CallId),
    /// The request cannot be read.
    #[error(transparent)]
    Sealed(#[from] SealError),
    /// The question could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Toolroom {
    /// Resumes a parked call, through every station. A call without an answer is reported as pending again, and so is one
    /// that its client has to run; one that was refused or has expired is reported as denied.
    ///
    /// # Errors
    /// When the call cannot be resumed.
    pub async fn resume(&self, resume: ResumeRequest) -> Result<CallReport, ResumeError> {
        self.resume_with(resume, None).await
    }

    /// Resumes a call, with the client's result if there is one.
    pub(super) async fn resume_with(
        &self,
        resume: ResumeRequest,
        delivered: Option<Delivered>,
    ) -> Result<CallReport, ResumeError> {
        let found = self.approvals.question(&resume.scope, &resume.call).await?;
        let question = found.ok_or_else(|| ResumeError::NotFound(resume.call.clone()))?;
        let attempt = match self.attempt(&question, delivered.is_some())? {
            Ok(attempt) => attempt,
            Err(outcome) => return Ok(self.report(&question, outcome).await),
        };
        let sealed = SealedRequest::open(self, &question)?;
        let sealed = sealed.ok_or_else(|| ResumeError::NotKept(resume.call.clone()))?;
        let salt = sealed.salt.clone();
        let mut request = sealed.into_request(&question.record);
        request.cancellation = resume.cancellation.child_token();
        request.progress = resume.progress;
        request.choice = resume.choice;
        request.source = resume.source.unwrap_or(request.source);
        // Between the use of the grant and the last row the call must not be dropped: on its own task it ends properly,
        // even if the caller goes away.
        let _stopped = request.cancellation.clone().drop_guard();
        let resumed = ResumedCall::new(&question, salt, attempt, delivered);
        let call = OpenCall::resumed(self, request, question.record, resumed);
        let room = self.clone();
        tokio::spawn(async move { room.finish(call).await })
            .await
            .map_err(|_| ResumeError::Broken(resume.call))
    }

    /// Whether the call may begin, or the outcome it has already.
    fn attempt(
        &self,
        question: &Question,
        is_delivered: bool,
    ) -> Result<Result<Attempt, Outcome>, ResumeError> {
        let (call, status) = (question.record.id.clone(), question.record.status);
        let late = question.is_late(self.clock.now());
        Ok(match (question.state, status) {
            (QuestionState::Waiting, CallStatus::Pending) if !late => Err(still_pending(question)),
            (QuestionState::Granted, CallStatus::Pending) if !late => Ok(Attempt::First),
            (QuestionState::Used, CallStatus::Unknown) if !late => {
                let effect = question.record.effect.unwrap_or(Effect::Destructive);
                // A delivered result may be recorded twice; the client ran the tool once.
                if !effect.may_repeat() && !is_delivered {
                    return Err(ResumeError::Unrepeatable { call, effect });
                }
                Ok(Attempt::Retry)
            }
            (QuestionState::Waiting | QuestionState::Granted, CallStatus::Pending)
            | (QuestionState::Expired, _) => Err(denied(EXPIRED_RULE, question.approval.by.expiry_reason())),
            (QuestionState::Refused, _) => match &question.replaced_by {
                Some(by) => return Err(ResumeError::Replaced { of: call, by: by.clone() }),
                None => Err(denied(
                    "approval.refused",
                    question.answer.and_then(Answer::refusal).unwrap_or("a person said no"),
                )),
            },
            (QuestionState::Void, _) => {
                let why = question.record.error.as_deref().filter(|_| status == CallStatus::Denied);
                let why = why.unwrap_or("the approval no longer holds; make the call again");
                Err(denied("approval.void", why))
            }
            (QuestionState::Waiting | QuestionState::Granted | QuestionState::Used, _) => {
                return Err(ResumeError::Over { call, status });
            }
        })
    }

    /// Reports a parked call that does not run; closes it if it has expired.
    async fn report(&self, question: &Question, outcome: Outcome) -> CallReport {
        let expired = matches!(&outcome, Outcome::Denied(denial) if denial.rule == EXPIRED_RULE);
        if expired && question.record.status == CallStatus::Pending {
            let mut record = question.record.clone();
            record.status = CallStatus::Denied;
            record.rule = Some(EXPIRED_RULE.into());
            record.error = Some(question.approval.by.expiry_reason().to_owned());
            record.ended_at = Some(self.clock.now());
            let close = CloseCall {
                record,
                artifacts: Vec::new(),
                enqueue: Vec::new(),
                question: ParkedQuestion::Expired,
            };
            if let Err(error) = self.ledger.close(close).await {
                tracing::warn!(call = %question.record.id, %error, "an expired question is not closed");
            }
        }
        let rule = match &outcome {
            Outcome::Denied(denial) => Some(denial.rule.clone()),
            Outcome::Done(_) | Outcome::Failed(_) | Outcome::Pending(_) => question.record.rule.clone(),
        };
        CallReport {
            call_id: question.record.id.clone(),
            tool: question.record.tool.to_string(),
            rule,
            outcome,
            provenance: Provenance::NONE,
            duration: std::time::Duration::ZERO,
        }
    }
}

fn still_pending(question: &Question) -> Outcome {
    Outcome::Pending(Pending {
        rule: question.record.rule.clone().unwrap_or_default(),
        reason: question.approval.reason.clone(),
        by: question.approval.by,
        expires_at: question.approval.expires_at,
    })
}

fn denied(rule: &'static str, reason: &str) -> Outcome {
    Outcome::Denied(Denial::by_rule(rule, reason))
}
