//! Questions with the exact request they are about.

use std::borrow::Cow;
use std::sync::Arc;

use super::sealed::SealedRequest;
use crate::ledger::{CallId, LedgerError, Question, SealError};
use crate::policy::Ruling;
use crate::scope::Scope;
use crate::tool::Arguments;
use crate::toolroom::Toolroom;

/// A question with its exact arguments and caller.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionDetails {
    /// The question.
    pub question: Question,
    /// The exact arguments; `None` when they are not stored.
    pub arguments: Option<Arguments>,
    /// The caller, if its entrance named one and it is still stored.
    pub caller: Option<Arc<str>>,
}

/// Why a question cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// The sealed request cannot be opened.
    #[error(transparent)]
    Sealed(#[from] SealError),
    /// It could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Toolroom {
    /// A question with its exact arguments, for the person who answers it.
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

    /// The details of a question that was already read.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_question(&self, question: Question) -> Result<QuestionDetails, SealError> {
        let stored = SealedRequest::open(self, &question)?.map(|request| (request.arguments, request.caller));
        let (arguments, caller) = stored.unzip();
        Ok(QuestionDetails { question, arguments, caller: caller.flatten() })
    }

    /// The rule that would ask about the parked call if it were made now. A standing answer lifts the question of one rule,
    /// so another rule or the preset may still ask; a person who has just answered for good should know. `None` if
    /// nothing would ask, or the request is not stored.
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
        // A tool that is gone, or refuses the arguments by now, asks nothing.
        let explained = self.explain(request.into_request(&question.record)).await.ok();
        let verdict = explained.and_then(|explained| explained.verdict).and_then(Result::ok);
        Ok(verdict.filter(|verdict| verdict.ruling == Ruling::Ask).map(|verdict| verdict.rule))
    }
}
