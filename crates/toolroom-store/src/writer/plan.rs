//! From units, and what the database said, to rows. No database here: what is refused is refused before
//! anything is written.

use std::collections::HashMap;

use serde::Serialize;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use toolroom::clock::Timestamp;
use toolroom::ledger::{Artifact, BeginCall, CloseCall, Decision, ParkCall};
use toolroom::scope::UserId;

use super::look::{Counted, Questions, Replies};
use super::unit::{Refusal, SwitchChange, Unit, Work};
use crate::instance::Instance;
use crate::prune::Chunk;
use crate::row::{CallRow, Json, Text};
use crate::statements::Statement;

/// The rows of a transaction.
#[derive(Default)]
pub(super) struct Plan<'a> {
    present: Vec<(&'a str, &'a str, &'a str, i64, i64)>,
    calls: Vec<CallRow<'a>>,
    resumed: Vec<(&'a str, Option<i64>, &'a str)>,
    denied: Vec<(&'a str, i64)>,
    approvals: Vec<(&'a str, &'a str, &'a str, &'static str, Text<'a>, i64)>,
    answers: Vec<(&'a str, &'static str, &'static str, &'static str, i64)>,
    used: Vec<(&'a str, i64)>,
    outbox: Vec<(String, &'a str, &'a str, Text<'a>, Json<'a>, i64)>,
    /// Content is no JSON, so each artifact is a statement of its own.
    pub(super) artifacts: Vec<&'a Artifact>,
    /// Rare, so each is a statement of its own.
    pub(super) switches: Vec<&'a SwitchChange>,
    /// Rare, too; with the place of their unit, whose answer holds the report.
    pub(super) prunes: Vec<(usize, &'a Chunk)>,
    /// What is refused, in the order of the units.
    pub(super) verdicts: Vec<Result<(), Refusal>>,
}

impl<'a> Plan<'a> {
    /// Decides about every unit. `present` says whether this process has other calls open, so that the
    /// transaction should carry its heartbeat when that is due.
    pub(super) fn new(
        units: &'a [Unit],
        questions: &Questions<'a>,
        replies: &Replies,
        instance: &'a Instance,
        present: bool,
    ) -> Self {
        let now = instance.now();
        let mut plan = Self { verdicts: Vec::with_capacity(units.len()), ..Self::default() };
        let mut rates = Rates::new(questions, replies);
        // Where the row of a call begun in this very batch is, so that its close takes the place.
        let mut begun = HashMap::new();
        for (place, unit) in units.iter().enumerate() {
            let verdict = match &unit.work {
                Work::Begin(begin) => {
                    let admitted = rates.admit(begin).and_then(|()| plan.consume(begin, replies));
                    admitted.map(|resumes| {
                        rates.count(begin);
                        let record = &begin.record;
                        let instance = instance.id.as_str();
                        if resumes {
                            let at = record.begun_at.map(Timestamp::as_micros);
                            plan.resumed.push((record.id.as_str(), at, instance));
                        } else {
                            begun.insert(record.id.as_str(), plan.calls.len());
                            plan.calls.push(CallRow { record, instance: Some(instance) });
                        }
                    })
                }
                Work::Close(close) => {
                    let begun_here = begun.remove(close.record.id.as_str());
                    plan.close(close, begun_here, instance, now);
                    Ok(())
                }
                Work::Park(park) => {
                    plan.park(park);
                    Ok(())
                }
                Work::Decide(decision) => plan.decide(decision, replies),
                Work::Switch(change) => {
                    plan.switches.push(change);
                    Ok(())
                }
                Work::Prune(chunk) => {
                    plan.prunes.push((place, chunk));
                    Ok(())
                }
            };
            plan.verdicts.push(verdict);
        }
        let leaves_open = !begun.is_empty() || !plan.resumed.is_empty();
        if (leaves_open || present) && instance.is_due(now) {
            plan.present.push(instance.row(now));
        }
        plan
    }

    /// Uses up the call's grant. Says whether the call is the parked one itself, whose row is there.
    fn consume(&mut self, begin: &'a BeginCall, replies: &Replies) -> Result<bool, Refusal> {
        let Some(grant) = &begin.grant else {
            return Ok(false);
        };
        let granted = replies
            .approval(&grant.call)
            .is_some_and(|approval| approval.owner == begin.record.scope && approval.grants(grant));
        if !granted {
            return Err(Refusal::GrantSpent);
        }
        self.used.push((grant.call.as_str(), grant.at.as_micros()));
        Ok(grant.call == begin.record.id)
    }

    fn park(&mut self, park: &'a ParkCall) {
        let approval = &park.approval;
        self.calls.push(CallRow { record: &park.record, instance: None });
        self.approvals.push((
            park.record.id.as_str(),
            &approval.arguments_hash,
            &approval.definition_hash,
            approval.by.as_str(),
            Text(&approval.reason),
            approval.expires_at.as_micros(),
        ));
    }

    fn decide(&mut self, decision: &'a Decision, replies: &Replies) -> Result<(), Refusal> {
        let approval = replies
            .approval(&decision.call)
            .filter(|approval| decision.scope.covers(&approval.owner) && approval.waits(decision.at))
            .ok_or(Refusal::NotWaiting)?;
        if !decision.by.may_answer_for(approval.asks) {
            return Err(Refusal::NotYours);
        }
        let call = decision.call.as_str();
        let at = decision.at.as_micros();
        let state = if decision.answer.is_yes() { "granted" } else { "refused" };
        self.answers.push((call, state, decision.answer.as_str(), decision.by.as_str(), at));
        if !decision.answer.is_yes() {
            self.denied.push((call, at));
        }
        Ok(())
    }

    fn close(
        &mut self,
        close: &'a CloseCall,
        begun_here: Option<usize>,
        instance: &'a Instance,
        now: Timestamp,
    ) {
        let record = &close.record;
        match begun_here.and_then(|place| self.calls.get_mut(place)) {
            Some(row) => row.record = record,
            None => self.calls.push(CallRow { record, instance: None }),
        }
        self.artifacts.extend(&close.artifact);
        self.outbox.extend(close.enqueue.iter().map(|action| {
            let project = record.scope.project.as_str();
            let kind = Text(&action.kind);
            let payload = Json(&action.payload);
            (instance.fresh_id("work"), project, record.id.as_str(), kind, payload, now.as_micros())
        }));
    }

    /// Whether one statement is the whole transaction.
    pub(super) fn is_calls_alone(&self) -> bool {
        self.present.is_empty()
            && self.resumed.is_empty()
            && self.denied.is_empty()
            && self.approvals.is_empty()
            && self.answers.is_empty()
            && self.used.is_empty()
            && self.outbox.is_empty()
            && !self.has_single_statements()
    }

    /// Whether something does not fit into the one script.
    pub(super) fn has_single_statements(&self) -> bool {
        !(self.artifacts.is_empty() && self.switches.is_empty() && self.prunes.is_empty())
    }

    /// Whether the heartbeat is among the rows.
    pub(super) fn is_present(&self) -> bool {
        !self.present.is_empty()
    }

    /// The rows of calls as the only parameter.
    pub(super) fn calls_alone(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        Ok(statement.query().bind(rows(&self.calls)?))
    }

    /// All rows, in the order of `statements::WRITE`.
    pub(super) fn bind(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        Ok(statement
            .query()
            .bind(rows(&self.present)?)
            .bind(rows(&self.calls)?)
            .bind(rows(&self.resumed)?)
            .bind(rows(&self.denied)?)
            .bind(rows(&self.approvals)?)
            .bind(rows(&self.answers)?)
            .bind(rows(&self.used)?)
            .bind(rows(&self.outbox)?))
    }
}

/// A statement with its parameters.
pub(super) type Bound = Query<'static, Sqlite, SqliteArguments>;

/// Rows as one JSON text.
pub(super) fn rows<T: Serialize>(rows: &[T]) -> Result<String, sqlx::Error> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// Who began, and when.
type Begun<'a> = (Option<&'a UserId>, Timestamp);

/// Rate limits inside one transaction: what the database counted, and what this batch let through since.
struct Rates<'a, 'q> {
    questions: &'q Questions<'a>,
    replies: &'q Replies,
    /// Of limits, in the order they were asked.
    next: usize,
    /// By project and tool.
    begun: HashMap<(&'a str, &'a str), Vec<Begun<'a>>>,
}

impl<'a, 'q> Rates<'a, 'q> {
    fn new(questions: &'q Questions<'a>, replies: &'q Replies) -> Self {
        Self { questions, replies, next: 0, begun: HashMap::new() }
    }

    fn admit(&mut self, begin: &'a BeginCall) -> Result<(), Refusal> {
        let first = self.next;
        self.next += begin.rates.len();
        let begun_at = begin.record.begun_at.unwrap_or(begin.record.asked_at);
        for (place, limit) in (first..).zip(&begin.rates) {
            let Some(window) = self.questions.window(place) else {
                continue;
            };
            let since = begun_at.before(limit.per);
            let (mut count, mut oldest) = self.replies.window(window, since);
            let counted = Counted::of(&begin.record, limit);
            let here = self.begun.get(&(counted.project, counted.tool)).into_iter().flatten();
            for (_, at) in here.filter(|(user, at)| *at > since && counted.includes(*user)) {
                count += 1;
                oldest = Some(oldest.map_or(*at, |oldest| oldest.min(*at)));
            }
            if count >= u64::from(limit.max) {
                let retry_after = oldest.unwrap_or(begun_at).after(limit.per).since(begun_at);
                return Err(Refusal::RateLimited { limit: *limit, retry_after });
            }
        }
        Ok(())
    }

    fn count(&mut self, begin: &'a BeginCall) {
        let record = &begin.record;
        if let Some(at) = record.begun_at {
            let key = (record.scope.project.as_str(), &*record.tool);
            self.begun.entry(key).or_default().push((record.scope.user.as_ref(), at));
        }
    }
}
