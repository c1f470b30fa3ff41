//! What exactly is asked.

use super::sealed::SealedRequest;
use crate::ledger::{CallId, LedgerError, Question, SealError};
use crate::room::Toolroom;
use crate::scope::Scope;
use crate::tool::Arguments;

/// A question with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The exact arguments; `None` when they are no longer, or were never, kept.
    pub arguments: Option<Arguments>,
}

/// Why a question cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum AskedError {
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
    pub async fn asked(&self, scope: &Scope, call: &CallId) -> Result<Option<Asked>, AskedError> {
        let Some(question) = self.approvals.question(scope, call).await? else {
            return Ok(None);
        };
        let arguments = SealedRequest::open(self, &question)?.map(|request| request.arguments);
        Ok(Some(Asked { question, arguments }))
    }
}
