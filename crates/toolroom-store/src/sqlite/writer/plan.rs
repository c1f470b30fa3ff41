//! Turns units and their preconditions into rows. Without the database: units are refused before anything is written.

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

use super::preconditions::{PreconditionQuery, Preconditions, StoredApproval};
use super::rates::Rates;
use super::run_precondition::RunPrecondition;
use super::unit::{Refusal, Unit, Work};
use crate::sqlite::approvals::{AnswerRow, ApprovalRow};
use crate::sqlite::call_row::{CALL_COLUMNS, CallRow};
use crate::sqlite::conversation::{LeaseChange, RunChange, RunRows};
use crate::sqlite::instance::Instance;
use crate::sqlite::memories::MemoryChange;
use crate::sqlite::programs::ProgramChange;
use crate::sqlite::prune::Chunk;
use crate::sqlite::row::{Json, Text};
use crate::sqlite::settings::Setting;
use crate::statements::{Bound, CALL_CHUNK_ROWS, Statement};

/// A row of `statements::ANSWER_APPROVALS`: call, state, answer, answerer, time, and the call that replaces it.
#[derive(Serialize)]
struct AnsweredRow<'a>(&'a str, &'static str, &'static str, &'static str, i64, Option<&'a str>);

/// The rows of a transaction.
#[derive(Default)]
pub(super) struct Plan<'a> {
    instances: Vec<(&'a str, &'a str, &'a str, i64, i64)>,
    calls: Vec<CallRow<'a>>,
    resumed: Vec<(&'a str, Option<i64>, &'a str, Option<Text<'a>>)>,
    denied: Vec<(&'a str, i64, &'static str)>,
    approvals: Vec<ApprovalRow<'a>>,
    answers: Vec<AnsweredRow<'a>>,
    used: Vec<(&'a str, i64)>,
    settled: Vec<(&'a str, &'static str)>,
    standing: Vec<AnswerRow<'a>>,
    outbox: Vec<(String, &'a str, &'a str, Text<'a>, Json<'a>, i64)>,
    runs: RunRows<'a>,
    /// Contents are binary, so each artifact is a statement of its own; with its hash, if that is known.
    pub(super) artifacts: Vec<(&'a Artifact, Option<&'a str>)>,
    /// Calls with offers. Rare, as are the others below, so each is a statement of its own. Those with a result have the
    /// index of their unit.
    pub(super) offering: Vec<&'a CallRecord>,
    pub(super) settings: Vec<(usize, &'a Setting)>,
    pub(super) leases: Vec<(usize, &'a LeaseChange)>,
    pub(super) memories: Vec<(usize, &'a MemoryChange)>,
    pub(super) tracks: Vec<(usize, &'a TrackChange)>,
    pub(super) programs: Vec<(usize, &'a ProgramChange)>,
    pub(super) prunes: Vec<(usize, &'a Chunk)>,
    /// Whether each unit is written, in order.
    pub(super) verdicts: Vec<Result<(), Refusal>>,
}

impl<'a> Plan<'a> {
    /// Decides every unit. `has_open_work` says whether this process has other calls, runs or programs open, so that the
    /// transaction writes a due heartbeat.
    pub(super) fn new(
        units: &'a [Unit],
        query: &PreconditionQuery<'a>,
        preconditions: &Preconditions,
        instance: &'a Instance,
        has_open_work: bool,
    ) -> Self {
        let now = instance.now();
        let verdicts = Vec::with_capacity(units.len());
        let mut plan = Self { verdicts, calls: Vec::with_capacity(units.len()), ..Self::default() };
        let mut rates = Rates::new(query, preconditions);
        // The index of the row of a call begun in this batch, which its close replaces.
        let mut begun = HashMap::default();
        let mut changed_runs = 0;
        let mut keeps_runs = false;
        let mut keeps_programs = false;
        for (index, unit) in units.iter().enumerate() {
            let verdict = match &unit.work {
                Work::Begin(begin) => {
                    let admitted = rates.admit(begin).and_then(|()| plan.consume(begin, preconditions));
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
                Work::Close(close, hashes) => plan.settle(close, preconditions).map(|()| {
                    let begun_here = begun.remove(close.record.id.as_str());
                    plan.close(close, begun_here, instance, now);
                    let files = close.artifacts.iter().enumerate();
                    plan.artifacts.extend(files.map(|(index, file)| (file, hashes.get(index))));
                }),
                Work::Park(park, keys) => {
                    preconditions.check_sealing_key(&park.approval, keys).map(|()| plan.park(park, None))
                }
                Work::Decide(decision) => plan.decide(decision, preconditions),
                Work::Edit(edit, keys) => preconditions
                    .check_sealing_key(&edit.park.approval, keys)
                    .and_then(|()| plan.edit(edit, preconditions)),
                Work::Run(change) => {
                    changed_runs += 1;
                    keeps_runs |= change.keeps_running();
                    plan.change_run(change, preconditions.run(changed_runs - 1), instance)
                }
                Work::Lease(lease) => {
                    keeps_runs |= matches!(lease, LeaseChange::Take(..));
                    plan.leases.push((index, lease));
                    Ok(())
                }
                Work::Memory(change) => {
                    plan.memories.push((index, change));
                    Ok(())
                }
                Work::Track(change) => {
                    plan.tracks.push((index, change));
                    Ok(())
                }
                Work::Program(change) => {
                    keeps_programs |= change.is_begin();
                    plan.programs.push((index, change));
                    Ok(())
                }
                Work::Set(setting) => {
                    plan.settings.push((index, setting));
                    Ok(())
                }
                Work::Prune(chunk) => {
                    plan.prunes.push((index, chunk));
                    Ok(())
                }
            };
            plan.verdicts.push(verdict);
        }
        let leaves_open = !begun.is_empty() || !plan.resumed.is_empty() || keeps_runs || keeps_programs;
        if (leaves_open || has_open_work) && instance.is_heartbeat_due(now) {
            plan.instances.push(instance.row(now));
        }
        plan
    }

    fn change_run(
        &mut self,
        change: &'a RunChange,
        precondition: Option<&RunPrecondition>,
        instance: &'a Instance,
    ) -> Result<(), Refusal> {
        let entries = precondition.unwrap_or(&RunPrecondition::default()).check(change, &instance.id)?;
        change.write(entries, &instance.id, || instance.fresh_id("req"), &mut self.runs);
        Ok(())
    }

    /// Consumes the grant of the call. Returns whether the call is the parked one, which has a row.
    fn consume(&mut self, begin: &'a BeginCall, preconditions: &Preconditions) -> Result<bool, Refusal> {
        let Some(grant) = &begin.grant else {
            return Ok(false);
        };
        let granted = preconditions
            .approval(&grant.call)
            .is_some_and(|approval| approval.owner == begin.record.scope && approval.grants(grant));
        if !granted {
            return Err(Refusal::GrantSpent);
        }
        self.used.push((grant.call.as_str(), grant.at.as_micros()));
        Ok(grant.call == begin.record.id)
    }

    /// Inserts a question, answered at once if it came with an edit that grants it.
    fn park(&mut self, park: &'a ParkCall, granted: Option<(Answerer, Timestamp)>) {
        self.calls.push(CallRow { record: &park.record, instance: None });
        self.approvals.push(ApprovalRow { approval: &park.approval, granted });
    }

    fn decide(&mut self, decision: &'a Decision, preconditions: &Preconditions) -> Result<(), Refusal> {
        let call = decision.call.as_str();
        preconditions.check_waiting(&decision.call, &decision.scope, decision.by, decision.at)?;
        let refusal = decision.answer.refusal();
        let state = match refusal {
            None => QuestionState::Granted,
            Some(_) => QuestionState::Refused,
        };
        let at = decision.at.as_micros();
        let (answer, by) = (decision.answer.as_str(), decision.by.as_str());
        self.answers.push(AnsweredRow(call, state.as_str(), answer, by, at, None));
        self.denied.extend(refusal.map(|refusal| (call, at, refusal)));
        self.standing.extend(decision.standing.as_ref().map(AnswerRow));
        Ok(())
    }

    fn edit(&mut self, edit: &'a EditCall, preconditions: &Preconditions) -> Result<(), Refusal> {
        preconditions.check_waiting(&edit.of, &edit.scope, edit.by, edit.at)?;
        let (of, at) = (edit.of.as_str(), edit.at.as_micros());
        let state = QuestionState::Refused.as_str();
        let by = Some(edit.park.record.id.as_str());
        self.answers.push(AnsweredRow(of, state, Answer::Edit.as_str(), edit.by.as_str(), at, by));
        self.denied.extend(Answer::Edit.refusal().map(|refusal| (of, at, refusal)));
        let granted = edit.by.may_answer_for(edit.park.approval.by).then_some((edit.by, edit.at));
        self.park(&edit.park, granted);
        Ok(())
    }

    /// Settles the question of a call that is closed.
    fn settle(&mut self, close: &'a CloseCall, preconditions: &Preconditions) -> Result<(), Refusal> {
        let state = match close.question {
            ParkedQuestion::None => return Ok(()),
            // A call whose end is unknown may begin again, and then needs its sealed request.
            ParkedQuestion::Settled if !close.record.status.is_final() => return Ok(()),
            ParkedQuestion::Settled => QuestionState::Used,
            ParkedQuestion::Void => QuestionState::Void,
            ParkedQuestion::Expired => QuestionState::Expired,
        };
        let is_pending = preconditions.approval(&close.record.id).is_some_and(StoredApproval::is_pending);
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
        match begun_here.and_then(|index| self.calls.get_mut(index)) {
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
        self.instances.is_empty()
            && self.writes_only_calls()
            && !self.has_runs()
            && !self.has_single_statements()
    }

    /// Whether `statements::WRITE_RUNS` writes everything.
    pub(super) fn is_runs_alone(&self) -> bool {
        self.has_runs() && self.calls.is_empty() && self.writes_only_calls()
    }

    /// Whether `statements::WRITE_RUNS` has rows.
    pub(super) fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether `statements::WRITE` has no rows but those of calls and instances.
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

    /// Whether there are statements besides the scripts.
    pub(super) fn has_single_statements(&self) -> bool {
        !(self.artifacts.is_empty()
            && self.offering.is_empty()
            && self.settings.is_empty()
            && self.leases.is_empty()
            && self.memories.is_empty()
            && self.tracks.is_empty()
            && self.programs.is_empty()
            && self.prunes.is_empty())
    }

    pub(super) fn writes_heartbeat(&self) -> bool {
        !self.instances.is_empty()
    }

    /// The rows of calls in full chunks, and the rest.
    pub(super) fn call_chunks(&self) -> (&[[CallRow<'a>; CALL_CHUNK_ROWS]], &[CallRow<'a>]) {
        self.calls.as_chunks()
    }

    /// Binds the parameters of `statements::WRITE`.
    pub(super) fn bind(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        Ok(statement
            .query()
            .bind(rows(&self.instances)?)
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

    /// Binds the parameters of `statements::WRITE_RUNS`.
    pub(super) fn bind_runs(&self, statement: Statement) -> Result<Bound, sqlx::Error> {
        Ok(statement
            .query()
            .bind(rows(&self.instances)?)
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

/// Binds the columns of a chunk of calls.
pub(super) fn bind_chunk(
    statement: Statement,
    calls: &[CallRow<'_>; CALL_CHUNK_ROWS],
) -> Result<Bound, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(CALL_CHUNK_ROWS * CALL_COLUMNS, 0);
    calls.iter().try_for_each(|call| call.write_columns(&mut arguments))?;
    Ok(statement.query_with(arguments))
}

/// Rows as one JSON text.
pub(super) fn rows<T: Serialize>(rows: &[T]) -> Result<String, sqlx::Error> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(error.into()))
}
