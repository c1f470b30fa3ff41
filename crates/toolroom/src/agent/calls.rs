//! Calling what a model asks for.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::compact::COMPACT_AT;
use super::run_facts::RunFacts;
use super::teller::Teller;
use super::working::{OpenCall, Stop, Working};
use crate::call::{CallReport, CallRequest, Outcome, Progress};
use crate::conversation::{PastRequest, RunEvent};
use crate::ledger::{CallId, CallRecord, CallStatus};
use crate::model::{Block, Message, Role};
use crate::policy::Provenance;
use crate::room::Toolroom;
use crate::scope::Scope;
use crate::tool::Origin;

/// How much of a request is remembered for the tool it led to.
const REQUEST_CHARS: usize = 300;

/// What came of one call.
pub(super) enum Settled {
    /// The model reads this.
    Answered(Answered),
    /// Somebody has to be asked.
    Waits(CallId),
    /// Somebody stopped the run.
    Stopped,
}

/// A call with its result.
pub(super) struct Answered {
    pub(super) content: Arc<Value>,
    pub(super) is_error: bool,
    /// Whether the tool ran.
    pub(super) ran: bool,
    /// Whether others wrote what it says.
    pub(super) untrusted: bool,
}

impl Working<'_> {
    /// Calls everything the last turn asks for and says what came of it, in the order of the calls. Gives the calls that
    /// wait for somebody; then nothing is said yet.
    pub(super) async fn call_open(&mut self) -> Result<Vec<CallId>, Stop> {
        let open = self.open_calls();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let known = if self.resumed { self.journal().await? } else { HashMap::new() };
        self.resumed = false;
        let jobs = open.iter().map(|call| self.job(call, known.get(call.id.as_str()))).collect();
        let settled = self.work(jobs).await;
        if self.cancellation.is_cancelled() || settled.iter().any(|one| matches!(one, Settled::Stopped)) {
            return Err(self.stopped(&open, settled));
        }
        let waiting: Vec<CallId> = (settled.iter())
            .filter_map(|one| match one {
                Settled::Waits(call) => Some(call.clone()),
                Settled::Answered(_) | Settled::Stopped => None,
            })
            .collect();
        if waiting.is_empty() {
            self.say_results(&open, settled);
            self.keep_behind();
        }
        Ok(waiting)
    }

    fn say_results(&mut self, open: &[OpenCall], settled: Vec<Settled>) {
        let asked = self.asked_for();
        let mut blocks = Vec::with_capacity(open.len());
        for (call, settled) in open.iter().zip(settled) {
            let Settled::Answered(answered) = settled else { continue };
            if let Some(entry) = self.tools.find(&call.name).filter(|_| answered.ran) {
                let spec = entry.spec();
                let provenance = self.run.provenance.after(spec.effective_capabilities());
                let untrusted = provenance.untrusted || answered.untrusted;
                self.run.provenance = Provenance { untrusted, ..provenance };
                if let Some(message) = asked.clone().filter(|_| !answered.is_error) {
                    let tool = spec.id.as_str().into();
                    self.learn(PastRequest { tool, message });
                }
            }
            blocks.push(call.result(answered.content, answered.is_error));
        }
        self.say(Message { role: Role::User, blocks });
    }

    /// What the person said last, in short; only for the first calls that follow from it.
    fn asked_for(&self) -> Option<Arc<str>> {
        let [.., asked, _] = self.request.messages.as_slice() else { return None };
        let is_person = asked.role == Role::User
            && asked.blocks.iter().all(|block| !matches!(block, Block::Result { .. }));
        let text = asked.text();
        (is_person && !text.trim().is_empty())
            .then(|| text.chars().take(REQUEST_CHARS).collect::<String>().into())
    }

    /// Says what is known of the calls, so that the conversation stays whole.
    fn stopped(&mut self, open: &[OpenCall], settled: Vec<Settled>) -> Stop {
        let blocks = (open.iter().zip(settled))
            .map(|(call, settled)| match settled {
                Settled::Answered(answered) => call.result(answered.content, answered.is_error),
                Settled::Waits(_) | Settled::Stopped => {
                    call.error("the user stopped this run before the call ended", None)
                }
            })
            .collect();
        self.say(Message { role: Role::User, blocks });
        Stop::Cancelled
    }

    fn job(&self, call: &OpenCall, known: Option<&CallRecord>) -> Job {
        let entry = self.tools.find(&call.name);
        let work = match known {
            // What was refused may have been edited or stopped, which the question knows.
            Some(record) if matches!(record.status, CallStatus::Pending | CallStatus::Denied) => {
                Work::Parked(record.id.clone())
            }
            Some(record) => Work::Known(super::settle::answer(record)),
            None => Work::Fresh(Box::new(self.call_request(call))),
        };
        Job {
            call: call.clone(),
            tool: entry.map_or(call.name.as_str(), |entry| entry.spec().id.as_str()).into(),
            is_serial: entry.is_some_and(|entry| entry.spec().serial),
            scope: self.run.scope.clone(),
            cancellation: self.cancellation.child_token(),
            work,
        }
    }

    fn call_request(&self, call: &OpenCall) -> CallRequest {
        // A name that no tool of the agent has may still be one that somebody else's tool has: the choice refuses it.
        let tool = self.tools.find(&call.name).map_or(call.name.as_str(), |entry| entry.spec().id.as_str());
        let mut request = CallRequest::new(tool)
            .arguments_text(&*call.arguments)
            .scope(self.run.scope.clone())
            .entrance("agent")
            .conversation(self.run.conversation.as_str(), Some(self.run.id.as_str()))
            .model_call(call.id.as_str())
            .context(self.run.context.clone())
            .metadata(self.facts().into_metadata())
            .choice(Arc::clone(&self.agent.choice))
            .provenance(self.run.provenance)
            .cancellation(self.cancellation.child_token());
        if self.teller.is_watched() {
            let (teller, id) = (Arc::clone(&self.teller), call.id.clone());
            request = request.progress(move |Progress { message, fraction }| {
                teller.tell(RunEvent::CallProgress { id: id.clone(), message, fraction });
            });
        }
        request
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
            self.teller.tell(RunEvent::CallBegan(notice));
        }
        let (room, teller) = (&self.agent.room, &self.teller);
        match <[Job; 1]>::try_from(jobs) {
            Ok([only]) => vec![only.run(room, teller).await],
            Err(jobs) => side_by_side(room, teller, jobs, self.agent.record.limits.parallel).await,
        }
    }
}

async fn side_by_side(room: &Toolroom, teller: &Arc<Teller>, jobs: Vec<Job>, parallel: u32) -> Vec<Settled> {
    let places = Arc::new(Semaphore::new(usize::try_from(parallel.max(1)).unwrap_or(1)));
    let mut settled: Vec<Settled> = jobs.iter().map(|_| Settled::Stopped).collect();
    let (serial, free): (Vec<_>, Vec<_>) = jobs.into_iter().enumerate().partition(|(_, job)| job.is_serial);
    let mut chains: Vec<Vec<(usize, Job)>> = free.into_iter().map(|job| vec![job]).collect();
    if !serial.is_empty() {
        chains.push(serial);
    }
    let mut tasks = JoinSet::new();
    for chain in chains {
        let (room, teller, places) = (room.clone(), Arc::clone(teller), Arc::clone(&places));
        tasks.spawn(async move {
            let mut settled = Vec::with_capacity(chain.len());
            for (place, job) in chain {
                // The semaphore is never closed.
                let _place = places.acquire().await;
                settled.push((place, job.run(&room, &teller).await));
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
    call: OpenCall,
    tool: Arc<str>,
    is_serial: bool,
    scope: Scope,
    cancellation: CancellationToken,
    work: Work,
}

enum Work {
    Fresh(Box<CallRequest>),
    /// Somebody was asked about it.
    Parked(CallId),
    /// It has ended.
    Known(Answered),
}

impl Job {
    async fn run(self, room: &Toolroom, teller: &Teller) -> Settled {
        let Self { call, tool, scope, cancellation, work, .. } = self;
        let report = match work {
            Work::Known(answered) => return Settled::Answered(answered),
            Work::Fresh(request) => room.call(*request).await,
            Work::Parked(parked) => match super::settle::resume(room, parked, scope, cancellation).await {
                Ok(report) => report,
                Err(settled) => return settled,
            },
        };
        settle(teller, &call, &tool, report)
    }
}

/// Tells what came of a call and brings it into the form a model reads.
fn settle(teller: &Teller, call: &OpenCall, tool: &Arc<str>, report: CallReport) -> Settled {
    let id = report.call_id.clone();
    let outcome = report.outcome.name();
    if let Outcome::Pending(pending) = &report.outcome {
        teller.tell(RunEvent::Asks {
            id: call.id.clone(),
            call: id.clone(),
            tool: Arc::clone(tool),
            rule: pending.rule.to_string(),
            reason: pending.reason.clone(),
            by: pending.by,
            expires_at: pending.expires_at,
        });
        return Settled::Waits(id);
    }
    let content = match &report.outcome {
        Outcome::Done(done) => Some(Arc::clone(&done.value)),
        Outcome::Failed(_) | Outcome::Denied(_) | Outcome::Pending(_) => report.for_model().map(Arc::new),
    };
    let Some(content) = content else {
        return Settled::Stopped;
    };
    let (artifact, is_error, untrusted) = match report.outcome {
        Outcome::Done(done) => (done.artifact, false, done.origin == Origin::Untrusted),
        Outcome::Failed(_) | Outcome::Denied(_) | Outcome::Pending(_) => (None, true, false),
    };
    teller.tell(RunEvent::CallEnded {
        id: call.id.clone(),
        call: id,
        tool: Arc::clone(tool),
        outcome: outcome.to_owned(),
        result: Arc::clone(&content),
        artifact,
        duration_us: u64::try_from(report.duration.as_micros()).unwrap_or(u64::MAX),
    });
    Settled::Answered(Answered { content, is_error, ran: outcome != "denied", untrusted })
}
