//! Makes the calls of one answer.

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
use super::settle::{self, ResumeOutcome, waits_event};
use crate::call::{CallReport, CallRequest, Outcome, Progress, ProgressSink, ResumeRequest};
use crate::conversation::{PastRequest, RunEvent};
use crate::ledger::{Answerer, CallId, CallRecord, CallStatus, LedgerError};
use crate::model::{Block, Message, ModelCallId, Role};
use crate::policy::Provenance;
use crate::tool::{ErrorKind, RaisedBy, ToolError};
use crate::toolroom::Toolroom;

/// Most characters of a request stored with the tool it led to.
const REQUEST_CHARS: usize = 300;

/// How one call ended.
pub(super) enum Settled {
    /// With a result for the model.
    Answered(Answered),
    /// It waits for an approval.
    Waits(CallId),
    /// It waits for the client, which already has the arguments.
    AtClient(CallId, Provenance),
    /// The run was stopped.
    Stopped,
    /// Its outcome cannot be read.
    Broken(LedgerError),
}

/// A call with its result.
pub(super) struct Answered {
    pub(super) content: Arc<Value>,
    pub(super) is_error: bool,
    /// The tool that ran, if one did, by its full id.
    pub(super) ran: Option<Arc<str>>,
    /// What the call read and sent.
    pub(super) provenance: Provenance,
}

impl ActiveRun<'_> {
    /// Makes the calls of the last turn and adds their results to the conversation, in the order of the calls. Returns the
    /// calls that wait; then no result is added yet.
    pub(super) async fn call_open(&mut self) -> Result<Vec<CallId>, Stop> {
        let open = self.open_calls();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let known = if self.resumed { self.journal(&open).await? } else { HashMap::new() };
        self.resumed = false;
        // Checked before any approved call is made.
        if self.is_stopped(known.values()).await? {
            self.settle_open(Vec::new(), STOPPED).await?;
            return Err(Stop::Cancelled);
        }
        self.load_provenance().await?;
        let before = self.provenance_before(&open);
        let jobs =
            open.iter().zip(before).map(|(call, before)| self.job(call, before, known.get(call.id.as_str())));
        let jobs = jobs.collect();
        for call in &open {
            if let Some(record) = known.get(call.id.as_str()).filter(|record| !is_parked(record)) {
                self.report_known(call, record);
            }
        }
        let settled = self.run_jobs(jobs).await;
        self.add_call_provenance(&settled);
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
            self.add_results(&open, settled);
            self.queue_step();
        }
        Ok(waiting)
    }

    fn add_results(&mut self, open: &[UnansweredCall], settled: Vec<Settled>) {
        let request = self.person_request();
        let mut blocks = Vec::with_capacity(open.len());
        for (call, settled) in open.iter().zip(settled) {
            let Settled::Answered(answered) = settled else { continue };
            if let (Some(tool), Some(message), false) = (&answered.ran, &request, answered.is_error) {
                self.learn(PastRequest { tool: Arc::clone(tool), message: Arc::clone(message) });
            }
            blocks.push(call.result(answered.content, answered.is_error));
        }
        self.say(Message { role: Role::User, blocks });
    }

    /// The start of the person's message, for the first calls that follow it.
    fn person_request(&self) -> Option<Arc<str>> {
        let messages = self.request.messages.get(self.thread.heading()..).unwrap_or_default();
        let [.., message, _] = messages else { return None };
        let is_person = message.role == Role::User
            && message.blocks.iter().all(|block| !matches!(block, Block::Result { .. }));
        let text = message.text();
        (is_person && !text.trim().is_empty())
            .then(|| text.chars().take(REQUEST_CHARS).collect::<String>().into())
    }

    fn job(&self, call: &UnansweredCall, before: Provenance, known: Option<&CallRecord>) -> Job {
        let entry = self.tools.find(&call.name);
        let action = match known {
            Some(record) if is_parked(record) => {
                let mut request = ResumeRequest::new(record.id.clone(), self.run.scope.clone());
                request.cancellation = self.cancellation.child_token();
                request.progress = self.progress_of(&call.id);
                request.choice = Some(Arc::clone(&self.agent.choice));
                CallAction::Resume(Box::new(request))
            }
            Some(record) => CallAction::Known(settle::answer(record)),
            None => CallAction::Make(Box::new(self.call_request(call, before))),
        };
        Job {
            call: call.clone(),
            tool: entry.map_or(call.name.as_str(), |entry| entry.spec().id.as_str()).into(),
            is_serial: entry.is_some_and(|entry| entry.spec().serial),
            action,
        }
    }

    fn call_request(&self, call: &UnansweredCall, before: Provenance) -> CallRequest {
        // An unknown name may belong to a tool the agent may not use: the choice refuses it.
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

    /// The progress sink of a call, if the run has a listener.
    fn progress_of(&self, id: &ModelCallId) -> Option<ProgressSink> {
        let (events, id) = (Arc::clone(&self.events), id.clone());
        events.has_listener().then(|| -> ProgressSink {
            Arc::new(move |Progress { message, fraction }| {
                events.send(RunEvent::CallProgress { id: id.clone(), message, fraction });
            })
        })
    }

    /// The facts about this run that its tools get.
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

    /// Runs the jobs: as many at a time as the agent's limits allow, those of serial tools one after another.
    async fn run_jobs(&self, jobs: Vec<Job>) -> Vec<Settled> {
        for job in jobs.iter().filter(|job| !matches!(job.action, CallAction::Known(_))) {
            let notice = self.call_notice(&job.call.id, &job.call.name, &job.call.arguments);
            self.events.send(RunEvent::CallBegan(notice));
        }
        let (room, events) = (&self.agent.room, &self.events);
        match <[Job; 1]>::try_from(jobs) {
            Ok([only]) => vec![only.run(room, events).await],
            Err(jobs) => run_in_parallel(room, events, jobs, self.agent.record.limits.parallel).await,
        }
    }
}

async fn run_in_parallel(
    room: &Toolroom,
    events: &Arc<EventSink>,
    jobs: Vec<Job>,
    parallel: u32,
) -> Vec<Settled> {
    let permits = Arc::new(Semaphore::new(usize::try_from(parallel.max(1)).unwrap_or(1)));
    let mut settled: Vec<Settled> = jobs.iter().map(|_| Settled::Stopped).collect();
    let (serial, free): (Vec<_>, Vec<_>) = jobs.into_iter().enumerate().partition(|(_, job)| job.is_serial);
    let mut chains: Vec<Vec<(usize, Job)>> = free.into_iter().map(|job| vec![job]).collect();
    if !serial.is_empty() {
        chains.push(serial);
    }
    let mut tasks = JoinSet::new();
    for chain in chains {
        let (room, events, permits) = (room.clone(), Arc::clone(events), Arc::clone(&permits));
        tasks.spawn(async move {
            let mut settled = Vec::with_capacity(chain.len());
            for (index, job) in chain {
                // The semaphore is never closed.
                let _permit = permits.acquire().await;
                settled.push((index, job.run(&room, &events).await));
            }
            settled
        });
    }
    while let Some(done) = tasks.join_next().await {
        for (index, one) in done.unwrap_or_default() {
            if let Some(slot) = settled.get_mut(index) {
                *slot = one;
            }
        }
    }
    settled
}

/// One call to make, resume, or answer from the journal.
struct Job {
    call: UnansweredCall,
    tool: Arc<str>,
    is_serial: bool,
    action: CallAction,
}

/// Whether a call was parked, so that its question knows more than its row: a refusal may have stopped the run.
fn is_parked(record: &CallRecord) -> bool {
    matches!(record.status, CallStatus::Pending | CallStatus::Denied)
}

enum CallAction {
    Make(Box<CallRequest>),
    /// The call was parked.
    Resume(Box<ResumeRequest>),
    /// The call has ended.
    Known(Answered),
}

impl Job {
    async fn run(self, room: &Toolroom, events: &EventSink) -> Settled {
        let Self { call, tool, action, .. } = self;
        let report = match action {
            CallAction::Known(answered) => return Settled::Answered(answered),
            CallAction::Make(request) => room.call(*request).await,
            CallAction::Resume(parked) => match settle::resume(room, *parked).await {
                ResumeOutcome::Reported(report) => report,
                ResumeOutcome::Ended(record) => {
                    events.send(settle::ended_event(&call, &record));
                    return Settled::Answered(settle::answer(&record));
                }
                ResumeOutcome::Impossible(why) => {
                    let content = Arc::new(error_value(&why, None));
                    return Settled::Answered(Answered {
                        content,
                        is_error: true,
                        ran: None,
                        provenance: Provenance::NONE,
                    });
                }
                ResumeOutcome::Stopped => return Settled::Stopped,
                ResumeOutcome::Broken(error) => return Settled::Broken(error),
            },
        };
        settle_report(events, &call, &tool, report)
    }
}

/// Sends the event of an ended call, and converts its report into what a model reads.
fn settle_report(events: &EventSink, call: &UnansweredCall, tool: &Arc<str>, report: CallReport) -> Settled {
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
