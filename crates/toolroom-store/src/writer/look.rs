//! What has to be known before a batch can be decided: asked once for all its units, with the write lock held.

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
use toolroom::scope::{ProjectId, Scope, UserId};

use super::plan::rows;
use super::runs::RunSeen;
use super::unit::{Refusal, Unit, Work};
use crate::StoreError;
use crate::known_keys::key_name;
use crate::statements::{Bound, Statement};

/// What the units of a batch ask.
#[derive(Debug, Default)]
pub(super) struct Questions<'a> {
    approvals: Vec<&'a str>,
    windows: Vec<Window<'a>>,
    /// Names of keys.
    keys: BTreeSet<&'a str>,
    /// For each limit of each unit, in their order: which window it looks at.
    limits: Vec<usize>,
    /// Of each change of a run, in their order: the run and its conversation.
    runs: Vec<(&'a str, &'a str)>,
}

/// Whose calls a limit counts. Units of one batch that count the same calls share one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Counted<'a> {
    pub(super) project: &'a str,
    pub(super) tool: &'a str,
    /// `None` for all users together.
    user: Option<Option<&'a UserId>>,
    per: Duration,
}

impl<'a> Counted<'a> {
    pub(super) fn of(record: &'a CallRecord, limit: &RateLimit) -> Self {
        let user = match limit.key {
            RateKey::User => Some(record.scope.user.as_ref()),
            RateKey::Project => None,
        };
        Self { project: record.scope.project.as_str(), tool: &record.tool, user, per: limit.per }
    }

    /// Whether a call of the same project and tool is among them.
    pub(super) fn includes(&self, user: Option<&UserId>) -> bool {
        self.user.is_none_or(|counted| counted == user)
    }
}

/// Calls that began after `since` and before `until`. The units of a batch begin at slightly different times: what lies between
/// the first one's and the last one's window is listed, the rest only counted.
#[derive(Debug)]
struct Window<'a> {
    counted: Counted<'a>,
    since: Timestamp,
    latest_since: Timestamp,
    until: Timestamp,
}

/// A row of `statements::WINDOWS_OF`.
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

impl<'a> Questions<'a> {
    pub(super) fn of(units: &'a [Unit]) -> Self {
        let mut questions = Self::default();
        let mut places = HashMap::new();
        for unit in units {
            match &unit.work {
                Work::Begin(begin) => {
                    questions.approvals.extend(begin.grant.as_ref().map(|grant| grant.call.as_str()));
                    let begun_at = begin.record.begun_at.unwrap_or(begin.record.asked_at);
                    for limit in &begin.rates {
                        let counted = Counted::of(&begin.record, limit);
                        let place = *places.entry(counted).or_insert(questions.windows.len());
                        questions.limits.push(place);
                        questions.widen(place, counted, limit.window(begun_at));
                    }
                }
                Work::Decide(decision) => questions.approvals.push(decision.call.as_str()),
                Work::Edit(edit, keys) => {
                    questions.approvals.push(edit.of.as_str());
                    questions.keys.extend(keys.iter().map(String::as_str));
                }
                Work::Park(_, keys) => questions.keys.extend(keys.iter().map(String::as_str)),
                Work::Close(close, _) => match close.question {
                    ParkedQuestion::Void | ParkedQuestion::Expired => {
                        questions.approvals.push(close.record.id.as_str());
                    }
                    ParkedQuestion::None | ParkedQuestion::Settled => {}
                },
                Work::Run(change) => {
                    questions.runs.push((change.run.id.as_str(), change.run.conversation.as_str()));
                }
                Work::Hold(_)
                | Work::Memory(_)
                | Work::Track(_)
                | Work::Program(_)
                | Work::Set(_)
                | Work::Prune(_) => {}
            }
        }
        questions
    }

    fn widen(&mut self, place: usize, counted: Counted<'a>, span: RateWindow) {
        let RateWindow { since, until } = span;
        match self.windows.get_mut(place) {
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

    /// The window of a limit.
    pub(super) fn window(&self, limit: usize) -> Option<usize> {
        self.limits.get(limit).copied()
    }

    /// The questions as parameters of `statements::LOOK`.
    pub(super) fn bind(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        let keys: Vec<_> = self.keys.iter().collect();
        let query = statement.query().bind(rows(&self.approvals)?).bind(rows(&self.windows)?);
        Ok(query.bind(rows(&keys)?).bind(rows(&self.runs)?))
    }
}

/// What the database said.
#[derive(Debug, Default)]
pub(super) struct Replies {
    approvals: HashMap<String, ApprovalSeen>,
    windows: HashMap<usize, WindowSeen>,
    /// Those of the keys that something is sealed under.
    used_keys: HashSet<String>,
    anything_sealed: bool,
    runs: HashMap<usize, RunSeen>,
}

/// The calls in a window.
#[derive(Debug, Default)]
struct WindowSeen {
    counted: u64,
    oldest: Option<Timestamp>,
    /// Began before `latest_since`.
    early: Vec<Timestamp>,
}

/// An approval as it stands.
#[derive(Debug)]
pub(super) struct ApprovalSeen {
    arguments_hash: String,
    definition_hash: String,
    asks: Answerer,
    answer_window: AnswerWindow,
    state: String,
    /// The call itself; it may have been closed behind the approval's back.
    call_status: String,
    /// Whose call it is.
    pub(super) owner: Scope,
}

impl ApprovalSeen {
    /// Whether the call still waits, for an answer or for somebody who runs it.
    pub(super) fn is_pending(&self) -> bool {
        self.call_status == CallStatus::Pending.as_str()
    }

    fn is(&self, state: QuestionState, status: CallStatus) -> bool {
        self.state == state.as_str() && self.call_status == status.as_str()
    }

    /// Whether it is a yes to exactly this, not yet used, or used by a process that died in the middle.
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

impl Replies {
    /// From the rows of `statements::LOOK`, whose first column says what each is.
    pub(super) fn read(rows: &[SqliteRow]) -> Result<Self, sqlx::Error> {
        let mut replies = Self::default();
        for row in rows {
            let kind: &str = row.try_get(0)?;
            if kind == "run" {
                replies.runs.insert(place(row)?, RunSeen::read(row)?);
            } else if kind == "key" {
                replies.anything_sealed = row.try_get(3)?;
                if row.try_get(2)? {
                    replies.used_keys.insert(row.try_get(1)?);
                }
            } else if kind == "approval" {
                // Whoever is written here by a version that knows more answerers: the strictest of ours.
                let asks = match row.try_get::<&str, _>(4)? {
                    "caller" => Answerer::Caller,
                    "client" => Answerer::Client,
                    _ => Answerer::Operator,
                };
                let approval = ApprovalSeen {
                    arguments_hash: row.try_get(2)?,
                    definition_hash: row.try_get(3)?,
                    asks,
                    answer_window: AnswerWindow {
                        asked_at: Timestamp::from_micros(row.try_get(10)?),
                        expires_at: Timestamp::from_micros(row.try_get(5)?),
                    },
                    state: row.try_get(6)?,
                    call_status: row.try_get(7)?,
                    owner: Scope {
                        project: ProjectId::new(row.try_get(8)?),
                        user: row.try_get::<Option<&str>, _>(9)?.map(UserId::new),
                    },
                };
                replies.approvals.insert(row.try_get(1)?, approval);
            } else {
                let early = serde_json::from_str(row.try_get(4)?);
                let seen = WindowSeen {
                    counted: u64::try_from(row.try_get::<i64, _>(2)?).unwrap_or(0),
                    oldest: row.try_get::<Option<i64>, _>(3)?.map(Timestamp::from_micros),
                    early: early.map_err(|error| sqlx::Error::Decode(error.into()))?,
                };
                replies.windows.insert(place(row)?, seen);
            }
        }
        Ok(replies)
    }

    /// What the change of a run with that number asked about.
    pub(super) fn run(&self, number: usize) -> Option<&RunSeen> {
        self.runs.get(&number)
    }

    pub(super) fn approval(&self, call: &CallId) -> Option<&ApprovalSeen> {
        self.approvals.get(call.as_str())
    }

    /// Whether a process with these keys is not the only one that could open what is asked; see
    /// [`crate::Store::know_keys`].
    pub(super) fn openable(&self, approval: &Approval, keys: &[String]) -> Result<(), Refusal> {
        let Some(sealed) = &approval.sealed else { return Ok(()) };
        let is_known = keys.contains(&key_name(sealed));
        let shares = !self.anything_sealed || keys.iter().any(|key| self.used_keys.contains(key));
        if is_known && shares { Ok(()) } else { Err(StoreError::OtherKey.into()) }
    }

    /// Whether somebody like this may answer now.
    pub(super) fn waiting(
        &self,
        call: &CallId,
        scope: &Scope,
        by: Answerer,
        at: Timestamp,
    ) -> Result<(), Refusal> {
        let approval = self.approval(call).filter(|approval| by.may_answer_call_of(scope, &approval.owner));
        match approval {
            Some(seen)
                if seen.is(QuestionState::Waiting, CallStatus::Pending)
                    && !seen.answer_window.is_over(at) =>
            {
                DecideError::check(by, seen.asks).map_err(Refusal::NotYours)
            }
            _ => Err(Refusal::NotWaiting),
        }
    }

    /// How many calls began after `since`, and when the oldest of them did.
    pub(super) fn window(&self, place: usize, since: Timestamp) -> (u64, Option<Timestamp>) {
        let Some(seen) = self.windows.get(&place) else {
            return (0, None);
        };
        let early = seen.early.iter().copied().filter(|at| *at > since);
        early.fold((seen.counted, seen.oldest), |(counted, oldest), at| {
            (counted + 1, Some(oldest.map_or(at, |oldest| oldest.min(at))))
        })
    }
}

/// The number of the question that a row replies to.
fn place(row: &SqliteRow) -> Result<usize, sqlx::Error> {
    Ok(usize::try_from(row.try_get::<i64, _>(1)?).unwrap_or(usize::MAX))
}
