//! What exactly is asked.

use std::borrow::Cow;
use std::sync::Arc;

use super::sealed::SealedRequest;
use crate::ledger::{CallId, LedgerError, Question, SealError};
use crate::policy::Ruling;
use crate::scope::Scope;
use crate::tool::Arguments;
use crate::toolroom::Toolroom;

/// A question with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionDetails {
    /// The question.
    pub question: Question,
    /// The exact arguments; `None` when they are no longer, or were never, kept.
    pub arguments: Option<Arguments>,
    /// Who made the call, where its entrance said so; nothing when it is no longer kept.
    pub caller: Option<Arc<str>>,
}

/// Why a question cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// What was sealed cannot be opened.
    #[error(transparent)]
    Sealed(#[from] SealError),
    /// It could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Toolroom {
    /// A question and the exact arguments it is about, for whoever has to answer it.
    ///
    /// # Errors
    /// When it cannot be read or opened.
    pub async fn question_details(
        &self,
        scope: &Scope,
        call: &CallId,
    ) -> Result<Option<QuestionDetails>, QuestionError> {
        let Some(question) = self.approvals.question(scope, call).await? else {
            return Ok(None);
        };
        Ok(Some(self.open_question(question)?))
    }

    /// What exactly a question is about that was read already.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_question(&self, question: Question) -> Result<QuestionDetails, SealError> {
        let kept = SealedRequest::open(self, &question)?.map(|request| (request.arguments, request.caller));
        let (arguments, caller) = kept.unzip();
        Ok(QuestionDetails { question, arguments, caller: caller.flatten() })
    }

    /// The rule that would ask about a call like the parked one if it were made now, with the answers that stand by
    /// now. An answer lifts one question and no other, so the next one may come from the preset or another rule;
    /// whoever has just answered for good should know. `None` if nothing would ask, or the request is not kept.
    ///
    /// # Errors
    /// When the question cannot be read or opened.
    pub async fn next_question(
        &self,
        scope: &Scope,
        call: &CallId,
    ) -> Result<Option<Cow<'static, str>>, QuestionError> {
        let Some(question) = self.approvals.question(scope, call).await? else {
            return Ok(None);
        };
        let Some(request) = SealedRequest::open(self, &question)? else {
            return Ok(None);
        };
        // A tool that is gone, or does not take the arguments any more, asks nothing.
        let explained = self.explain(request.into_request(&question.record)).await.ok();
        let verdict = explained.and_then(|explained| explained.verdict).and_then(Result::ok);
        Ok(verdict.filter(|verdict| verdict.ruling == Ruling::Ask).map(|verdict| verdict.rule))
    }
}
