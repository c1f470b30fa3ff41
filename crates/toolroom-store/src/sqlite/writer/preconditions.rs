//! Preconditions of a batch: what has to be known before its units can be decided. Read once for all units, under the write
//! lock.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde::{Serialize, Serializer};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    AnswerWindow, Answerer, Approval, Attempt, CallId, CallRecord, CallStatus, DecideError, Grant,
    ParkedQuestion, QuestionState, RateKey, RateLimit, RateWindow,
};
use toolroom::scope::{Scope, UserId};

use super::plan::rows;
use super::run_precondition::RunPrecondition;
use super::unit::{Refusal, Unit, Work};
use crate::StoreError;
use crate::sqlite::row::{read_scope, size, timestamp, timestamp_option};
use crate::sqlite::secrets::key_name;
use crate::statements::{Bound, Statement};

/// The query for the preconditions of all units of a batch.
#[derive(Debug, Default)]
pub(super) struct PreconditionQuery<'a> {
    approvals: Vec<&'a str>,
    windows: Vec<Window<'a>>,
    /// Names of keys.
    keys: BTreeSet<&'a str>,
    /// The index of the window of each limit of each unit, in order.
    limits: Vec<usize>,
    /// The run and conversation of each change of a run, in order.
    runs: Vec<(&'a str, &'a str)>,
}

/// The calls that a limit counts. Units that count the same calls share one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CountedCallSet<'a> {
    pub(super) project: &'a str,
    pub(super) tool: &'a str,
    /// `None` for all users together.
    user: Option<Option<&'a UserId>>,
    per: Duration,
}

impl<'a> CountedCallSet<'a> {
    pub(super) fn new(record: &'a CallRecord, limit: &RateLimit) -> Self {
        let user = match limit.key {
            RateKey::User => Some(record.scope.user.as_ref()),
            RateKey::Project => None,
        };
        Self { project: record.scope.project.as_str(), tool: &record.tool, user, per: limit.per }
    }

    /// Whether it includes a call of the same project and tool by this user.
    pub(super) fn includes(&self, user: Option<&UserId>) -> bool {
        self.user.is_none_or(|counted| counted == user)
    }
}

/// Calls that began after `since` and before `until`. The units of a batch begin at slightly different times: calls between
/// the starts of the first and the last window are listed, the others only counted.
#[derive(Debug)]
struct Window<'a> {
    counted: CountedCallSet<'a>,
    since: Timestamp,
    latest_since: Timestamp,
    until: Timestamp,
}

/// A row for `statements::WINDOWS_OF`.
impl Serialize for Window<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let users_apart = i64::from(self.counted.user.is_some());
        let user = self.counted.user.flatten().map(UserId::as_str);
        let (since, latest) = (self.since.as_micros(), self.latest_since.as_micros());
        let until = self.until.as_micros();
        (self.counted.project, self.counted.tool, since, latest, users_apart, user, until)
            .serialize(serializer)
    }
}

impl<'a> PreconditionQuery<'a> {
    pub(super) fn new(units: &'a [Unit]) -> Self {
        let mut query = Self::default();
        let mut windows = HashMap::new();
        for unit in units {
            match &unit.work {
                Work::Begin(begin) => {
                    query.approvals.extend(begin.grant.as_ref().map(|grant| grant.call.as_str()));
                    let begun_at = begin.record.begun_at.unwrap_or(begin.record.asked_at);
                    for limit in &begin.rates {
                        let counted = CountedCallSet::new(&begin.record, limit);
                        let window = *windows.entry(counted).or_insert(query.windows.len());
                        query.limits.push(window);
                        query.widen(window, counted, limit.window(begun_at));
                    }
                }
                Work::Decide(decision) => query.approvals.push(decision.call.as_str()),
                Work::Edit(edit, keys) => {
                    query.approvals.push(edit.of.as_str());
                    query.keys.extend(keys.iter().map(String::as_str));
                }
                Work::Park(_, keys) => query.keys.extend(keys.iter().map(String::as_str)),
                Work::Close(close, _) => match close.question {
                    ParkedQuestion::Void | ParkedQuestion::Expired => {
                        query.approvals.push(close.record.id.as_str());
                    }
                    ParkedQuestion::None | ParkedQuestion::Settled => {}
                },
                Work::Run(change) => {
                    query.runs.push((change.run.id.as_str(), change.run.conversation.as_str()));
                }
                Work::Lease(_)
                | Work::Memory(_)
                | Work::Track(_)
                | Work::Program(_)
                | Work::Set(_)
                | Work::Prune(_) => {}
            }
        }
        query
    }

    fn widen(&mut self, index: usize, counted: CountedCallSet<'a>, span: RateWindow) {
        let RateWindow { since, until } = span;
        match self.windows.get_mut(index) {
            Some(window) => {
                window.since = window.since.min(since);
                window.latest_since = window.latest_since.max(since);
                window.until = window.until.max(until);
            }
            None => self.windows.push(Window { counted, since, latest_since: since, until }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.approvals.is_empty() && self.windows.is_empty() && self.keys.is_empty() && self.runs.is_empty()
    }

    /// The index of the window of a limit.
    pub(super) fn window(&self, limit: usize) -> Option<usize> {
        self.limits.get(limit).copied()
    }

    /// Binds the parameters of `statements::READ_PRECONDITIONS`.
    pub(super) fn bind(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        let keys: Vec<_> = self.keys.iter().collect();
        let query = statement.query().bind(rows(&self.approvals)?).bind(rows(&self.windows)?);
        Ok(query.bind(rows(&keys)?).bind(rows(&self.runs)?))
    }
}

/// The result of a [`PreconditionQuery`].
#[derive(Debug, Default)]
pub(super) struct Preconditions {
    approvals: HashMap<String, StoredApproval>,
    windows: HashMap<usize, WindowCount>,
    /// The keys of the query under which values are sealed.
    used_keys: HashSet<String>,
    is_any_sealed: bool,
    runs: HashMap<usize, RunPrecondition>,
}

/// The calls in a window.
#[derive(Debug, Default)]
struct WindowCount {
    counted: u64,
    oldest: Option<Timestamp>,
    /// Calls that began before `latest_since`.
    early: Vec<Timestamp>,
}

/// An approval and the state of its call.
#[derive(Debug)]
pub(super) struct StoredApproval {
    arguments_hash: String,
    definition_hash: String,
    asks: Answerer,
    answer_window: AnswerWindow,
    state: String,
    /// May differ from `state`: a call can be closed without its approval.
    call_status: String,
    /// Owner of the call.
    pub(super) owner: Scope,
}

impl StoredApproval {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        // An answerer of a newer version counts as the strictest one.
        let asks = match row.try_get::<&str, _>("asks")? {
            "caller" => Answerer::Caller,
            "client" => Answerer::Client,
            _ => Answerer::Operator,
        };
        Ok(Self {
            arguments_hash: row.try_get("arguments_hash")?,
            definition_hash: row.try_get("definition_hash")?,
            asks,
            answer_window: AnswerWindow {
                asked_at: timestamp(row, "asked_at")?,
                expires_at: timestamp(row, "expires_at")?,
            },
            state: row.try_get("state")?,
            call_status: row.try_get("status")?,
            owner: read_scope(row, "project", "user_id")?,
        })
    }

    /// Whether the call is parked, for an answer or for a client that runs it.
    pub(super) fn is_pending(&self) -> bool {
        self.call_status == CallStatus::Pending.as_str()
    }

    fn is(&self, state: QuestionState, status: CallStatus) -> bool {
        self.state == state.as_str() && self.call_status == status.as_str()
    }

    /// Whether it grants exactly this request, and is unused or was used by a process that died.
    pub(super) fn grants(&self, grant: &Grant) -> bool {
        let stands = match grant.attempt {
            Attempt::First => self.is(QuestionState::Granted, CallStatus::Pending),
            Attempt::Retry => self.is(QuestionState::Used, CallStatus::Unknown),
        };
        stands
            && *self.arguments_hash == *grant.arguments_hash
            && *self.definition_hash == *grant.definition_hash
            && !self.answer_window.is_over(grant.at)
    }
}

impl Preconditions {
    /// From the rows of `statements::READ_PRECONDITIONS`, whose first column names their part.
    pub(super) fn read(rows: &[SqliteRow]) -> Result<Self, sqlx::Error> {
        let mut preconditions = Self::default();
        for row in rows {
            match row.try_get("part")? {
                "run" => drop(preconditions.runs.insert(number(row)?, RunPrecondition::read(row)?)),
                "key" => {
                    preconditions.is_any_sealed = row.try_get("is_any_sealed")?;
                    if row.try_get("is_used")? {
                        preconditions.used_keys.insert(row.try_get("name")?);
                    }
                }
                "approval" => {
                    let approval = StoredApproval::read(row)?;
                    preconditions.approvals.insert(row.try_get("call_id")?, approval);
                }
                _ => {
                    let early = serde_json::from_str(row.try_get("early")?);
                    let count = WindowCount {
                        counted: size(row, "counted")?,
                        oldest: timestamp_option(row, "oldest")?,
                        early: early.map_err(|error| sqlx::Error::Decode(error.into()))?,
                    };
                    preconditions.windows.insert(number(row)?, count);
                }
            }
        }
        Ok(preconditions)
    }

    /// The state of the run with this number in the query.
    pub(super) fn run(&self, number: usize) -> Option<&RunPrecondition> {
        self.runs.get(&number)
    }

    pub(super) fn approval(&self, call: &CallId) -> Option<&StoredApproval> {
        self.approvals.get(call.as_str())
    }

    /// Rejects a sealed request that only a process with the same outdated keys could open; see
    /// [`crate::Store::set_sealing_keys`].
    pub(super) fn check_sealing_key(&self, approval: &Approval, keys: &[String]) -> Result<(), Refusal> {
        let Some(sealed) = &approval.sealed else { return Ok(()) };
        let is_known = keys.contains(&key_name(sealed));
        let is_shared = !self.is_any_sealed || keys.iter().any(|key| self.used_keys.contains(key));
        if is_known && is_shared { Ok(()) } else { Err(StoreError::OtherKey.into()) }
    }

    /// Checks that a question waits for an answer, and that `by` may give it.
    pub(super) fn check_waiting(
        &self,
        call: &CallId,
        scope: &Scope,
        by: Answerer,
        at: Timestamp,
    ) -> Result<(), Refusal> {
        let approval = self.approval(call).filter(|approval| by.may_answer_call_of(scope, &approval.owner));
        match approval {
            Some(stored)
                if stored.is(QuestionState::Waiting, CallStatus::Pending)
                    && !stored.answer_window.is_over(at) =>
            {
                DecideError::check(by, stored.asks).map_err(Refusal::NotYours)
            }
            _ => Err(Refusal::NotWaiting),
        }
    }

    /// The number of calls in a window that began after `since`, and when the oldest of them did.
    pub(super) fn window(&self, index: usize, since: Timestamp) -> (u64, Option<Timestamp>) {
        let Some(window) = self.windows.get(&index) else {
            return (0, None);
        };
        let early = window.early.iter().copied().filter(|at| *at > since);
        early.fold((window.counted, window.oldest), |(counted, oldest), at| {
            (counted + 1, Some(oldest.map_or(at, |oldest| oldest.min(at))))
        })
    }
}

/// The number of the item in the query that a row belongs to.
fn number(row: &SqliteRow) -> Result<usize, sqlx::Error> {
    Ok(usize::try_from(row.try_get::<i64, _>("number")?).unwrap_or(usize::MAX))
}
