//! What became of calls that somebody else began: the journal knows.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::calls::{Answered, Settled};
use super::request::{RunError, RunReport};
use super::working::{Stop, Working, error_value};
use crate::call::{CallReport, ResumeError, ResumeRequest};
use crate::ledger::{
    Answer, CallFilter, CallId, CallRecord, CallStatus, CloseCall, LedgerError, ParkedQuestion,
};
use crate::model::{Message, Role};
use crate::room::Toolroom;
use crate::scope::Scope;
use crate::tool::Effect;

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
        let mut blocks = Vec::with_capacity(open.len());
        for call in &open {
            blocks.push(match known.get(call.id.as_str()) {
                Some(record) => {
                    self.withdraw(record).await?;
                    let answered = answer(record);
                    call.result(answered.content, answered.is_error)
                }
                None => call.error(error, None),
            });
        }
        self.say(Message { role: Role::User, blocks });
        Ok(())
    }

    /// Takes back the question of a call that nobody waits for any more.
    async fn withdraw(&self, record: &CallRecord) -> Result<(), LedgerError> {
        if record.status != CallStatus::Pending {
            return Ok(());
        }
        let mut record = record.clone();
        record.status = CallStatus::Cancelled;
        record.error = Some("the run it belongs to has ended".to_owned());
        record.ended_at = Some(self.now());
        let question = ParkedQuestion::Void;
        let close = CloseCall { record, artifact: None, enqueue: Vec::new(), question };
        self.agent.room.ledger.close(close).await
    }
}

/// What a model reads of a call that has ended, was broken off, or was never answered.
pub(super) fn answer(record: &CallRecord) -> Answered {
    let text = record.error.as_deref();
    let error = |text: &str, hint: Option<&str>, ran| Answered {
        content: Arc::new(error_value(text, hint)),
        is_error: true,
        ran,
        untrusted: false,
    };
    match record.status {
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
        CallStatus::Pending => error("nobody has said yes to this call, and it was not made", None, false),
        CallStatus::Cancelled => error("the call was stopped before it had an effect", None, true),
        CallStatus::Begun | CallStatus::Unknown => {
            let hint = match record.effect.is_some_and(Effect::may_repeat) {
                true => "calling it again does no harm",
                false => "do not repeat it; check first what happened, or ask the user",
            };
            error("the outcome of this call is unknown: it was interrupted while it ran", Some(hint), true)
        }
    }
}

/// Goes on with a call that was parked.
pub(super) async fn resume(
    room: &Toolroom,
    call: CallId,
    scope: Scope,
    cancellation: CancellationToken,
) -> Result<CallReport, Settled> {
    let mut request = ResumeRequest::new(call, scope);
    request.cancellation = cancellation;
    loop {
        let question = room.approvals.question(&request.scope, &request.call).await.ok().flatten();
        if question.is_some_and(|question| question.answer == Some(Answer::Stop)) {
            return Err(Settled::Stopped);
        }
        match room.resume(request.clone()).await {
            Ok(report) => return Ok(report),
            Err(ResumeError::Replaced { by, .. }) => request.call = by,
            Err(error) => return Err(Settled::Answered(ended(room, &request, &error).await)),
        }
    }
}

/// What is known of a parked call that cannot be run any more.
async fn ended(room: &Toolroom, request: &ResumeRequest, error: &ResumeError) -> Answered {
    let record = room.journal.call(&request.scope, &request.call).await.ok().flatten();
    record.as_ref().map_or_else(
        || Answered {
            content: Arc::new(error_value(&error.to_string(), None)),
            is_error: true,
            ran: false,
            untrusted: false,
        },
        answer,
    )
}
