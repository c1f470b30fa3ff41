//! Answers questions about parked calls for all interfaces.

use std::borrow::Cow;

use toolroom::Toolroom;
use toolroom::approval::{
    AnswerError, AnswerRequest, EditError, EditRequest, Edited, QuestionError, Responder,
};
use toolroom::ledger::{Answer, CallId, DecideError, LedgerError, Question, StandingAnswer};
use toolroom::policy::Ruling;
use toolroom::scope::Scope;
use toolroom::tool::Arguments;

use crate::documents::{AnswerDocument, ReachDocument, question_status_text};

/// Answers the questions of a scope with the rights of one responder.
pub(crate) struct ApprovalService<'a> {
    room: &'a Toolroom,
    scope: &'a Scope,
    by: &'a Responder,
}

/// A reply to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ApprovalReply {
    Answer(Answer),
    /// A yes with other arguments.
    Edit(Arguments),
}

impl ApprovalReply {
    pub(crate) const fn answer(&self) -> Answer {
        match self {
            Self::Answer(answer) => *answer,
            Self::Edit(_) => Answer::Edit,
        }
    }
}

/// Why a reply was not recorded. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplyError {
    #[error("no call was parked under `{0}`")]
    NotFound(CallId),
    /// The question was answered before, or has expired. The text says how it stands.
    #[error("{0}")]
    Closed(String),
    #[error(transparent)]
    Forbidden(DecideError),
    /// The call waits for the result of a client tool.
    #[error(transparent)]
    OnlyClient(DecideError),
    /// The answer does not fit the question.
    #[error(transparent)]
    Answer(AnswerError),
    #[error("this call belongs to no conversation, so there are no later calls for a condition")]
    NoLaterCalls,
    /// The edited arguments are refused or denied, or the request is not kept.
    #[error(transparent)]
    Edit(EditError),
    #[error(transparent)]
    Failed(#[from] LedgerError),
}

impl<'a> ApprovalService<'a> {
    pub(crate) const fn new(room: &'a Toolroom, scope: &'a Scope, by: &'a Responder) -> Self {
        Self { room, scope, by }
    }

    /// The question about a call, or about the call that replaced it after an edit.
    pub(crate) async fn newest_question(&self, call: &CallId) -> Result<Option<Question>, LedgerError> {
        let mut question = self.room.approvals().question(self.scope, call).await?;
        while let Some(by) = question.as_ref().and_then(|question| question.replaced_by.clone()) {
            question = self.room.approvals().question(self.scope, &by).await?;
        }
        Ok(question)
    }

    /// Records a reply, unless the question is already closed: an earlier answer stands.
    pub(crate) async fn reply(&self, call: &CallId, reply: ApprovalReply) -> Result<(), ReplyError> {
        let recorded = match reply {
            ApprovalReply::Answer(answer) => self.answer(call, answer, None).await.map(drop),
            ApprovalReply::Edit(arguments) => self.edit(call, arguments).await.map(drop),
        };
        match recorded {
            Err(ReplyError::NotFound(_) | ReplyError::Closed(_)) => Ok(()),
            recorded => recorded,
        }
    }

    /// Records an answer. Returns the standing answer that it creates, if any.
    pub(crate) async fn answer(
        &self,
        call: &CallId,
        answer: Answer,
        when: Option<String>,
    ) -> Result<Option<StandingAnswer>, ReplyError> {
        match self.room.answer(self.request(call, answer, when)).await {
            Ok(standing) => Ok(standing),
            Err(error) => Err(self.not_answered(call, error).await),
        }
    }

    /// The standing answer that an answer would create. Records nothing.
    pub(crate) async fn plan(
        &self,
        call: &CallId,
        answer: Answer,
        when: Option<String>,
    ) -> Result<Option<StandingAnswer>, ReplyError> {
        let has_condition = when.is_some();
        match self.room.standing_answer(&self.request(call, answer, when)).await {
            Ok(None) if has_condition => Err(ReplyError::NoLaterCalls),
            Ok(planned) => Ok(planned),
            Err(error) => Err(self.not_answered(call, error).await),
        }
    }

    /// Records an answer and describes what it changes.
    pub(crate) async fn answer_with_effects(
        &self,
        call: &CallId,
        answer: Answer,
        when: Option<String>,
    ) -> Result<AnswerDocument, ReplyError> {
        let reach = match self.plan(call, answer, when.clone()).await? {
            Some(planned) => Some(ReachDocument::of(&self.room.coverage(&planned).await?)),
            None => None,
        };
        let standing = self.answer(call, answer, when).await?;
        let still_asks = match &standing {
            Some(standing) => self.next_rule(standing).await?,
            None => None,
        };
        Ok(AnswerDocument { call_id: call.clone(), answer, standing, reach, still_asks })
    }

    /// Replaces the arguments of a parked call.
    pub(crate) async fn edit(&self, call: &CallId, arguments: Arguments) -> Result<Edited, ReplyError> {
        let (scope, by) = (self.scope.clone(), self.by.clone());
        match self.room.edit(EditRequest { call: call.clone(), scope, by, arguments }).await {
            Ok(edited) => Ok(edited),
            Err(EditError::Decide(error)) => Err(self.not_decided(call, error).await),
            Err(EditError::Sealed(error)) => Err(unsealed(error)),
            Err(error @ (EditError::Refused(_) | EditError::Denied(_) | EditError::NotKept)) => {
                Err(ReplyError::Edit(error))
            }
        }
    }

    /// The rule that still asks about calls like the one that was answered with a standing yes.
    pub(crate) async fn next_rule(
        &self,
        standing: &StandingAnswer,
    ) -> Result<Option<Cow<'static, str>>, ReplyError> {
        match standing.effect {
            Ruling::Allow => self.room.next_question(self.scope, &standing.call).await.map_err(unsealed),
            Ruling::Ask | Ruling::Deny => Ok(None),
        }
    }

    fn request(&self, call: &CallId, answer: Answer, when: Option<String>) -> AnswerRequest {
        AnswerRequest { call: call.clone(), scope: self.scope.clone(), by: self.by.clone(), answer, when }
    }

    async fn not_answered(&self, call: &CallId, error: AnswerError) -> ReplyError {
        match error {
            AnswerError::Decide(error) => self.not_decided(call, error).await,
            AnswerError::Sealed(error) => unsealed(error),
            AnswerError::Unreadable(error) => {
                LedgerError::new("check the condition for secrets", error).into()
            }
            AnswerError::Condition(_)
            | AnswerError::NotThisCall(_)
            | AnswerError::NotForever { .. }
            | AnswerError::OnlyOnce { .. }
            | AnswerError::NeedsCondition { .. }
            | AnswerError::Secret
            | AnswerError::NothingStands
            | AnswerError::NoCondition
            | AnswerError::NoArguments => ReplyError::Answer(error),
        }
    }

    async fn not_decided(&self, call: &CallId, error: DecideError) -> ReplyError {
        match error {
            DecideError::NotWaiting(_) => match self.room.approvals().question(self.scope, call).await {
                Ok(Some(question)) => {
                    ReplyError::Closed(question_status_text(&question, self.room.clock().now()))
                }
                Ok(None) => ReplyError::NotFound(call.clone()),
                Err(error) => error.into(),
            },
            DecideError::NotYours | DecideError::NotOwn | DecideError::TooFar(_) => {
                ReplyError::Forbidden(error)
            }
            DecideError::OnlyClient => ReplyError::OnlyClient(error),
            DecideError::Ledger(error) => error.into(),
        }
    }
}

fn unsealed(error: impl Into<QuestionError>) -> ReplyError {
    match error.into() {
        QuestionError::Sealed(error) => LedgerError::new("open what was asked", error).into(),
        QuestionError::Ledger(error) => error.into(),
    }
}
