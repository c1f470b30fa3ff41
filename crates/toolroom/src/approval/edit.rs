//! Approving a call with edited arguments.

use super::responder::Responder;
use super::sealed::SealedRequest;
use crate::call::Denial;
use crate::ledger::{Answer, Answerer, CallId, DecideError, QuestionState, SealError};
use crate::scope::Scope;
use crate::tool::{Arguments, ToolError};
use crate::toolroom::Toolroom;

/// Edited arguments for a parked call.
#[derive(Debug, Clone)]
pub struct EditRequest {
    /// The parked call.
    pub call: CallId,
    /// The scope of the person who edits.
    pub scope: Scope,
    /// The rights of the person.
    pub by: Responder,
    /// The whole arguments to use instead.
    pub arguments: Arguments,
}

/// The call with the edited arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Its id.
    pub call: CallId,
    /// Who has to answer it, if the editor may not; otherwise the edit granted it.
    pub waits_for: Option<Answerer>,
}

/// Why the arguments were not edited. The old question still waits then.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Nothing waits, or this responder may not answer.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The tool refuses the edited arguments.
    #[error("the edited arguments are refused")]
    Refused(#[source] ToolError),
    /// The call with the edited arguments may not run.
    #[error("the edited call is denied: {} (rule `{}`)", .0.reason, .0.rule)]
    Denied(Denial),
    /// The request is not stored, so it cannot be edited.
    #[error("the request of this call is not stored; make the call again")]
    NotKept,
    /// The request cannot be opened, or the new one cannot be sealed.
    #[error(transparent)]
    Sealed(#[from] SealError),
}

impl Toolroom {
    /// Replaces a parked call by one with edited arguments, and runs nothing. The new call passes the same checks and has a
    /// question of its own. If the editor may answer it, it is granted once; otherwise it waits.
    ///
    /// # Errors
    /// When nothing waits, or when the edited arguments are refused or denied. The old question then stays.
    pub async fn edit(&self, edit: EditRequest) -> Result<Edited, EditError> {
        self.check_responder(&edit.by, &edit.scope, &edit.call, Answer::Edit).await?;
        let question = self.question(&edit.scope, &edit.call).await?;
        let Some(sealed) = SealedRequest::open(self, &question)? else {
            // The request is deleted when the question is closed.
            return Err(match question.state {
                QuestionState::Waiting => EditError::NotKept,
                _ => DecideError::NotWaiting(edit.call).into(),
            });
        };
        let mut request = sealed.into_request(&question.record).arguments(edit.arguments.clone());
        // The model's id stays with the replaced call, which refers to this one.
        request.model_call = None;
        self.park_edited(request, edit).await
    }
}
