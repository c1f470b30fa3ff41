//! A call on its way through the stations.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::approve::ResumedCall;
use super::history::History;
use super::report::{Denial, Exit};
use super::request::CallRequest;
use super::shorten::shorten;
use super::size::json_bytes;
use crate::clock::{Clock, Timestamp};
use crate::ledger::{Artifact, BeginCall, CallId, CallRecord, CallStatus, Ledger, LedgerError, Standing};
use crate::redact::Redactor;
use crate::tool::{Arguments, DEFAULT_RESULT_CAP, Effect, ErrorKind, RaisedBy, ToolError};
use crate::toolroom::Toolroom;

/// Whether a call has begun, and whether its *begun* row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BeginState {
    NotBegun,
    /// Begun without a row: the call has no side effects. Most such calls end at once, and their last row is enough.
    Unwritten,
    /// The row is written or queued.
    Written,
}

/// A call between its arrival and its last row. If it is dropped in between, because its caller went away, `Drop`
/// closes it.
pub(super) struct OpenCall {
    pub(super) request: CallRequest,
    pub(super) record: CallRecord,
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) rule: Option<Cow<'static, str>>,
    /// The whole result, if it was shortened, and attached files.
    pub(super) artifacts: Vec<Artifact>,
    /// Switches and standing answers when the call arrived, or why they cannot be read.
    standing: Option<Result<Arc<Standing>, Denial>>,
    /// What was read and sent before, if that matters to the call.
    pub(super) history: Option<Box<History>>,
    /// Removes secrets from everything that is stored or sent. Without it no text is stored or sent.
    pub(super) redactor: Option<Arc<Redactor>>,
    /// Set if the call was parked before.
    pub(super) resumed: Option<ResumedCall>,
    pub(super) begin: BeginState,
    /// Whether the tool has been started.
    pub(super) started: bool,
    /// Set while the tool says that it has done nothing yet.
    pub(super) untouched: Arc<AtomicBool>,
    /// The row is final, or cannot be written.
    pub(super) settled: bool,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) arrived: Instant,
}

impl OpenCall {
    /// Boxed, as it is passed from station to station.
    pub(super) fn new(room: &Toolroom, mut request: CallRequest) -> Box<Self> {
        let id = request.id.take().unwrap_or_else(|| CallId::fresh(room.clock.as_ref()));
        // `resolve` or `redact_tool_name` sets the name.
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
            begin: BeginState::NotBegun,
            started: false,
            untouched: Arc::default(),
            settled: false,
            clock: Arc::clone(&room.clock),
            arrived: Instant::now(),
        })
    }

    /// A parked call that is resumed.
    pub(super) fn resumed(
        room: &Toolroom,
        request: CallRequest,
        record: CallRecord,
        resumed: ResumedCall,
    ) -> Box<Self> {
        let mut call = Self::new(room, request);
        // Drop the result of an earlier attempt.
        call.record = CallRecord { kind: None, error: None, detail: None, ended_at: None, ..record };
        call.resumed = Some(resumed);
        call
    }

    /// Reads the switches, standing answers and secrets the call is judged by.
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
                let reason = "the secrets to redact cannot be read, so nothing is run";
                Err(Denial::by_rule("secrets.unreadable", reason).caused_by(error))
            }
        });
    }

    /// The switches and standing answers the call is judged by. Denies if they cannot be read.
    pub(super) fn standing(&self) -> Result<&Arc<Standing>, Denial> {
        match &self.standing {
            Some(Ok(standing)) => Ok(standing),
            Some(Err(denial)) => Err(denial.clone()),
            None => Err(unreadable()),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Stores the redacted arguments in the row, shortened if they are long. Returns their size as JSON.
    pub(super) fn keep_arguments(&mut self, arguments: &Arguments) -> usize {
        // `Map::clone` allocates more than it needs.
        let mut copy = Map::with_capacity(arguments.len());
        copy.clone_from(arguments);
        let mut whole = Value::Object(copy);
        let bytes = json_bytes(&whole);
        self.redact(&mut whole);
        // There are never more characters than bytes.
        let short = if bytes > DEFAULT_RESULT_CAP { shorten(&whole, DEFAULT_RESULT_CAP, None) } else { None };
        self.record.arguments_bytes = bytes as u64;
        self.record.arguments = Arc::new(short.unwrap_or(whole));
        bytes
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begin != BeginState::NotBegun
    }

    /// Queues the *begun* row of a call that does not end at once, so that the journal shows it while it runs.
    pub(super) fn write_begun(&mut self) {
        if self.begin != BeginState::Unwritten {
            return;
        }
        self.begin = BeginState::Written;
        let record = CallRecord { status: CallStatus::Begun, rule: self.rule.clone(), ..self.record.clone() };
        // Not awaited: the row that closes the call is queued behind it.
        drop(self.ledger.begin(BeginCall { record, rates: Vec::new(), grant: None }));
    }

    /// Whether a tool with side effects was started.
    fn may_have_had_effect(&self) -> bool {
        let is_untouched = self.untouched.load(Ordering::Relaxed);
        self.started && !is_untouched && self.record.effect.is_some_and(Effect::writes)
    }

    /// The exit of a call that its caller stopped.
    pub(super) fn cancelled(&self) -> Exit {
        let error = ToolError::new(ErrorKind::Cancelled, "cancelled by the caller");
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// The exit of a call whose tool failed or crashed.
    pub(super) fn failed(&self, error: ToolError) -> Exit {
        let is_unexplained = error.is_in_doubt() && error.hint().is_none();
        Exit::Failed(match error.raised_by() {
            RaisedBy::Tool if !is_unexplained => error,
            RaisedBy::Tool | RaisedBy::Kernel => self.with_doubt(error),
        })
    }

    /// The exit of a call that reached its deadline.
    pub(super) fn late(&self, limit: Option<Duration>) -> Exit {
        let limit = limit.unwrap_or_default();
        let error = ToolError::new(ErrorKind::Timeout, format!("timed out after {limit:?}"));
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// The exit of a call whose row cannot be written.
    pub(super) fn not_journaled(&mut self, error: LedgerError) -> Exit {
        self.settled = true;
        tracing::error!(call = %self.record.id, error = &error as &dyn std::error::Error, "a call is not journaled");
        let text = "the call could not be journaled, so it does not count as made";
        let error = ToolError::new(ErrorKind::Crashed, text).caused_by(error);
        Exit::Failed(self.with_doubt(error.by_kernel()))
    }

    /// Adds the hint that an interrupted call may have had its effect.
    fn with_doubt(&self, error: ToolError) -> ToolError {
        match self.may_have_had_effect() {
            true => error.with_hint("the effect may have happened: check before calling again"),
            false => error,
        }
    }

    pub(super) fn status_if_stopped(&self) -> CallStatus {
        if self.may_have_had_effect() { CallStatus::Unknown } else { CallStatus::Cancelled }
    }
}

fn unreadable() -> Denial {
    Denial::by_rule("switches.unreadable", "the switches and standing answers cannot be read")
}
