//! The answers in `resume`: a client answers all questions of a waiting run at once, each in time.

use std::collections::HashMap;
use std::sync::Arc;

use toolroom::Toolroom;
use toolroom::approval::Responder;
use toolroom::conversation::{ConversationId, NumberedEvent, Run, RunEvent};
use toolroom::ledger::{Answerer, CallId, DecideError, LedgerError, Question, QuestionState};
use toolroom::scope::Scope;

use super::input::{Resume, ResumeStatus};
use super::interrupt::{is_same, reply};
use crate::approvals::{ApprovalReply, ApprovalService, ReplyError};

/// A violation of the protocol, as reported to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProtocolViolation {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl ProtocolViolation {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

pub(super) enum ResumeOutcome {
    /// The run can continue.
    Continue,
    /// The client cancels its questions, and with them the run.
    Cancel,
    Refused(ProtocolViolation),
}

/// The questions of a thread.
pub(super) struct ThreadQuestions<'a> {
    pub(super) room: &'a Toolroom,
    pub(super) scope: &'a Scope,
    pub(super) by: &'a Responder,
    pub(super) conversation: &'a ConversationId,
}

impl ThreadQuestions<'_> {
    /// The unanswered questions of a run, also the expired ones.
    pub(super) async fn open(
        &self,
        run: &Run,
        events: &[NumberedEvent],
    ) -> Result<Vec<Question>, LedgerError> {
        let waiting = events.iter().rev().find_map(|event| match &event.event {
            RunEvent::Waiting { calls } => Some(calls.as_slice()),
            _ => None,
        });
        let mut open = Vec::new();
        for call in waiting.filter(|_| run.state.is_open()).unwrap_or_default() {
            let Some(question) = self.approvals().newest_question(call).await? else { continue };
            if is_open(&question) {
                open.push(question);
            }
        }
        Ok(open)
    }

    /// Checks all answers, then records them.
    pub(super) async fn take(
        &self,
        open: &[Question],
        answers: &[Resume],
    ) -> Result<ResumeOutcome, LedgerError> {
        let mut given: HashMap<&str, ApprovalReply> = HashMap::new();
        let is_answered = |question: &&Question| {
            answers.iter().any(|answer| answer.interrupt_id == question.record.id.as_str())
        };
        if let Some(missing) = open.iter().find(|question| !is_answered(question)) {
            let message = format!(
                "`{}` also needs an answer; `resume` must answer every interrupt at once",
                missing.record.id
            );
            return Ok(refused("incomplete_resume", message));
        }
        for answer in answers {
            let id = CallId::new(&answer.interrupt_id);
            let question = self.room.approvals().question(self.scope, &id).await?;
            let is_here =
                |question: &Question| question.record.thread.as_deref() == Some(self.conversation.as_str());
            let Some(question) = question.filter(is_here) else {
                return Ok(refused("unknown_interrupt", format!("this thread has no interrupt `{id}`")));
            };
            if answer.status == ResumeStatus::Cancelled {
                continue;
            }
            match self.judge(&question, answer)? {
                Ok(Some(reply)) => drop(given.insert(&answer.interrupt_id, reply)),
                Ok(None) => {}
                Err(refusal) => return Ok(ResumeOutcome::Refused(refusal)),
            }
        }
        if answers.iter().any(|answer| answer.status == ResumeStatus::Cancelled) {
            return Ok(ResumeOutcome::Cancel);
        }
        for (id, reply) in given {
            if let Err(refusal) = self.give(&CallId::new(id), reply).await? {
                return Ok(ResumeOutcome::Refused(refusal));
            }
        }
        Ok(ResumeOutcome::Continue)
    }

    /// The reply to record. `None` if the question is already answered.
    fn judge(
        &self,
        question: &Question,
        answer: &Resume,
    ) -> Result<Result<Option<ApprovalReply>, ProtocolViolation>, LedgerError> {
        let id = &answer.interrupt_id;
        let reply = reply(&answer.payload);
        if question.state == QuestionState::Expired
            || (is_open(question) && question.is_late(self.room.clock().now()))
        {
            let message = format!("`{id}` has expired; send it as `cancelled` to continue the thread");
            return Ok(Err(ProtocolViolation::new("expired", message)));
        }
        let answers = match is_open(question) {
            true => self.room.answers(question, self.by)?,
            false => &[],
        };
        if is_open(question) && answers.is_empty() {
            let why = match question.approval.by {
                Answerer::Operator => "must be answered by the operator, who has not answered yet",
                _ => "needs the scope `answer` for your own runs, or `approve`",
            };
            return Ok(Err(ProtocolViolation::new("operator", format!("`{id}` {why}"))));
        }
        // A client that may not answer sends no payload and waits for the operator.
        if !is_open(question) && (question.approval.by == Answerer::Operator || answer.payload.is_null()) {
            return Ok(Ok(None));
        }
        let Some(reply) = reply else {
            let message =
                format!("the payload for `{id}` does not fit the `responseSchema` of the interrupt");
            return Ok(Err(ProtocolViolation::new("invalid_payload", message)));
        };
        if is_open(question) && !answers.contains(&reply.answer()) {
            let text = DecideError::TooFar(reply.answer()).to_string();
            return Ok(Err(ProtocolViolation::new("answer_refused", text)));
        }
        Ok(match (is_open(question), question.answer, question.answered_by) {
            (true, ..) => Ok(Some(reply)),
            // An earlier answer of the operator stands.
            (false, _, Some(Answerer::Operator)) | (false, None, _) => Ok(None),
            (false, Some(given), _) if is_same(&reply, given) => Ok(None),
            (false, Some(given), _) => {
                let message = format!("`{id}` is already answered with `{}`", given.as_str());
                Err(ProtocolViolation::new("already_answered", message))
            }
        })
    }

    async fn give(
        &self,
        call: &CallId,
        reply: ApprovalReply,
    ) -> Result<Result<(), ProtocolViolation>, LedgerError> {
        match self.approvals().reply(call, reply).await {
            Ok(()) => Ok(Ok(())),
            Err(ReplyError::Failed(error)) => Err(error),
            Err(error) => {
                let text = format!("{:#}", anyhow::Error::from(error));
                Ok(Err(ProtocolViolation::new("answer_refused", text)))
            }
        }
    }

    const fn approvals(&self) -> ApprovalService<'_> {
        ApprovalService::new(self.room, self.scope, self.by)
    }
}

fn refused(code: &'static str, message: impl Into<String>) -> ResumeOutcome {
    ResumeOutcome::Refused(ProtocolViolation::new(code, message))
}

fn is_open(question: &Question) -> bool {
    question.state == QuestionState::Waiting && question.approval.by != Answerer::Client
}

/// The event with which a question was asked.
pub(super) fn asks_event(question: &Question) -> RunEvent {
    let record = &question.record;
    RunEvent::Asks {
        id: toolroom::model::ModelCallId::new(record.model_call.as_deref().unwrap_or_default()),
        call: record.id.clone(),
        tool: Arc::clone(&record.tool),
        rule: record.rule.as_deref().unwrap_or_default().to_owned(),
        reason: question.approval.reason.clone(),
        by: question.approval.by,
        expires_at: question.approval.expires_at,
    }
}
