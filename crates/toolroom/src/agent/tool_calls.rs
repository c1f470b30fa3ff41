//! Calling what a model asks for.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::active_run::{ActiveRun, Stop, UnansweredCall, error_value};
use super::agent::STOPPED;
use super::compact::COMPACT_AT;
use super::event_sink::EventSink;
use super::run_facts::RunFacts;
use super::settle::{self, Resumed, waits_event};
use crate::call::{CallReport, CallRequest, Outcome, Progress, ProgressSink, ResumeRequest};
use crate::conversation::{PastRequest, RunEvent};
use crate::ledger::{Answerer, CallId, CallRecord, CallStatus, LedgerError};
use crate::model::{Block, Message, ModelCallId, Role};
use crate::policy::Provenance;
use crate::tool::{ErrorKind, RaisedBy, ToolError};
use crate::toolroom::Toolroom;

/// How much of a request is remembered for the tool it led to.
const REQUEST_CHARS: usize = 300;

/// What came of one call.
pub(super) enum Settled {
    /// The model reads this.
    Answered(Answered),
    /// Somebody has to be asked.
    Waits(CallId),
    /// The client has to run it, and knows what with.
    AtClient(CallId, Provenance),
    /// Somebody stopped the run.
    Stopped,
    /// Nobody knows what came of it.
    Broken(LedgerError),
}

/// A call with its result.
pub(super) struct Answered {
    pub(super) content: Arc<Value>,
    pub(super) is_error: bool,
    /// The tool that ran, if one did, by its full id.
    pub(super) ran: Option<Arc<str>>,
    /// What it has read and sent.
    pub(super) provenance: Provenance,
}

impl ActiveRun<'_> {
    /// Calls everything the last turn asks for and says what came of it, in the order of the calls. Gives the calls that
    /// wait for somebody; then nothing is said yet.
    pub(super) async fn call_open(&mut self) -> Result<Vec<CallId>, Stop> {
        let open = self.open_calls();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let known = if self.resumed { self.journal(&open).await? } else { HashMap::new() };
        self.resumed = false;
        // Before anything else that was said yes to is called.
        if self.is_stopped(known.values()).await? {
            self.settle_open(Vec::new(), STOPPED).await?;
            return Err(Stop::Cancelled);
        }
        self.recall_provenance().await?;
        let before = self.provenance_before(&open);
        let jobs =
            open.iter().zip(before).map(|(call, before)| self.job(call, before, known.get(call.id.as_str())));
        let jobs = jobs.collect();
        for call in &open {
            if let Some(record) = known.get(call.id.as_str()).filter(|record| !is_parked(record)) {
                self.tell_known(call, record);
            }
        }
        let settled = self.work(jobs).await;
        self.note_provenance(&settled);
        if self.cancellation.is_cancelled() || settled.iter().any(|one| matches!(one, Settled::Stopped)) {
            self.settle_open(settled, STOPPED).await?;
            return Err(Stop::Cancelled);
        }
        let mut waiting = Vec::new();
        for one in &settled {
            match one {
                Settled::Waits(call) | Settled::AtClient(call, _) => waiting.push(call.clone()),
                Settled::Broken(error) => return Err(error.clone().into()),
                Settled::Answered(_) | Settled::Stopped => {}
            }
        }
        if waiting.is_empty() {
            self.say_results(&open, settled);
            self.keep_behind();
        }
        Ok(waiting)
    }

    fn say_results(&mut self, open: &[UnansweredCall], settled: Vec<Settled>) {
        let asked = self.asked_for();
        let mut blocks = Vec::with_capacity(open.len());
        for (call, settled) in open.iter().zip(settled) {
            let Settled::Answered(answered) = settled else { continue };
            if let (Some(tool), Some(message), false) = (&answered.ran, &asked, answered.is_error) {
                self.learn(PastRequest { tool: Arc::clone(tool), message: Arc::clone(message) });
            }
            blocks.push(call.result(answered.content, answered.is_error));
        }
        self.say(Message { role: Role::User, blocks });
    }

    /// What the person said last, in short; only for the first calls that follow from it.
    fn asked_for(&self) -> Option<Arc<str>> {
        let said = self.request.messages.get(self.thread.heading()..).unwrap_or_default();
        let [.., asked, _] = said else { return None };
        let is_person = asked.role == Role::User
            && asked.blocks.iter().all(|block| !matches!(block, Block::Result { .. }));
        let text = asked.text();
        (is_person && !text.trim().is_empty())
            .then(|| text.chars().take(REQUEST_CHARS).collect::<String>().into())
    }

    fn job(&self, call: &UnansweredCall, before: Provenance, known: Option<&CallRecord>) -> Job {
        let entry = self.tools.find(&call.name);
        let work = match known {
            Some(record) if is_parked(record) => {
                let mut request = ResumeRequest::new(record.id.clone(), self.run.scope.clone());
                request.cancellation = self.cancellation.child_token();
                request.progress = self.progress_of(&call.id);
                request.choice = Some(Arc::clone(&self.agent.choice));
                Work::Parked(Box::new(request))
            }
            Some(record) => Work::Known(settle::answer(record)),
            None => Work::Fresh(Box::new(self.call_request(call, before))),
        };
        Job {
            call: call.clone(),
            tool: entry.map_or(call.name.as_str(), |entry| entry.spec().id.as_str()).into(),
            is_serial: entry.is_some_and(|entry| entry.spec().serial),
            work,
        }
    }

    fn call_request(&self, call: &UnansweredCall, before: Provenance) -> CallRequest {
        // A name that no tool of the agent has may still be one that somebody else's tool has: the choice refuses it.
        let tool = self.tools.find(&call.name).map_or(call.name.as_str(), |entry| entry.spec().id.as_str());
        let stop = self.cancellation.child_token();
        let mut request = CallRequest::through("agent", tool, self.run.scope.clone(), stop)
            .arguments_text(&*call.arguments)
            .user_location(self.run.user_location)
            .conversation(self.run.conversation.as_str(), Some(self.run.id.as_str()))
            .model_call(call.id.as_str())
            .context(self.context.clone())
            .metadata(self.facts().into_metadata())
            .choice(Arc::clone(&self.agent.choice))
            .provenance(before)
            .source(self.run.source.clone());
        request.caller.clone_from(&self.run.caller);
        request.progress = self.progress_of(&call.id);
        request.client_tool = self.run.client_tools.of(tool).cloned();
        request
    }

    /// Where the signs of life of a call go, if anybody looks.
    fn progress_of(&self, id: &ModelCallId) -> Option<ProgressSink> {
        let (events, id) = (Arc::clone(&self.events), id.clone());
        events.has_listener().then(|| -> ProgressSink {
            Arc::new(move |Progress { message, fraction }| {
                events.send(RunEvent::CallProgress { id: id.clone(), message, fraction });
            })
        })
    }

    /// What tools are told of this run.
    fn facts(&self) -> RunFacts {
        let window = self.agent.chain.get(self.candidate).map(|candidate| candidate.facts.window);
        let model = self.run.model.as_deref().unwrap_or_default();
        let tokens = self.fixed + self.thread.total();
        RunFacts {
            agent: Some(self.run.agent.clone()),
            context_tokens: Some(self.estimator().corrected(model, tokens)),
            window,
            compact_at: window.map(|window| window * COMPACT_AT / 100),
            compacted: Some(self.thread.summary().is_some()),
            last_prompt_tokens: self.last_prompt,
            daily_budget_usd: self.agent.record.limits.daily_budget_usd,
        }
    }

    /// Works the jobs off: as many at a time as the agent's limits allow, those of serial tools one after the other.
    async fn work(&self, jobs: Vec<Job>) -> Vec<Settled> {
        for job in jobs.iter().filter(|job| !matches!(job.work, Work::Known(_))) {
            let notice = self.call_notice(&job.call.id, &job.call.name, &job.call.arguments);
            self.events.send(RunEvent::CallBegan(notice));
        }
        let (room, events) = (&self.agent.room, &self.events);
        match <[Job; 1]>::try_from(jobs) {
            Ok([only]) => vec![only.run(room, events).await],
            Err(jobs) => side_by_side(room, events, jobs, self.agent.record.limits.parallel).await,
        }
    }
}

async fn side_by_side(
    room: &Toolroom,
    events: &Arc<EventSink>,
    jobs: Vec<Job>,
    parallel: u32,
) -> Vec<Settled> {
    let places = Arc::new(Semaphore::new(usize::try_from(parallel.max(1)).unwrap_or(1)));
    let mut settled: Vec<Settled> = jobs.iter().map(|_| Settled::Stopped).collect();
    let (serial, free): (Vec<_>, Vec<_>) = jobs.into_iter().enumerate().partition(|(_, job)| job.is_serial);
    let mut chains: Vec<Vec<(usize, Job)>> = free.into_iter().map(|job| vec![job]).collect();
    if !serial.is_empty() {
        chains.push(serial);
    }
    let mut tasks = JoinSet::new();
    for chain in chains {
        let (room, events, places) = (room.clone(), Arc::clone(events), Arc::clone(&places));
        tasks.spawn(async move {
            let mut settled = Vec::with_capacity(chain.len());
            for (place, job) in chain {
                // The semaphore is never closed.
                let _place = places.acquire().await;
                settled.push((place, job.run(&room, &events).await));
            }
            settled
        });
    }
    while let Some(done) = tasks.join_next().await {
        for (place, one) in done.unwrap_or_default() {
            if let Some(slot) = settled.get_mut(place) {
                *slot = one;
            }
        }
    }
    settled
}

/// One call to be made, gone on with, or known already.
struct Job {
    call: UnansweredCall,
    tool: Arc<str>,
    is_serial: bool,
    work: Work,
}

/// Whether somebody was asked about a call, and the question knows more than its row: what was refused may have been
/// stopped.
fn is_parked(record: &CallRecord) -> bool {
    matches!(record.status, CallStatus::Pending | CallStatus::Denied)
}

enum Work {
    Fresh(Box<CallRequest>),
    /// Somebody was asked about it.
    Parked(Box<ResumeRequest>),
    /// It has ended.
    Known(Answered),
}

impl Job {
    async fn run(self, room: &Toolroom, events: &EventSink) -> Settled {
        let Self { call, tool, work, .. } = self;
        let report = match work {
            Work::Known(answered) => return Settled::Answered(answered),
            Work::Fresh(request) => room.call(*request).await,
            Work::Parked(parked) => match settle::resume(room, *parked).await {
                Resumed::Reported(report) => report,
                Resumed::Ended(record) => {
                    events.send(settle::ended_event(&call, &record));
                    return Settled::Answered(settle::answer(&record));
                }
                Resumed::Impossible(why) => {
                    let content = Arc::new(error_value(&why, None));
                    return Settled::Answered(Answered {
                        content,
                        is_error: true,
                        ran: None,
                        provenance: Provenance::NONE,
                    });
                }
                Resumed::Stopped => return Settled::Stopped,
                Resumed::Broken(error) => return Settled::Broken(error),
            },
        };
        tell(events, &call, &tool, report)
    }
}

/// Tells what came of a call and brings it into the form a model reads.
fn tell(events: &EventSink, call: &UnansweredCall, tool: &Arc<str>, report: CallReport) -> Settled {
    let id = report.call_id.clone();
    let outcome = report.outcome.name();
    if let Outcome::Pending(pending) = &report.outcome {
        events.send(waits_event(call, &report, pending));
        return if pending.by == Answerer::Client {
            Settled::AtClient(id, report.provenance)
        } else {
            Settled::Waits(id)
        };
    }
    let content = match &report.outcome {
        Outcome::Done(done) => Some(Arc::clone(&done.value)),
        Outcome::Failed(_) | Outcome::Denied(_) | Outcome::Pending(_) => report.for_model().map(Arc::new),
    };
    let Some(content) = content else {
        return Settled::Stopped;
    };
    let (ran, is_error) = match &report.outcome {
        Outcome::Done(_) => (true, false),
        Outcome::Failed(error) => (!failed_before_it_ran(error), true),
        Outcome::Denied(_) | Outcome::Pending(_) => (false, true),
    };
    let (artifact, offers) = match report.outcome {
        Outcome::Done(done) => (done.artifact, done.offers),
        Outcome::Failed(_) | Outcome::Denied(_) | Outcome::Pending(_) => (None, Vec::new()),
    };
    events.send(RunEvent::CallEnded {
        id: call.id.clone(),
        call: id,
        tool: Arc::clone(tool),
        outcome: outcome.to_owned(),
        result: Arc::clone(&content),
        artifact,
        offers,
        duration_us: u64::try_from(report.duration.as_micros()).unwrap_or(u64::MAX),
    });
    let ran = ran.then(|| report.tool.as_str().into());
    Settled::Answered(Answered { content, is_error, ran, provenance: report.provenance })
}

fn failed_before_it_ran(error: &ToolError) -> bool {
    error.raised_by() == RaisedBy::Kernel
        && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidArguments | ErrorKind::RateLimited)
}
