//! Station 8: the call is closed, whichever way it went.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::history::UNREADABLE_RULE;
use super::open_call::OpenCall;
use super::report::{CallReport, Denial, Outcome, Pending};
use super::request::GivenArguments;
use super::validate::within_depth;
use crate::ledger::{CallStatus, CloseCall, ParkedQuestion};
use crate::policy::Provenance;
use crate::tool::{ErrorKind, RaisedBy};

pub(super) async fn close(mut call: Box<OpenCall>, mut outcome: Outcome) -> CallReport {
    match &mut outcome {
        Outcome::Failed(error) => error.rewrite(|text| call.presentable(text)),
        Outcome::Denied(denial) => denial.rewrite(|text| call.presentable(text)),
        Outcome::Pending(Pending { reason, .. }) => {
            if let Some(safe) = call.presentable(reason) {
                *reason = safe;
            }
        }
        Outcome::Done(_) => {}
    }
    if let Outcome::Denied(Denial { rule, .. }) = &outcome {
        call.rule = Some(rule.clone());
    }
    call.keep_unread_arguments();
    call.stamp();
    call.redact_tool_name();
    call.write_outcome(&outcome);
    let question = call.question(&outcome);
    if let (false, Some(question)) = (call.settled, question) {
        call.settled = true;
        let record = call.record.clone();
        let close = CloseCall {
            record,
            artifacts: std::mem::take(&mut call.artifacts),
            enqueue: Vec::new(),
            question,
        };
        match call.ledger.close(close).await {
            // Another caller has begun the call meanwhile; this denial still holds for ours.
            Err(error) if question == ParkedQuestion::Void => {
                tracing::debug!(call = %call.record.id, %error, "could not void an approval");
            }
            Err(error) => outcome = call.not_journaled(error).into(),
            Ok(()) => {}
        }
    }
    call.settled = true;
    CallReport {
        call_id: call.record.id.clone(),
        tool: call.record.tool.to_string(),
        outcome,
        rule: call.rule.take(),
        provenance: call.history.as_ref().map_or(Provenance::NONE, |history| history.added),
        duration: call.arrived.elapsed(),
    }
}

impl OpenCall {
    /// What closing the call means for the question it was parked with. A resumed call that does not begin stays parked,
    /// unless a guard denied it: then its approval is void.
    fn question(&self, outcome: &Outcome) -> Option<ParkedQuestion> {
        let Some(resumed) = &self.resumed else { return Some(ParkedQuestion::None) };
        match outcome {
            _ if self.has_begun() => Some(ParkedQuestion::Settled),
            // Not if the guards could not decide, nor if the call began before and so is no longer parked.
            Outcome::Denied(denial)
                if self.standing().is_ok() && denial.rule != UNREADABLE_RULE && resumed.is_first() =>
            {
                Some(ParkedQuestion::Void)
            }
            Outcome::Denied(_) | Outcome::Done(_) | Outcome::Failed(_) | Outcome::Pending(_) => None,
        }
    }

    fn stamp(&mut self) {
        self.record.ended_at = Some(self.clock.now());
        self.record.duration_us = u64::try_from(self.arrived.elapsed().as_micros()).unwrap_or(u64::MAX);
    }

    /// Stores the arguments of a call that ended before they were validated.
    fn keep_unread_arguments(&mut self) {
        let given = std::mem::replace(&mut self.request.arguments, GivenArguments::Object(Map::new()));
        match given {
            GivenArguments::Object(arguments) if !arguments.is_empty() => match within_depth(arguments) {
                Ok(arguments) => drop(self.keep_arguments(&arguments)),
                Err(error) => self.record.arguments = Arc::new(Value::String(error.to_string())),
            },
            GivenArguments::Text(text) if !text.is_empty() => {
                self.record.arguments_bytes = text.len() as u64;
                self.record.arguments = Arc::new(Value::String(self.storable(&text)));
            }
            GivenArguments::Object(_) | GivenArguments::Text(_) => {}
        }
    }

    fn write_outcome(&mut self, outcome: &Outcome) {
        let stopped = self.status_if_stopped();
        let error_text = match outcome {
            // The error may repeat what the caller sent.
            Outcome::Failed(error) => Some(self.storable(error.for_model())),
            Outcome::Done(_) | Outcome::Denied(_) | Outcome::Pending(_) => None,
        };
        let row = &mut self.record;
        row.rule = self.rule.clone();
        match outcome {
            Outcome::Done(done) => {
                row.status = CallStatus::Done;
                row.result = Some(Arc::clone(&done.value));
                row.result_chars = done.chars as u64;
                row.artifact = done.artifact.clone();
                row.message = done.message.clone();
                row.offers.clone_from(&done.offers);
            }
            Outcome::Failed(error) => {
                row.status = match (error.raised_by(), error.kind()) {
                    (RaisedBy::Kernel, ErrorKind::Cancelled) => stopped,
                    (RaisedBy::Kernel, ErrorKind::Timeout | ErrorKind::Crashed)
                        if stopped == CallStatus::Unknown =>
                    {
                        stopped
                    }
                    (RaisedBy::Tool, _) if error.is_in_doubt() && stopped == CallStatus::Unknown => stopped,
                    _ => CallStatus::Failed,
                };
                row.kind = Some(error.kind());
                row.detail = error.for_operator();
                row.error = error_text;
            }
            Outcome::Denied(denial) => {
                row.status = CallStatus::Denied;
                row.error = Some(denial.reason.clone());
                row.detail = denial.cause();
            }
            Outcome::Pending(_) => row.status = CallStatus::Pending,
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // A resumed call that has not begun stays parked.
        if self.settled || (self.resumed.is_some() && !self.has_begun()) {
            return;
        }
        self.keep_unread_arguments();
        self.stamp();
        self.redact_tool_name();
        self.record.status = self.status_if_stopped();
        self.record.kind = Some(ErrorKind::Cancelled);
        self.record.error = Some("the caller went away".to_owned());
        let record = self.record.clone();
        let close =
            CloseCall { record, artifacts: Vec::new(), enqueue: Vec::new(), question: ParkedQuestion::None };
        // The call queues the write; nothing is left to await it.
        drop(self.ledger.close(close));
    }
}
