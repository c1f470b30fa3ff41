//! Saying yes to other arguments.

use super::responder::Responder;
use super::sealed::SealedRequest;
use crate::call::Denial;
use crate::ledger::{Answer, Answerer, CallId, DecideError, SealError};
use crate::scope::Scope;
use crate::tool::{Arguments, ToolError};
use crate::toolroom::Toolroom;

/// Other arguments for a parked call.
#[derive(Debug, Clone)]
pub struct EditRequest {
    /// The parked call.
    pub call: CallId,
    /// Who edits.
    pub scope: Scope,
    /// With which rights.
    pub by: Responder,
    /// The whole arguments to use instead.
    pub arguments: Arguments,
}

/// The call with the other arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Its id.
    pub call: CallId,
    /// Who has to answer it, if whoever edited may not; otherwise it was granted by the edit.
    pub waits_for: Option<Answerer>,
}

/// Why the arguments were not edited. The old question still waits then.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Nothing waits, or somebody else has to answer.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The tool does not take the other arguments.
    #[error("the edited arguments are refused")]
    Refused(#[source] ToolError),
    /// The call with the other arguments may not run.
    #[error("the edited call is denied: {} (rule `{}`)", .0.reason, .0.rule)]
    Denied(Denial),
    /// The request was not kept, so it cannot be made with other arguments.
    #[error("the request of this call is not kept; make the call again")]
    NotKept,
    /// The request can no longer be read, or the new one not be sealed.
    #[error(transparent)]
    Sealed(#[from] SealError),
}

impl Toolroom {
    /// Puts other arguments in the place of a parked call's and runs nothing: they are a new call that goes
    /// through the same checks, with a question of its own. If whoever edits may answer that one, it is granted
    /// once; otherwise it waits anew.
    ///
    /// # Errors
    /// When nothing waits, or when the other arguments are refused or denied. The old question then stays.
    pub async fn edit(&self, edit: EditRequest) -> Result<Edited, EditError> {
        self.check_responder(&edit.by, &edit.scope, &edit.call, Answer::Edit).await?;
        let question = self.question(&edit.scope, &edit.call).await?;
        let sealed = SealedRequest::open(self, &question)?.ok_or(EditError::NotKept)?;
        let mut request = sealed.into_request(&question.record).arguments(edit.arguments.clone());
        // The model's call is the one that is replaced; whoever asks for it is led on to this one.
        request.model_call = None;
        self.park_edited(request, edit).await
    }
}
