//! Station 8: the call is closed, whichever way it went.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::report::{CallReport, Denial, Exit, Outcome, Pending};
use super::request::{CallRequest, GivenArguments};
use super::shorten::{shorten, shorten_text};
use super::validate::{json_bytes, within_depth};
use crate::clock::{Clock, Timestamp};
use crate::ledger::{Artifact, CallId, CallRecord, CallStatus, CloseCall, Ledger, LedgerError};
use crate::room::Toolroom;
use crate::tool::{Arguments, DEFAULT_RESULT_CAP, Effect, ErrorKind, RaisedBy, ToolError};

/// What is kept and told of an error, and of argument text that is no JSON.
const ERROR_CHARS: usize = 4_000;

/// No tool has a longer name; what is longer is no name, and kept in part.
const NAME_CHARS: usize = 300;

/// A call between its arrival and its last row. Should it be dropped in between, because its caller went away,
/// it is closed all the same.
pub(super) struct OpenCall {
    pub(super) request: CallRequest,
    pub(super) record: CallRecord,
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) rule: Option<Cow<'static, str>>,
    pub(super) artifact: Option<Artifact>,
    /// The tool was let loose.
    pub(super) started: bool,
    /// The row says all there is to say, or cannot be written.
    pub(super) settled: bool,
    clock: Arc<dyn Clock>,
    arrived: Instant,
}

impl OpenCall {
    pub(super) fn new(room: &Toolroom, mut request: CallRequest) -> Self {
        if let Some((end, _)) = request.tool.char_indices().nth(NAME_CHARS) {
            request.tool.truncate(end);
        }
        let id = CallId::fresh(room.clock.as_ref());
        let mut record = CallRecord::arrived(id, request.scope.clone(), &request.tool, room.clock.now());
        record.entrance = Arc::clone(&request.entrance);
        record.thread = request.thread.clone();
        record.run = request.run.clone();
        Self {
            request,
            record,
            ledger: Arc::clone(&room.ledger),
            rule: None,
            artifact: None,
            started: false,
            settled: false,
            clock: Arc::clone(&room.clock),
            arrived: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Puts the arguments into the row. Very long ones are kept in part: the row is for people to read.
    /// Gives their size as JSON text.
    pub(super) fn keep_arguments(&mut self, arguments: &Arguments) -> usize {
        let whole = Value::Object(arguments.clone());
        let bytes = json_bytes(&whole);
        // Characters are never more than bytes, so most arguments need no second look.
        let short = if bytes > DEFAULT_RESULT_CAP { shorten(&whole, DEFAULT_RESULT_CAP, None) } else { None };
        self.record.arguments_bytes = bytes as u64;
        self.record.arguments = Arc::new(short.unwrap_or(whole));
        bytes
    }

    /// Whether the tool was let loose and is of a kind that changes something.
    fn may_have_had_effect(&self) -> bool {
        self.started && self.record.effect.is_some_and(Effect::writes)
    }

    /// The caller stopped it.
    pub(super) fn cancelled(&self) -> Exit {
        let error = ToolError::new(ErrorKind::Cancelled, "cancelled by the caller");
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// The tool ended with an error: its own, or a crash somewhere in the middle of its work.
    pub(super) fn failed(&self, error: ToolError) -> Exit {
        Exit::Failed(match error.raised_by() {
            RaisedBy::Tool => error,
            RaisedBy::Kernel => self.with_doubt(error),
        })
    }

    /// The deadline was reached.
    pub(super) fn late(&self, limit: Option<Duration>) -> Exit {
        let limit = limit.unwrap_or_default();
        let error = ToolError::new(ErrorKind::Timeout, format!("timed out after {limit:?}"));
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// The ledger failed, so nothing more can be written about this call.
    pub(super) fn not_journaled(&mut self, error: LedgerError) -> Exit {
        self.settled = true;
        tracing::error!(call = %self.record.id, error = &error as &dyn std::error::Error, "a call is not journaled");
        let text = "the call could not be journaled, so it does not count as made";
        let error = ToolError::new(ErrorKind::Crashed, text).caused_by(error);
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// Adds the warning that belongs to a call which may have changed something before it was broken off.
    fn with_doubt(&self, error: ToolError) -> ToolError {
        match self.may_have_had_effect() {
            true => error.with_hint("the effect may have happened: check before calling again"),
            false => error,
        }
    }

    fn stamp(&mut self) {
        self.record.ended_at = Some(self.clock.now());
        self.record.duration_us = u64::try_from(self.arrived.elapsed().as_micros()).unwrap_or(u64::MAX);
    }

    fn status_of_stopped(&self) -> CallStatus {
        if self.may_have_had_effect() { CallStatus::Unknown } else { CallStatus::Cancelled }
    }
}

pub(super) async fn close(mut call: OpenCall, mut outcome: Outcome) -> CallReport {
    match &mut outcome {
        Outcome::Failed(error) => error.bound(too_long),
        Outcome::Denied(Denial { reason, .. }) | Outcome::Pending(Pending { reason, .. }) => {
            if let Some(short) = too_long(reason) {
                *reason = short;
            }
        }
        Outcome::Done(_) => {}
    }
    if let Outcome::Denied(Denial { rule, .. }) = &outcome {
        call.rule = Some(rule.clone());
    }
    call.keep_unread_arguments();
    call.stamp();
    call.write_outcome(&outcome);
    if !call.settled {
        call.settled = true;
        let close =
            CloseCall { record: call.record.clone(), artifact: call.artifact.take(), enqueue: Vec::new() };
        if let Err(error) = call.ledger.close(close).await {
            outcome = call.not_journaled(error).into();
        }
    }
    CallReport {
        call_id: call.record.id.clone(),
        tool: call.record.tool.to_string(),
        outcome,
        rule: call.rule.take(),
        duration: call.arrived.elapsed(),
    }
}

impl OpenCall {
    /// A call that ended before its arguments were looked at still shows what it was asked to do.
    fn keep_unread_arguments(&mut self) {
        let given = std::mem::replace(&mut self.request.arguments, GivenArguments::Object(Map::new()));
        match given {
            GivenArguments::Object(arguments) if !arguments.is_empty() => match within_depth(arguments) {
                Ok(arguments) => drop(self.keep_arguments(&arguments)),
                Err(error) => self.record.arguments = Arc::new(Value::String(error.to_string())),
            },
            GivenArguments::Text(text) if !text.is_empty() => {
                self.record.arguments_bytes = text.len() as u64;
                self.record.arguments = Arc::new(Value::String(too_long(&text).unwrap_or(text)));
            }
            GivenArguments::Object(_) | GivenArguments::Text(_) => {}
        }
    }

    fn write_outcome(&mut self, outcome: &Outcome) {
        let stopped = self.status_of_stopped();
        let row = &mut self.record;
        row.rule = self.rule.clone();
        match outcome {
            Outcome::Done(done) => {
                row.status = CallStatus::Done;
                row.result = Some(Arc::clone(&done.value));
                row.result_chars = done.chars as u64;
                row.artifact = done.artifact.clone();
                row.message = done.message.clone();
            }
            Outcome::Failed(error) => {
                row.status = match (error.raised_by(), error.kind()) {
                    (RaisedBy::Kernel, ErrorKind::Cancelled) => stopped,
                    (RaisedBy::Kernel, ErrorKind::Timeout | ErrorKind::Crashed)
                        if stopped == CallStatus::Unknown =>
                    {
                        stopped
                    }
                    _ => CallStatus::Failed,
                };
                row.kind = Some(error.kind());
                row.error = Some(error.for_model().to_owned());
                row.detail = error.for_operator();
            }
            Outcome::Denied(denial) => {
                row.status = CallStatus::Denied;
                row.error = Some(denial.reason.clone());
                row.detail = denial.cause().map(|cause| too_long(&cause).unwrap_or(cause));
            }
            Outcome::Pending(_) => row.status = CallStatus::Pending,
        }
    }
}

/// A shorter form of a text that is no sentence or two but a page.
pub(super) fn too_long(text: &str) -> Option<String> {
    shorten_text(text, ERROR_CHARS, None)
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        self.keep_unread_arguments();
        self.stamp();
        self.record.status = self.status_of_stopped();
        self.record.kind = Some(ErrorKind::Cancelled);
        self.record.error = Some("the caller went away".to_owned());
        let close = CloseCall { record: self.record.clone(), artifact: None, enqueue: Vec::new() };
        // The write is queued by the call itself; nobody is left to wait for it.
        drop(self.ledger.close(close));
    }
}
