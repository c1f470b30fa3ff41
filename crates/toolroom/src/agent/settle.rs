//! Settles calls that another process, or an earlier run of the loop, began: their outcome is in the journal.

use std::collections::HashMap;
use std::sync::Arc;

use super::active_run::{ActiveRun, Stop, UnansweredCall, error_value};
use super::run_request::{RunError, RunReport};
use super::tool_calls::{Answered, Settled};
use crate::call::{CallReport, Pending, ResumeError, ResumeRequest};
use crate::conversation::RunEvent;
use crate::ledger::{
    Answer, Answerer, CallFilter, CallId, CallRecord, CallStatus, CloseCall, LedgerError, ParkedQuestion,
};
use crate::model::{Message, Role};
use crate::policy::Provenance;
use crate::scope::Scope;
use crate::tool::{ClientTool, Effect};
use crate::toolroom::Toolroom;

impl ActiveRun<'_> {
    /// The journal rows of these calls, by the model's ids. If the arguments were edited, the row of the call that replaced
    /// the model's.
    pub(super) async fn journal(
        &self,
        open: &[UnansweredCall],
    ) -> Result<HashMap<String, CallRecord>, LedgerError> {
        let filter =
            CallFilter { run: Some(self.run.id.to_string()), limit: Some(u32::MAX), ..CallFilter::default() };
        let records = self.agent.room.journal.calls(&self.run.scope, filter).await?;
        let mut named = HashMap::with_capacity(open.len());
        for record in records {
            let is_asked = |call: &&UnansweredCall| Some(call.id.as_str()) == record.model_call.as_deref();
            if let Some(call) = open.iter().find(is_asked) {
                let newest = newest(&self.agent.room, &self.run.scope, record).await?;
                named.insert(call.id.to_string(), newest);
            }
        }
        Ok(named)
    }

    /// Ends a run whose process died, as a new message continues the conversation without it.
    pub(super) async fn interrupt(mut self) -> Result<RunReport, RunError> {
        self.settle_open(Vec::new(), "this call was interrupted before it began").await?;
        self.close(Err(Stop::failed("interrupted", "the process that worked on this run ended"))).await
    }

    /// Answers open calls without making any: from `settled`, else from the journal. Calls that never began get `error`, and
    /// pending questions are withdrawn.
    pub(super) async fn settle_open(
        &mut self,
        settled: Vec<Settled>,
        error: &str,
    ) -> Result<(), LedgerError> {
        let open = self.open_calls();
        if open.is_empty() {
            return Ok(());
        }
        let known = self.journal(&open).await?;
        let mut blocks = Vec::with_capacity(open.len());
        let mut settled = settled.into_iter();
        for call in &open {
            blocks.push(match (settled.next(), known.get(call.id.as_str())) {
                (Some(Settled::Answered(answered)), _) => call.result(answered.content, answered.is_error),
                (_, Some(record)) => {
                    self.withdraw(record).await?;
                    self.report_known(call, record);
                    let answered = answer(record);
                    call.result(answered.content, answered.is_error)
                }
                (_, None) => call.error(error, None),
            });
        }
        self.say(Message { role: Role::User, blocks });
        Ok(())
    }

    /// Whether an answer to one of these calls ended the run.
    pub(super) async fn is_stopped(
        &self,
        records: impl Iterator<Item = &CallRecord>,
    ) -> Result<bool, LedgerError> {
        for record in records.filter(|record| record.status == CallStatus::Denied) {
            if is_stopped(&self.agent.room, &self.run.scope, &record.id).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends the event of a call that ended without us, unless it was sent before.
    pub(super) fn report_known(&self, call: &UnansweredCall, record: &CallRecord) {
        if !self.reported.contains(&call.id) {
            self.events.send(ended_event(call, record));
        }
    }

    /// Withdraws the question of a call that is no longer needed.
    async fn withdraw(&self, record: &CallRecord) -> Result<(), LedgerError> {
        if record.status != CallStatus::Pending {
            return Ok(());
        }
        let mut record = record.clone();
        record.status = CallStatus::Cancelled;
        record.error = Some("the run it belongs to has ended".to_owned());
        record.ended_at = Some(self.now());
        let question = ParkedQuestion::Void;
        let close = CloseCall { record, artifacts: Vec::new(), enqueue: Vec::new(), question };
        self.agent.room.ledger.close(close).await
    }
}

/// The call itself, or the one that replaced it if its arguments were edited.
pub(super) async fn newest(
    room: &Toolroom,
    scope: &Scope,
    mut record: CallRecord,
) -> Result<CallRecord, LedgerError> {
    while record.status == CallStatus::Denied {
        let question = room.approvals.question(scope, &record.id).await?;
        let Some(by) = question.and_then(|question| question.replaced_by) else { break };
        let Some(replacement) = room.journal.call(scope, &by).await? else { break };
        record = replacement;
    }
    Ok(record)
}

/// The event of a call that waits for an approval, or for its client.
pub(super) fn waits_event(call: &UnansweredCall, report: &CallReport, pending: &Pending) -> RunEvent {
    let (id, call, expires_at) = (call.id.clone(), report.call_id.clone(), pending.expires_at);
    // The id, also of a tool that is no longer offered.
    let tool = report.tool.as_str().into();
    match pending.by {
        Answerer::Client => RunEvent::Handed { id, call, tool, expires_at },
        by @ (Answerer::Caller | Answerer::Operator) => {
            let (rule, reason) = (pending.rule.to_string(), pending.reason.clone());
            RunEvent::Asks { id, call, tool, rule, reason, by, expires_at }
        }
    }
}

/// The event of an ended call, from its journal row.
pub(super) fn ended_event(call: &UnansweredCall, record: &CallRecord) -> RunEvent {
    let outcome = match record.status {
        CallStatus::Begun => CallStatus::Unknown,
        CallStatus::Pending => CallStatus::Cancelled,
        ended => ended,
    };
    RunEvent::CallEnded {
        id: call.id.clone(),
        call: record.id.clone(),
        tool: Arc::clone(&record.tool),
        outcome: outcome.as_str().to_owned(),
        result: answer(record).content,
        artifact: record.artifact.clone(),
        // Offers are for the client that made the call.
        offers: Vec::new(),
        duration_us: record.duration_us,
    }
}

/// What a model reads of a call that has ended, was interrupted, or was never answered.
pub(super) fn answer(record: &CallRecord) -> Answered {
    let text = record.error.as_deref();
    let error = |text: &str, hint: Option<&str>, ran: bool| Answered {
        content: Arc::new(error_value(text, hint)),
        is_error: true,
        ran: ran.then(|| Arc::clone(&record.tool)),
        provenance: Provenance::NONE,
    };
    match record.status {
        CallStatus::Done => Answered {
            content: record.result.clone().unwrap_or_default(),
            is_error: false,
            ran: Some(Arc::clone(&record.tool)),
            // The conversation's track has it already.
            provenance: Provenance::NONE,
        },
        CallStatus::Failed => error(text.unwrap_or("the call failed"), None, record.begun_at.is_some()),
        CallStatus::Denied => {
            let reason = format!("denied: {}", text.unwrap_or("the call was refused"));
            error(&reason, Some("this call was refused; do not retry it"), false)
        }
        CallStatus::Pending if ClientTool::has_id(&record.tool) => {
            error("the client sent no result for this call before the run ended", None, false)
        }
        CallStatus::Pending => error("this call waited for an answer and was not made", None, false),
        CallStatus::Cancelled => {
            error("the call was stopped before it had an effect", None, record.begun_at.is_some())
        }
        CallStatus::Begun | CallStatus::Unknown => {
            let hint = match record.effect.is_some_and(Effect::may_repeat) {
                true => "it is safe to call it again",
                false => "do not repeat it; check first what happened, or ask the user",
            };
            error("the outcome of this call is unknown: it was interrupted while it ran", Some(hint), true)
        }
    }
}

async fn is_stopped(room: &Toolroom, scope: &Scope, call: &CallId) -> Result<bool, LedgerError> {
    let question = room.approvals.question(scope, call).await?;
    Ok(question.is_some_and(|question| question.answer == Some(Answer::Stop)))
}

/// How resuming a parked call went.
pub(super) enum ResumeOutcome {
    /// It ran, or still waits.
    Reported(CallReport),
    /// It had ended before.
    Ended(Box<CallRecord>),
    /// It cannot run, for this reason.
    Impossible(String),
    /// The answer ended the run.
    Stopped,
    /// Its state cannot be read.
    Broken(LedgerError),
}

/// Resumes a parked call.
pub(super) async fn resume(room: &Toolroom, mut request: ResumeRequest) -> ResumeOutcome {
    loop {
        match is_stopped(room, &request.scope, &request.call).await {
            Ok(true) => return ResumeOutcome::Stopped,
            Ok(false) => {}
            Err(error) => return ResumeOutcome::Broken(error),
        }
        match room.resume(request.clone()).await {
            Ok(report) => return ResumeOutcome::Reported(report),
            Err(ResumeError::Replaced { by, .. }) => request.call = by,
            Err(ResumeError::Ledger(error)) => return ResumeOutcome::Broken(error),
            Err(error) => {
                return match room.journal.call(&request.scope, &request.call).await {
                    Ok(Some(record)) if record.status != CallStatus::Pending => {
                        ResumeOutcome::Ended(Box::new(record))
                    }
                    Ok(_) => ResumeOutcome::Impossible(error.to_string()),
                    Err(error) => ResumeOutcome::Broken(error),
                };
            }
        }
    }
}
