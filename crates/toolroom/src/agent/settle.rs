//! What became of calls that somebody else began: the journal knows.

use std::collections::HashMap;
use std::sync::Arc;

use super::calls::{Answered, Settled};
use super::request::{RunError, RunReport};
use super::working::{Stop, Working, error_value};
use crate::call::{CallReport, ResumeError, ResumeRequest};
use crate::ledger::{Answer, CallFilter, CallId, CallRecord, CallStatus, LedgerError};
use crate::model::{Message, Role};
use crate::room::Toolroom;
use crate::scope::Scope;

/// What a model reads of a write that nobody saw the end of.
const UNKNOWN_WRITE: &str = "the outcome of this call is unknown: it was interrupted while it ran";

impl Working<'_> {
    /// The calls of this run by the model's ids.
    pub(super) async fn journal(&self) -> Result<HashMap<String, CallRecord>, LedgerError> {
        let filter =
            CallFilter { run: Some(self.run.id.to_string()), limit: Some(u32::MAX), ..CallFilter::default() };
        let records = self.agent.room.journal.calls(&self.run.scope, filter).await?;
        let named =
            records.into_iter().filter_map(|record| Some((record.model_call.as_deref()?.to_owned(), record)));
        Ok(named.collect())
    }

    /// Ends a run whose process died, because somebody goes on without it.
    pub(super) async fn interrupt(mut self) -> Result<RunReport, RunError> {
        self.settle_open("this call was interrupted before it began").await?;
        self.close(Err(Stop::failed("interrupted", "the process that worked on this run ended"))).await
    }

    /// Answers open calls from the journal and begins none: what never began gets `error`.
    pub(super) async fn settle_open(&mut self, error: &str) -> Result<(), LedgerError> {
        let open = self.open_calls();
        if open.is_empty() {
            return Ok(());
        }
        let known = self.journal().await?;
        let blocks = (open.iter())
            .map(|call| match known.get(call.id.as_str()).and_then(answer) {
                Some(answered) => call.result(answered.content, answered.is_error),
                None => call.error(error, None),
            })
            .collect();
        self.say(Message { role: Role::User, blocks });
        Ok(())
    }
}

/// What a model reads of a call that has ended or was broken off; `None` while somebody is asked about it.
pub(super) fn answer(record: &CallRecord) -> Option<Answered> {
    let text = record.error.as_deref();
    let error = |text: &str, hint: Option<&str>, ran| Answered {
        content: Arc::new(error_value(text, hint)),
        is_error: true,
        ran,
        untrusted: false,
    };
    Some(match record.status {
        CallStatus::Pending => return None,
        CallStatus::Done => Answered {
            content: record.result.clone().unwrap_or_default(),
            is_error: false,
            ran: true,
            untrusted: false,
        },
        CallStatus::Failed => error(text.unwrap_or("the call failed"), None, true),
        CallStatus::Denied => {
            let reason = format!("denied: {}", text.unwrap_or("the call was refused"));
            error(&reason, Some("this call was refused; do not retry it"), false)
        }
        CallStatus::Cancelled => error("the call was stopped before it had an effect", None, true),
        CallStatus::Begun | CallStatus::Unknown => {
            let repeatable = record.effect.is_some_and(|effect| !effect.writes());
            let hint = match repeatable {
                true => "it reads only, so it may be called again",
                false => "do not repeat it; check first what happened, or ask the user",
            };
            error(UNKNOWN_WRITE, Some(hint), true)
        }
    })
}

/// Goes on with a call that was parked.
pub(super) async fn resume(room: &Toolroom, scope: &Scope, call: CallId) -> Result<CallReport, Settled> {
    let mut call = call;
    loop {
        let stop = room.approvals.question(scope, &call).await.ok().flatten();
        if stop.is_some_and(|question| question.answer == Some(Answer::Stop)) {
            return Err(Settled::Stopped);
        }
        match room.resume(ResumeRequest::new(call.clone(), scope.clone())).await {
            Ok(report) => return Ok(report),
            Err(ResumeError::Replaced { by, .. }) => call = by,
            Err(error) => return Err(Settled::Answered(ended(room, scope, &call, &error).await)),
        }
    }
}

/// What is known of a parked call that cannot be run any more.
async fn ended(room: &Toolroom, scope: &Scope, call: &CallId, error: &ResumeError) -> Answered {
    let record = room.journal.call(scope, call).await.ok().flatten();
    record.as_ref().and_then(answer).unwrap_or_else(|| Answered {
        content: Arc::new(error_value(&error.to_string(), None)),
        is_error: true,
        ran: false,
        untrusted: false,
    })
}
