//! Station 8: the call is closed, whichever way it went.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::approve::Resumed;
use super::history::{History, UNREADABLE_RULE};
use super::report::{CallReport, Denial, Exit, Outcome, Pending};
use super::request::{CallRequest, GivenArguments};
use super::shorten::shorten;
use super::size::json_bytes;
use super::validate::within_depth;
use crate::clock::{Clock, Timestamp};
use crate::ledger::{
    Artifact, BeginCall, CallId, CallRecord, CallStatus, CloseCall, Ledger, LedgerError, ParkedQuestion,
    Standing,
};
use crate::policy::Provenance;
use crate::redact::Redactor;
use crate::room::Toolroom;
use crate::tool::{Arguments, DEFAULT_RESULT_CAP, Effect, ErrorKind, RaisedBy, ToolError};

/// Whether a call has begun, and who can know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Ahead,
    /// It has, it changes nothing, and no row says so. Most such calls are over at once, and then their last row says
    /// everything.
    Unsaid,
    /// Its row says so, or is about to.
    Said,
}

/// A call between its arrival and its last row. Should it be dropped in between, because its caller went away,
/// it is closed all the same.
pub(super) struct OpenCall {
    pub(super) request: CallRequest,
    pub(super) record: CallRecord,
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) rule: Option<Cow<'static, str>>,
    /// The whole of a result that was shortened, and files beside it.
    pub(super) artifacts: Vec<Artifact>,
    /// Switches and answers as of the call's arrival; why they cannot be read, otherwise.
    standing: Option<Result<Arc<Standing>, Denial>>,
    /// What was read and sent before it, if that matters to the call.
    pub(super) history: Option<Box<History>>,
    /// Hides secrets in whatever is kept or told. While there is none, nothing is.
    pub(super) redactor: Option<Arc<Redactor>>,
    /// Set if it was parked before.
    pub(super) resumed: Option<Resumed>,
    pub(super) beginning: Beginning,
    /// The tool was let loose.
    pub(super) started: bool,
    /// Set while it has done nothing yet.
    pub(super) untouched: Arc<AtomicBool>,
    /// The row says all there is to say, or cannot be written.
    pub(super) settled: bool,
    clock: Arc<dyn Clock>,
    arrived: Instant,
}

impl OpenCall {
    /// On the heap at once: it is handed from station to station.
    pub(super) fn new(room: &Toolroom, mut request: CallRequest) -> Box<Self> {
        let id = request.id.take().unwrap_or_else(|| CallId::fresh(room.clock.as_ref()));
        // The name is written down when it is known what it is: see `resolve` and `hide_name`.
        let mut record = CallRecord::arrived(id, request.scope.clone(), "", room.clock.now());
        record.entrance = Arc::clone(&request.entrance);
        record.thread = request.thread.clone();
        record.run = request.run.clone();
        record.model_call = request.model_call.clone();
        Box::new(Self {
            request,
            record,
            ledger: Arc::clone(&room.ledger),
            rule: None,
            artifacts: Vec::new(),
            standing: None,
            history: None,
            redactor: None,
            resumed: None,
            beginning: Beginning::Ahead,
            started: false,
            untouched: Arc::default(),
            settled: false,
            clock: Arc::clone(&room.clock),
            arrived: Instant::now(),
        })
    }

    /// A parked call that goes on.
    pub(super) fn resumed(
        room: &Toolroom,
        request: CallRequest,
        record: CallRecord,
        resumed: Resumed,
    ) -> Box<Self> {
        let mut call = Self::new(room, request);
        // How it ended the first time, if it did, is no longer true.
        call.record = CallRecord { kind: None, error: None, detail: None, ended_at: None, ..record };
        call.resumed = Some(resumed);
        call
    }

    /// Reads what the call is judged by, as of now.
    pub(super) async fn open(&mut self, room: &Toolroom) {
        let project = &self.request.scope.project;
        let standing = match room.switchboard.standing(project).await {
            Ok(standing) => standing,
            Err(error) => {
                self.standing = Some(Err(unreadable().caused_by(error)));
                return;
            }
        };
        self.standing = Some(match room.redactions.redactor(project, standing.revision).await {
            Ok(redactor) => {
                self.redactor = Some(redactor);
                Ok(standing)
            }
            Err(error) => {
                let reason = "what has to be kept secret cannot be found out, so nothing is run";
                Err(Denial::by_rule("secrets.unreadable", reason).caused_by(error))
            }
        });
    }

    /// What the call is judged by. What cannot be read denies.
    pub(super) fn standing(&self) -> Result<&Arc<Standing>, Denial> {
        match &self.standing {
            Some(Ok(standing)) => Ok(standing),
            Some(Err(denial)) => Err(denial.clone()),
            None => Err(unreadable()),
        }
    }

    /// What the last row means for the question the call was parked with. A parked call that goes on and does not
    /// begin stays parked, unless a guard has denied it: then its approval is void.
    fn question(&self, outcome: &Outcome) -> Option<ParkedQuestion> {
        let Some(resumed) = &self.resumed else { return Some(ParkedQuestion::None) };
        match outcome {
            _ if self.has_begun() => Some(ParkedQuestion::Settled),
            // What could not be decided is no decision, and what has begun before is not parked any more.
            Outcome::Denied(denial)
                if self.standing().is_ok() && denial.rule != UNREADABLE_RULE && resumed.is_first() =>
            {
                Some(ParkedQuestion::Void)
            }
            Outcome::Denied(_) | Outcome::Done(_) | Outcome::Failed(_) | Outcome::Pending(_) => None,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Puts the arguments into the row. Very long ones are kept in part: the row is for people to read.
    /// Gives their size as JSON text.
    pub(super) fn keep_arguments(&mut self, arguments: &Arguments) -> usize {
        // A map that clones itself takes more room than it needs.
        let mut copy = Map::with_capacity(arguments.len());
        copy.clone_from(arguments);
        let mut whole = Value::Object(copy);
        let bytes = json_bytes(&whole);
        self.hide(&mut whole);
        // Characters are never more than bytes, so most arguments need no second look.
        let short = if bytes > DEFAULT_RESULT_CAP { shorten(&whole, DEFAULT_RESULT_CAP, None) } else { None };
        self.record.arguments_bytes = bytes as u64;
        self.record.arguments = Arc::new(short.unwrap_or(whole));
        bytes
    }

    fn has_begun(&self) -> bool {
        self.beginning != Beginning::Ahead
    }

    /// It takes longer than a moment: whoever looks sees it at work.
    pub(super) fn say_begun(&mut self) {
        if self.beginning != Beginning::Unsaid {
            return;
        }
        self.beginning = Beginning::Said;
        let record = CallRecord { status: CallStatus::Begun, rule: self.rule.clone(), ..self.record.clone() };
        // Nobody waits for it: the row that closes it comes behind it.
        drop(self.ledger.begin(BeginCall { record, rates: Vec::new(), grant: None }));
    }

    /// Whether the tool was let loose and is of a kind that changes something.
    fn may_have_had_effect(&self) -> bool {
        let is_untouched = self.untouched.load(Ordering::Relaxed);
        self.started && !is_untouched && self.record.effect.is_some_and(Effect::writes)
    }

    /// The caller stopped it.
    pub(super) fn cancelled(&self) -> Exit {
        let error = ToolError::new(ErrorKind::Cancelled, "cancelled by the caller");
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// The tool ended with an error: its own, or a crash somewhere in the middle of its work.
    pub(super) fn failed(&self, error: ToolError) -> Exit {
        let is_unexplained = error.is_in_doubt() && error.hint().is_none();
        Exit::Failed(match error.raised_by() {
            RaisedBy::Tool if !is_unexplained => error,
            RaisedBy::Tool | RaisedBy::Kernel => self.with_doubt(error),
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

fn unreadable() -> Denial {
    Denial::by_rule("switches.unreadable", "what is switched on and allowed cannot be found out")
}

pub(super) async fn close(mut call: Box<OpenCall>, mut outcome: Outcome) -> CallReport {
    match &mut outcome {
        Outcome::Failed(error) => error.rewrite(|text| call.tellable(text)),
        Outcome::Denied(denial) => denial.rewrite(|text| call.tellable(text)),
        Outcome::Pending(Pending { reason, .. }) => {
            if let Some(told) = call.tellable(reason) {
                *reason = told;
            }
        }
        Outcome::Done(_) => {}
    }
    if let Outcome::Denied(Denial { rule, .. }) = &outcome {
        call.rule = Some(rule.clone());
    }
    call.keep_unread_arguments();
    call.stamp();
    call.hide_name();
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
            // Somebody else has begun the call meanwhile, and goes on; this denial is true all the same.
            Err(error) if question == ParkedQuestion::Void => {
                tracing::debug!(call = %call.record.id, %error, "an approval is not void");
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
                self.record.arguments = Arc::new(Value::String(self.keepable(&text)));
            }
            GivenArguments::Object(_) | GivenArguments::Text(_) => {}
        }
    }

    fn write_outcome(&mut self, outcome: &Outcome) {
        let stopped = self.status_of_stopped();
        let error_text = match outcome {
            // It may repeat what the caller sent.
            Outcome::Failed(error) => Some(self.keepable(error.for_model())),
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
        // A parked call that goes on and has not begun stays parked.
        if self.settled || (self.resumed.is_some() && !self.has_begun()) {
            return;
        }
        self.keep_unread_arguments();
        self.stamp();
        self.hide_name();
        self.record.status = self.status_of_stopped();
        self.record.kind = Some(ErrorKind::Cancelled);
        self.record.error = Some("the caller went away".to_owned());
        let record = self.record.clone();
        let close =
            CloseCall { record, artifacts: Vec::new(), enqueue: Vec::new(), question: ParkedQuestion::None };
        // The write is queued by the call itself; nobody is left to wait for it.
        drop(self.ledger.close(close));
    }
}
