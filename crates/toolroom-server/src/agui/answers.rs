//! Answers to the questions of a run that waits: all of them, each once, each in time, by whoever may.

use std::collections::HashMap;
use std::sync::Arc;

use toolroom::Toolroom;
use toolroom::approval::Responder;
use toolroom::conversation::{ConversationId, NumberedEvent, Run, RunEvent};
use toolroom::ledger::{Answerer, CallId, DecideError, LedgerError, Question, QuestionState};
use toolroom::scope::Scope;

use super::input::{Resume, ResumeStatus};
use super::interrupt::{is_same, reply};
use crate::approvals::{ApprovalService, Reply, ReplyError};

/// How a client broke the rules, as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refusal {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What the answers come to.
pub(super) enum Answered {
    /// The run can go on.
    GoOn,
    /// The client takes its questions back, and with them the run.
    Cancel,
    Refused(Refusal),
}

/// What is asked in a thread.
pub(super) struct Questions<'a> {
    pub(super) room: &'a Toolroom,
    pub(super) scope: &'a Scope,
    /// Who answers.
    pub(super) by: &'a Responder,
    pub(super) conversation: &'a ConversationId,
}

impl Questions<'_> {
    /// The questions of a run that nobody has answered, in time or not.
    pub(super) async fn open(&self, run: &Run, told: &[NumberedEvent]) -> Result<Vec<Question>, LedgerError> {
        let waiting = told.iter().rev().find_map(|event| match &event.event {
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

    /// Looks at all answers before any of them counts.
    pub(super) async fn take(&self, open: &[Question], answers: &[Resume]) -> Result<Answered, LedgerError> {
        let mut given: HashMap<&str, Reply> = HashMap::new();
        let is_answered = |question: &&Question| {
            answers.iter().any(|answer| answer.interrupt_id == question.record.id.as_str())
        };
        if let Some(missing) = open.iter().find(|question| !is_answered(question)) {
            let message = format!(
                "`{}` waits for an answer too; `resume` has to answer every question at once",
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
                return Ok(refused(
                    "unknown_interrupt",
                    format!("nothing was asked as `{id}` in this thread"),
                ));
            };
            if answer.status == ResumeStatus::Cancelled {
                continue;
            }
            match self.judge(&question, answer)? {
                Ok(Some(reply)) => drop(given.insert(&answer.interrupt_id, reply)),
                Ok(None) => {}
                Err(refusal) => return Ok(Answered::Refused(refusal)),
            }
        }
        if answers.iter().any(|answer| answer.status == ResumeStatus::Cancelled) {
            return Ok(Answered::Cancel);
        }
        for (id, reply) in given {
            if let Err(refusal) = self.give(&CallId::new(id), reply).await? {
                return Ok(Answered::Refused(refusal));
            }
        }
        Ok(Answered::GoOn)
    }

    /// What an answer means for its question; nothing, if it has been answered.
    fn judge(
        &self,
        question: &Question,
        answer: &Resume,
    ) -> Result<Result<Option<Reply>, Refusal>, LedgerError> {
        let id = &answer.interrupt_id;
        let reply = reply(&answer.payload);
        if question.state == QuestionState::Expired
            || (is_open(question) && question.is_late(self.room.clock().now()))
        {
            let message =
                format!("the time to answer `{id}` is over; send it as `cancelled` to go on with the thread");
            return Ok(Err(Refusal::new("expired", message)));
        }
        let answers = match is_open(question) {
            true => self.room.answers(question, self.by)?,
            false => &[],
        };
        if is_open(question) && answers.is_empty() {
            let why = match question.approval.by {
                Answerer::Operator => "has to be answered by the operator, who has not answered yet",
                _ => {
                    "is not for you to answer: that takes the scope `answer` for a run of your own, or `approve`"
                }
            };
            return Ok(Err(Refusal::new("operator", format!("`{id}` {why}"))));
        }
        // A client that may not answer says nothing, and waits until it was done elsewhere.
        if !is_open(question) && (question.approval.by == Answerer::Operator || answer.payload.is_null()) {
            return Ok(Ok(None));
        }
        let Some(reply) = reply else {
            let message =
                format!("the payload for `{id}` does not fit the `responseSchema` of the interrupt");
            return Ok(Err(Refusal::new("invalid_payload", message)));
        };
        if is_open(question) && !answers.contains(&reply.answer()) {
            let text = DecideError::TooFar(reply.answer()).to_string();
            return Ok(Err(Refusal::new("answer_refused", text)));
        }
        Ok(match (is_open(question), question.answer, question.answered_by) {
            (true, ..) => Ok(Some(reply)),
            // Somebody else was quicker, and their answer stands.
            (false, _, Some(Answerer::Operator)) | (false, None, _) => Ok(None),
            (false, Some(given), _) if is_same(&reply, given) => Ok(None),
            (false, Some(given), _) => {
                let message = format!("`{id}` was answered before, with `{}`", given.as_str());
                Err(Refusal::new("already_answered", message))
            }
        })
    }

    async fn give(&self, call: &CallId, reply: Reply) -> Result<Result<(), Refusal>, LedgerError> {
        match self.approvals().reply(call, reply).await {
            Ok(()) => Ok(Ok(())),
            Err(ReplyError::Failed(error)) => Err(error),
            Err(error) => {
                let text = format!("{:#}", anyhow::Error::from(error));
                Ok(Err(Refusal::new("answer_refused", text)))
            }
        }
    }

    const fn approvals(&self) -> ApprovalService<'_> {
        ApprovalService::new(self.room, self.scope, self.by)
    }
}

fn refused(code: &'static str, message: impl Into<String>) -> Answered {
    Answered::Refused(Refusal::new(code, message))
}

/// Whether a person has to answer.
fn is_open(question: &Question) -> bool {
    question.state == QuestionState::Waiting && question.approval.by != Answerer::Client
}

/// A question as it was told when it was asked.
pub(super) fn told(question: &Question) -> RunEvent {
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
