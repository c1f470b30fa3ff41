//! Who may give which answers: one rule for all channels.

use std::sync::Arc;

use super::sealed::SealedRequest;
use crate::ledger::{Answer, Answerer, CallId, DecideError, LedgerError, Question};
use crate::policy::asks_each_time;
use crate::scope::Scope;
use crate::toolroom::Toolroom;

/// The person who answers, as the entrance knows them from their credential.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Responder {
    /// The operator: the owner of the data folder, or a caller with the right to approve where operators answer.
    Operator,
    /// A caller with the right to approve, where callers answer: at the prompt of a call, in a chat. Answers as the caller,
    /// also for later calls.
    Approver,
    /// A caller with the right to answer its own calls, by the name that [`crate::call::CallRequest::caller`] has.
    Caller(Arc<str>),
    /// A caller without it.
    #[default]
    Observer,
}

/// What a caller may say to a question about its own call: nothing that decides about other calls.
const OWN: [Answer; 4] = [Answer::Once, Answer::No, Answer::Edit, Answer::Stop];

/// The same for a question of the provenance guard, whose yes is for one conversation anyway.
const OWN_EACH_TIME: [Answer; 5] = [Answer::Once, Answer::Session, Answer::No, Answer::Edit, Answer::Stop];

impl Responder {
    /// As whom the answer is recorded.
    #[must_use]
    pub const fn answerer(&self) -> Answerer {
        match self {
            Self::Operator => Answerer::Operator,
            Self::Approver | Self::Caller(_) | Self::Observer => Answerer::Caller,
        }
    }

    /// The answers that are taken from this responder, to a question of `rule` that `wanted` has to answer, about a call
    /// of `caller`. Forms and hints offer these and no others.
    #[must_use]
    pub fn answers(&self, rule: &str, wanted: Answerer, caller: Option<&str>) -> &'static [Answer] {
        match self {
            _ if !self.answerer().may_answer_for(wanted) => &[],
            Self::Operator | Self::Approver => &Answer::ALL,
            Self::Caller(own) if caller != Some(own) => &[],
            Self::Caller(_) if asks_each_time(rule) => &OWN_EACH_TIME,
            Self::Caller(_) => &OWN,
            Self::Observer => &[],
        }
    }
}

impl Toolroom {
    /// The answers to this question that are taken from `by`.
    ///
    /// # Errors
    /// When what is asked cannot be opened, so that it is not known whose call it is.
    pub fn answers(&self, question: &Question, by: &Responder) -> Result<&'static [Answer], LedgerError> {
        let unsealed = |error| LedgerError::new("unseal the request", error);
        let caller = match by {
            Responder::Caller(_) => {
                SealedRequest::open(self, question).map_err(unsealed)?.and_then(|request| request.caller)
            }
            Responder::Operator | Responder::Approver | Responder::Observer => None,
        };
        let rule = question.record.rule.as_deref().unwrap_or_default();
        Ok(by.answers(rule, question.approval.by, caller.as_deref()))
    }

    /// Whether `by` may give this answer to a question that waits.
    pub(super) async fn check_responder(
        &self,
        by: &Responder,
        scope: &Scope,
        call: &CallId,
        answer: Answer,
    ) -> Result<(), DecideError> {
        // What these may answer is checked in the ledger's transaction.
        if matches!(by, Responder::Operator | Responder::Approver) {
            return Ok(());
        }
        let question = self.question(scope, call).await?;
        DecideError::check(by.answerer(), question.approval.by)?;
        match self.answers(&question, by)? {
            [] => Err(DecideError::NotOwn),
            answers if answers.contains(&answer) => Ok(()),
            _ => Err(DecideError::TooFar(answer)),
        }
    }
}
