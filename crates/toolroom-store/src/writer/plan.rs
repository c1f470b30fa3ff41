//! From units, and what the database said, to rows. No database here: what is refused is refused before
//! anything is written.

use foldhash::HashMap;
use serde::Serialize;
use sqlx::Arguments as _;
use sqlx::sqlite::SqliteArguments;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Answerer, Artifact, BeginCall, CallRecord, CloseCall, Decision, EditCall, ParkCall,
    ParkedQuestion, QuestionState,
};
use toolroom::provenance::TrackChange;

use super::look::{ApprovalSeen, Questions, Replies};
use super::rates::Rates;
use super::runs::RunSeen;
use super::unit::{Refusal, Unit, Work};
use crate::background::ProgramChange;
use crate::conversation::{Hold, RunChange, RunRows};
use crate::instance::Instance;
use crate::memory::MemoryChange;
use crate::prune::Chunk;
use crate::question::{AnswerRow, ApprovalRow};
use crate::row::{COLUMNS, CallRow, Json, Text};
use crate::setting::Setting;
use crate::statements::{Bound, CROWD, Statement};

/// A row of `statements::ANSWER_APPROVALS`: call, state, answer, by whom, when, and the call that takes its place.
#[derive(Serialize)]
struct Answered<'a>(&'a str, &'static str, &'static str, &'static str, i64, Option<&'a str>);

/// The rows of a transaction.
#[derive(Default)]
pub(super) struct Plan<'a> {
    present: Vec<(&'a str, &'a str, &'a str, i64, i64)>,
    calls: Vec<CallRow<'a>>,
    resumed: Vec<(&'a str, Option<i64>, &'a str, Option<Text<'a>>)>,
    denied: Vec<(&'a str, i64, &'static str)>,
    approvals: Vec<ApprovalRow<'a>>,
    answers: Vec<Answered<'a>>,
    used: Vec<(&'a str, i64)>,
    settled: Vec<(&'a str, &'static str)>,
    standing: Vec<AnswerRow<'a>>,
    outbox: Vec<(String, &'a str, &'a str, Text<'a>, Json<'a>, i64)>,
    runs: RunRows<'a>,
    /// Content is no JSON, so each artifact is a statement of its own; with its hash, if that is known.
    pub(super) artifacts: Vec<(&'a Artifact, Option<&'a str>)>,
    /// Few calls offer anything.
    pub(super) offering: Vec<&'a CallRecord>,
    /// Rare, so each is a statement of its own; with the place of its unit.
    pub(super) settings: Vec<(usize, &'a Setting)>,
    pub(super) holds: Vec<(usize, &'a Hold)>,
    pub(super) memories: Vec<(usize, &'a MemoryChange)>,
    pub(super) tracks: Vec<(usize, &'a TrackChange)>,
    pub(super) programs: Vec<(usize, &'a ProgramChange)>,
    /// Rare, too; with the place of their unit, whose answer holds the report, as above.
    pub(super) prunes: Vec<(usize, &'a Chunk)>,
    /// What is refused, in the order of the units.
    pub(super) verdicts: Vec<Result<(), Refusal>>,
}

impl<'a> Plan<'a> {
    /// Decides about every unit. `present` says whether this process has other calls, runs or programs open, so that the
    /// transaction should carry its heartbeat when that is due.
    pub(super) fn new(
        units: &'a [Unit],
        questions: &Questions<'a>,
        replies: &Replies,
        instance: &'a Instance,
        present: bool,
    ) -> Self {
        let now = instance.now();
        let verdicts = Vec::with_capacity(units.len());
        let mut plan = Self { verdicts, calls: Vec::with_capacity(units.len()), ..Self::default() };
        let mut rates = Rates::new(questions, replies);
        // Where the row of a call begun in this very batch is, so that its close takes the place.
        let mut begun = HashMap::default();
        let mut changed_runs = 0;
        let mut keeps_runs = false;
        let mut keeps_programs = false;
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
                            let rule = record.rule.as_deref().map(Text);
                            plan.resumed.push((record.id.as_str(), at, instance, rule));
                        } else {
                            begun.insert(record.id.as_str(), plan.calls.len());
                            plan.calls.push(CallRow { record, instance: Some(instance) });
                        }
                    })
                }
                Work::Close(close, hashes) => plan.settle(close, replies).map(|()| {
                    let begun_here = begun.remove(close.record.id.as_str());
                    plan.close(close, begun_here, instance, now);
                    let files = close.artifacts.iter().enumerate();
                    plan.artifacts.extend(files.map(|(place, file)| (file, hashes.get(place))));
                }),
                Work::Park(park, keys) => {
                    replies.openable(&park.approval, keys).map(|()| plan.park(park, None))
                }
                Work::Decide(decision) => plan.decide(decision, replies),
                Work::Edit(edit, keys) => {
                    replies.openable(&edit.park.approval, keys).and_then(|()| plan.edit(edit, replies))
                }
                Work::Run(change) => {
                    changed_runs += 1;
                    keeps_runs |= change.keeps_running();
                    plan.change_run(change, replies.run(changed_runs - 1), instance)
                }
                Work::Hold(hold) => {
                    keeps_runs |= matches!(hold, Hold::Take(..));
                    plan.holds.push((place, hold));
                    Ok(())
                }
                Work::Memory(change) => {
                    plan.memories.push((place, change));
                    Ok(())
                }
                Work::Track(change) => {
                    plan.tracks.push((place, change));
                    Ok(())
                }
                Work::Program(change) => {
                    keeps_programs |= change.is_begin();
                    plan.programs.push((place, change));
                    Ok(())
                }
                Work::Set(setting) => {
                    plan.settings.push((place, setting));
                    Ok(())
                }
                Work::Prune(chunk) => {
                    plan.prunes.push((place, chunk));
                    Ok(())
                }
            };
            plan.verdicts.push(verdict);
        }
        let leaves_open = !begun.is_empty() || !plan.resumed.is_empty() || keeps_runs || keeps_programs;
        if (leaves_open || present) && instance.is_due(now) {
            plan.present.push(instance.row(now));
        }
        plan
    }

    /// Begins a run, or goes on with it.
    fn change_run(
        &mut self,
        change: &'a RunChange,
        seen: Option<&RunSeen>,
        instance: &'a Instance,
    ) -> Result<(), Refusal> {
        let there = seen.unwrap_or(&RunSeen::default()).allows(change, &instance.id)?;
        change.write(there, &instance.id, || instance.fresh_id("req"), &mut self.runs);
        Ok(())
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

    /// Asks a question; an edit that may answer it answers it at once.
    fn park(&mut self, park: &'a ParkCall, granted: Option<(Answerer, Timestamp)>) {
        self.calls.push(CallRow { record: &park.record, instance: None });
        self.approvals.push(ApprovalRow { approval: &park.approval, granted });
    }

    fn decide(&mut self, decision: &'a Decision, replies: &Replies) -> Result<(), Refusal> {
        let call = decision.call.as_str();
        replies.waiting(&decision.call, &decision.scope, decision.by, decision.at)?;
        let refusal = decision.answer.refusal();
        let state = match refusal {
            None => QuestionState::Granted,
            Some(_) => QuestionState::Refused,
        };
        let at = decision.at.as_micros();
        let (answer, by) = (decision.answer.as_str(), decision.by.as_str());
        self.answers.push(Answered(call, state.as_str(), answer, by, at, None));
        self.denied.extend(refusal.map(|refusal| (call, at, refusal)));
        self.standing.extend(decision.standing.as_ref().map(AnswerRow));
        Ok(())
    }

    fn edit(&mut self, edit: &'a EditCall, replies: &Replies) -> Result<(), Refusal> {
        replies.waiting(&edit.of, &edit.scope, edit.by, edit.at)?;
        let (of, at) = (edit.of.as_str(), edit.at.as_micros());
        let state = QuestionState::Refused.as_str();
        let by = Some(edit.park.record.id.as_str());
        self.answers.push(Answered(of, state, Answer::Edit.as_str(), edit.by.as_str(), at, by));
        self.denied.extend(Answer::Edit.refusal().map(|refusal| (of, at, refusal)));
        let granted = edit.by.may_answer_for(edit.park.approval.by).then_some((edit.by, edit.at));
        self.park(&edit.park, granted);
        Ok(())
    }

    /// What the close of a call does to its question.
    fn settle(&mut self, close: &'a CloseCall, replies: &Replies) -> Result<(), Refusal> {
        let state = match close.question {
            ParkedQuestion::None => return Ok(()),
            // As long as nobody knows how the call ended it may begin again, with what is sealed.
            ParkedQuestion::Settled if !close.record.status.is_final() => return Ok(()),
            ParkedQuestion::Settled => QuestionState::Used,
            ParkedQuestion::Void => QuestionState::Void,
            ParkedQuestion::Expired => QuestionState::Expired,
        };
        let is_pending = replies.approval(&close.record.id).is_some_and(ApprovalSeen::is_pending);
        if close.question != ParkedQuestion::Settled && !is_pending {
            return Err(Refusal::NotWaiting);
        }
        self.settled.push((close.record.id.as_str(), state.as_str()));
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
        self.offering.extend(Some(record).filter(|record| !record.offers.is_empty()));
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
            && self.writes_only_calls()
            && !self.has_runs()
            && !self.has_single_statements()
    }

    /// Whether `statements::WRITE_RUNS` is all there is to write.
    pub(super) fn is_runs_alone(&self) -> bool {
        self.has_runs() && self.calls.is_empty() && self.writes_only_calls()
    }

    /// Whether there is something for `statements::WRITE_RUNS`.
    pub(super) fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether nothing but rows of calls is left for `statements::WRITE`.
    fn writes_only_calls(&self) -> bool {
        self.resumed.is_empty()
            && self.denied.is_empty()
            && self.approvals.is_empty()
            && self.answers.is_empty()
            && self.used.is_empty()
            && self.settled.is_empty()
            && self.standing.is_empty()
            && self.outbox.is_empty()
    }

    /// Whether something does not fit into the one script.
    pub(super) fn has_single_statements(&self) -> bool {
        !(self.artifacts.is_empty()
            && self.offering.is_empty()
            && self.settings.is_empty()
            && self.holds.is_empty()
            && self.memories.is_empty()
            && self.tracks.is_empty()
            && self.programs.is_empty()
            && self.prunes.is_empty())
    }

    /// Whether the heartbeat is among the rows.
    pub(super) fn is_present(&self) -> bool {
        !self.present.is_empty()
    }

    /// The rows of calls in crowds, and those that are left over.
    pub(super) fn crowds(&self) -> (&[[CallRow<'a>; CROWD]], &[CallRow<'a>]) {
        self.calls.as_chunks()
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
            .bind(rows(&self.outbox)?)
            .bind(rows(&self.settled)?)
            .bind(rows(&self.standing)?))
    }

    /// What is said in runs, in the order of `statements::WRITE_RUNS`.
    pub(super) fn bind_runs(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        Ok(statement
            .query()
            .bind(rows(&self.present)?)
            .bind(rows(&self.runs.conversations)?)
            .bind(rows(&self.runs.grown)?)
            .bind(rows(&self.runs.begun)?)
            .bind(rows(&self.runs.stepped)?)
            .bind(rows(&self.runs.entries)?)
            .bind(rows(&self.runs.events)?)
            .bind(rows(&self.runs.usage)?)
            .bind(rows(&self.runs.requests)?))
    }
}

/// The columns of a crowd of calls.
pub(super) fn crowd(statement: Statement, calls: &[CallRow<'_>; CROWD]) -> Result<Bound, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    // So many that their room would be found anew again and again.
    arguments.reserve(CROWD * COLUMNS, 0);
    calls.iter().try_for_each(|call| call.tell(&mut arguments))?;
    Ok(statement.query_with(arguments))
}

/// Rows as one JSON text.
pub(super) fn rows<T: Serialize>(rows: &[T]) -> Result<String, sqlx::Error> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(error.into()))
}
