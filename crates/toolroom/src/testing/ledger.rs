//! A ledger in memory.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::calls::Calls;
use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::{
    Action, Answer, Answerer, Approval, Approvals, Artifact, ArtifactId, Artifacts, BeginCall, BeginError,
    CallFilter, CallId, CallRecord, CallStatus, CloseCall, DecideError, Decision, EXPIRED, EXPIRED_RULE,
    EditCall, Grant, Inbox, Journal, Ledger, LedgerError, ParkCall, ParkError, ParkedQuestion, Question,
    QuestionState, RateKey, RateLimit, Standing, SwitchState, Switchboard, Term, ToolUsage, Turn,
};
use crate::policy::Answers;
use crate::scope::{ProjectId, Scope};

/// How many calls are remembered: enough for any test, little enough to stay in the processor's cache, and an
/// embedder without a database does not grow without end. Open ones are never forgotten.
const KEPT_CALLS: usize = 1_000;

/// How much of whole results is remembered.
const KEPT_ARTIFACT_BYTES: usize = 64 * 1024 * 1024;

/// How often, at most, it is looked for questions whose time is over.
const EXPIRE_EVERY: Duration = Duration::from_secs(1);

/// What holds in a project where nobody has set anything; one for all of them.
static NOTHING: LazyLock<Arc<Standing>> = LazyLock::new(Arc::default);

/// All ports over one map. What a real store does in a transaction happens here under one lock.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    calls: Calls,
    questions: HashMap<CallId, QuestionRow>,
    artifacts: HashMap<ArtifactId, Artifact>,
    artifact_bytes: usize,
    actions: Vec<(CallId, Action)>,
    standing: HashMap<ProjectId, Arc<Standing>>,
    /// When it was last looked for questions whose time is over.
    expired_at: Option<Timestamp>,
    /// When calls of tools with a rate began. Kept apart, so that forgetting a call does not forgive it.
    starts: Vec<Start>,
}

#[derive(Debug)]
struct Start {
    tool: Arc<str>,
    scope: Scope,
    at: Timestamp,
}

/// What is asked about a parked call; the call itself is among the others.
#[derive(Debug)]
struct QuestionRow {
    approval: Approval,
    state: QuestionState,
    answer: Option<Answer>,
    answered_by: Option<Answerer>,
    replaced_by: Option<CallId>,
}

impl QuestionRow {
    fn term(&self, call: &CallRecord) -> Term {
        Term { asked_at: call.asked_at, expires_at: self.approval.expires_at }
    }
}

impl MemoryLedger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Switches a tool or family.
    pub fn set_tool(&self, project: &ProjectId, name: &str, state: SwitchState) {
        self.lock().change(project, |standing| standing.switches.set_tool(name, state));
    }

    /// Switches a feature.
    pub fn set_feature(&self, project: &ProjectId, name: &str, state: SwitchState) {
        self.lock().change(project, |standing| standing.switches.set_feature(name, state));
    }

    /// The actions that closed calls have caused, oldest first.
    #[must_use]
    pub fn actions(&self) -> Vec<(CallId, Action)> {
        self.lock().actions.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        // A panic under this lock would be in a map operation; what was written before it still holds.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn change(&mut self, project: &ProjectId, change: impl FnOnce(&mut Standing)) {
        let standing = Arc::make_mut(self.standing.entry(project.clone()).or_default());
        change(standing);
        standing.revision += 1;
    }

    fn make_room(&mut self) {
        while self.calls.len() > KEPT_CALLS || self.artifact_bytes > KEPT_ARTIFACT_BYTES {
            let oldest = self
                .calls
                .oldest_first()
                .find(|call| !matches!(call.status, CallStatus::Begun | CallStatus::Pending))
                .map(|call| call.id.clone());
            match oldest {
                Some(id) => self.forget(&id),
                None => break,
            }
        }
    }

    /// Forgets a call with everything that hangs on it.
    fn forget(&mut self, id: &CallId) {
        let call = self.calls.remove(id);
        let artifact = call.and_then(|call| call.artifact).and_then(|id| self.artifacts.remove(&id));
        self.artifact_bytes -= artifact.map_or(0, |artifact| artifact.bytes.len());
        self.questions.remove(id);
        self.actions.retain(|(call, _)| call != id);
    }

    /// Answers with no what nobody answered in time, and forgets what is sealed for it. There is no clock here: it is
    /// done when a call arrives, begins or ends, with the time of that.
    fn expire(&mut self, now: Timestamp) {
        let is_due = self.expired_at.is_none_or(|last| now < last || now.since(last) >= EXPIRE_EVERY);
        if self.questions.is_empty() || !is_due {
            return;
        }
        self.expired_at = Some(now);
        for (id, asked) in &mut self.questions {
            let Some(call) = self.calls.get_mut(id).filter(|call| asked.term(call).is_over(now)) else {
                continue;
            };
            asked.approval.sealed = None;
            if !matches!(asked.state, QuestionState::Waiting | QuestionState::Granted) {
                continue;
            }
            asked.state = QuestionState::Expired;
            if call.status == CallStatus::Pending {
                call.rule = Some(EXPIRED_RULE.into());
                deny(call, now, EXPIRED);
            }
        }
    }

    fn begin(&mut self, begin: BeginCall) -> Result<(), BeginError> {
        self.expire(begin.record.begun_at.unwrap_or(begin.record.asked_at));
        for limit in &begin.rates {
            self.hold(limit, &begin.record)?;
        }
        let (record, longest) = (&begin.record, begin.rates.iter().map(|limit| limit.per).max());
        let start = longest.map(|longest| {
            let at = record.begun_at.unwrap_or(record.asked_at);
            self.starts.retain(|start| start.tool != record.tool || start.at > at.before(longest));
            Start { tool: Arc::clone(&record.tool), scope: record.scope.clone(), at }
        });
        if let Some(grant) = &begin.grant {
            self.check(grant, &begin.record.scope)?;
        }
        let resumes = begin.grant.as_ref().is_some_and(|grant| grant.call == begin.record.id);
        if resumes {
            self.calls.replace(begin.record);
        } else {
            self.calls.insert(begin.record).map_err(|known| already_recorded(&known))?;
        }
        if let Some(asked) = begin.grant.and_then(|grant| self.questions.get_mut(&grant.call)) {
            asked.state = QuestionState::Used;
        }
        self.starts.extend(start);
        self.make_room();
        Ok(())
    }

    fn hold(&self, limit: &RateLimit, record: &CallRecord) -> Result<(), BeginError> {
        let now = record.begun_at.unwrap_or(record.asked_at);
        let window = limit.window(now);
        let counts = |start: &&Start| {
            start.tool == record.tool
                && start.scope.project == record.scope.project
                && (limit.key == RateKey::Project || start.scope.user == record.scope.user)
                && window.holds(start.at)
        };
        let begun: Vec<Timestamp> = self.starts.iter().filter(counts).map(|start| start.at).collect();
        let full = begun.len() >= usize::try_from(limit.max).unwrap_or(usize::MAX);
        match begun.iter().min() {
            Some(oldest) if full => Err(BeginError::RateLimited {
                limit: *limit,
                retry_after: oldest.after(limit.per).since(now).min(limit.per),
            }),
            None if full => Err(BeginError::RateLimited { limit: *limit, retry_after: limit.per }),
            _ => Ok(()),
        }
    }

    fn check(&self, grant: &Grant, scope: &Scope) -> Result<(), BeginError> {
        let wanted = match grant.turn {
            Turn::First => (QuestionState::Granted, CallStatus::Pending),
            Turn::Again => (QuestionState::Used, CallStatus::Unknown),
        };
        let call = self.calls.get(&grant.call).filter(|call| call.scope == *scope);
        let call = call.ok_or(BeginError::GrantSpent)?;
        let asked = self.questions.get(&grant.call).ok_or(BeginError::GrantSpent)?;
        let holds = (asked.state, call.status) == wanted
            && !asked.term(call).is_over(grant.at)
            && asked.approval.arguments_hash == grant.arguments_hash
            && asked.approval.definition_hash == grant.definition_hash;
        if holds { Ok(()) } else { Err(BeginError::GrantSpent) }
    }

    fn question(&self, call: &CallRecord) -> Option<Question> {
        let asked = self.questions.get(&call.id)?;
        Some(Question {
            record: call.clone(),
            approval: asked.approval.clone(),
            state: asked.state,
            answer: asked.answer,
            answered_by: asked.answered_by,
            replaced_by: asked.replaced_by.clone(),
        })
    }

    fn park(&mut self, park: ParkCall, granted_by: Option<Answerer>) -> Result<(), LedgerError> {
        self.expire(park.record.asked_at);
        self.calls.insert(park.record).map_err(|known| already_recorded(&known))?;
        let state = if granted_by.is_some() { QuestionState::Granted } else { QuestionState::Waiting };
        let answer = granted_by.map(|_| Answer::Once);
        let asked = QuestionRow {
            approval: park.approval,
            state,
            answer,
            answered_by: granted_by,
            replaced_by: None,
        };
        self.questions.insert(asked.approval.call.clone(), asked);
        self.make_room();
        Ok(())
    }

    /// The question, if it waits for somebody like this.
    fn waiting(
        &mut self,
        call: &CallId,
        scope: &Scope,
        by: Answerer,
        at: Timestamp,
    ) -> Result<&mut QuestionRow, DecideError> {
        let not_waiting = || DecideError::NotWaiting(call.clone());
        let parked = self.calls.get(call).filter(|parked| by.is_at_home(scope, &parked.scope));
        let pending = parked.filter(|parked| parked.status == CallStatus::Pending).ok_or_else(not_waiting)?;
        let asked = self.questions.get_mut(call).ok_or_else(not_waiting)?;
        if asked.state != QuestionState::Waiting || asked.term(pending).is_over(at) {
            return Err(not_waiting());
        }
        if by.may_answer_for(asked.approval.by) { Ok(asked) } else { Err(DecideError::NotYours) }
    }

    fn decide(&mut self, decision: Decision) -> Result<(), DecideError> {
        let asked = self.waiting(&decision.call, &decision.scope, decision.by, decision.at)?;
        asked.answer = Some(decision.answer);
        asked.answered_by = Some(decision.by);
        match decision.answer.refusal() {
            None => asked.state = QuestionState::Granted,
            Some(refusal) => self.refuse(&decision.call, decision.at, refusal),
        }
        if let Some(answer) = decision.standing {
            let project = answer.scope.project.clone();
            self.change(&project, |standing| {
                let answers = standing.answers.iter().cloned().chain([answer]).collect();
                standing.answers = Answers::new(answers);
            });
        }
        Ok(())
    }

    fn edit(&mut self, edit: EditCall) -> Result<(), DecideError> {
        self.waiting(&edit.of, &edit.scope, edit.by, edit.at)?;
        let new = edit.park.record.id.clone();
        let granted_by = edit.by.may_answer_for(edit.park.approval.by).then_some(edit.by);
        self.park(edit.park, granted_by)?;
        if let Some(asked) = self.questions.get_mut(&edit.of) {
            asked.answer = Some(Answer::Edit);
            asked.answered_by = Some(edit.by);
            asked.replaced_by = Some(new);
        }
        if let Some(refusal) = Answer::Edit.refusal() {
            self.refuse(&edit.of, edit.at, refusal);
        }
        Ok(())
    }

    fn refuse(&mut self, call: &CallId, at: Timestamp, why: &str) {
        if let Some(asked) = self.questions.get_mut(call) {
            asked.state = QuestionState::Refused;
            asked.approval.sealed = None;
        }
        if let Some(call) = self.calls.get_mut(call) {
            deny(call, at, why);
        }
    }

    /// What closing a call does to its question. Only if the call is *pending* can it become void or expire.
    fn settle(&mut self, close: &CloseCall) -> Result<(), LedgerError> {
        let call = &close.record.id;
        let row = self.calls.get(call);
        let known = row.map(|row| row.status);
        // A process that was taken for dead does not close what another one has begun again.
        let begun = row.and_then(|row| row.begun_at).zip(close.record.begun_at);
        if known.is_some_and(CallStatus::is_final) || begun.is_some_and(|(row, close)| row != close) {
            return Err(already_recorded(call));
        }
        let state = match close.question {
            ParkedQuestion::None => return Ok(()),
            // As long as nobody knows how the call ended it may begin again, with what is sealed.
            ParkedQuestion::Settled if !close.record.status.is_final() => return Ok(()),
            ParkedQuestion::Settled => QuestionState::Used,
            ParkedQuestion::Void | ParkedQuestion::Expired if known != Some(CallStatus::Pending) => {
                return Err(already_recorded(call));
            }
            ParkedQuestion::Void => QuestionState::Void,
            ParkedQuestion::Expired => QuestionState::Expired,
        };
        if let Some(asked) = self.questions.get_mut(call) {
            asked.state = state;
            asked.approval.sealed = None;
        }
        Ok(())
    }

    fn close(&mut self, close: CloseCall) -> Result<(), LedgerError> {
        let call = close.record.id.clone();
        // Whoever writes down that a question has expired does here what would be done first.
        if close.question != ParkedQuestion::Expired {
            self.expire(close.record.ended_at.unwrap_or(close.record.asked_at));
        }
        self.settle(&close)?;
        self.calls.replace(close.record);
        if let Some(artifact) = close.artifact {
            self.artifact_bytes += artifact.bytes.len();
            self.artifacts.insert(artifact.id.clone(), artifact);
        }
        self.actions.extend(close.enqueue.into_iter().map(|action| (call.clone(), action)));
        self.make_room();
        Ok(())
    }
}

/// A parked call that will not run.
fn deny(call: &mut CallRecord, at: Timestamp, why: &str) {
    call.status = CallStatus::Denied;
    call.ended_at = Some(at);
    call.error = Some(why.to_owned());
    call.duration_us = u64::try_from(at.since(call.asked_at).as_micros()).unwrap_or(u64::MAX);
}

fn already_recorded(id: &CallId) -> LedgerError {
    LedgerError::new("change a call", format!("`{id}` has already been recorded"))
}

impl Ledger for MemoryLedger {
    fn begin(&self, begin: BeginCall) -> BoxFuture<'static, Result<(), BeginError>> {
        Box::pin(ready(self.lock().begin(begin)))
    }

    fn park(&self, park: ParkCall) -> BoxFuture<'static, Result<(), ParkError>> {
        Box::pin(ready(self.lock().park(park, None).map_err(ParkError::from)))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'static, Result<(), DecideError>> {
        Box::pin(ready(self.lock().decide(decision)))
    }

    fn edit(&self, edit: EditCall) -> BoxFuture<'static, Result<(), DecideError>> {
        Box::pin(ready(self.lock().edit(edit)))
    }

    fn close(&self, close: CloseCall) -> BoxFuture<'static, Result<(), LedgerError>> {
        Box::pin(ready(self.lock().close(close)))
    }
}

impl Journal for MemoryLedger {
    fn calls<'a>(
        &'a self,
        scope: &'a Scope,
        filter: CallFilter,
    ) -> BoxFuture<'a, Result<Vec<CallRecord>, LedgerError>> {
        let rows = self.lock();
        let limit = usize::try_from(filter.limit.unwrap_or(CallFilter::DEFAULT_LIMIT)).unwrap_or(usize::MAX);
        let found = rows
            .calls
            .newest_first(filter.before.as_ref())
            .filter(|call| scope.covers(&call.scope) && passes(&filter, call));
        Box::pin(ready(Ok(found.take(limit).cloned().collect())))
    }

    fn call<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, LedgerError>> {
        let found = self.lock().calls.get(id).filter(|call| scope.covers(&call.scope)).cloned();
        Box::pin(ready(Ok(found)))
    }

    fn usage<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolUsage>, LedgerError>> {
        let mut usage: BTreeMap<Arc<str>, (u64, Timestamp)> = BTreeMap::new();
        for call in self.lock().calls.oldest_first().filter(|call| scope.covers(&call.scope)) {
            if let Some(at) = call.begun_at {
                let (calls, last) = usage.entry(Arc::clone(&call.tool)).or_insert((0, at));
                (*calls, *last) = (*calls + 1, at.max(*last));
            }
        }
        let usage = usage.into_iter().map(|(tool, (calls, last_at))| ToolUsage { tool, calls, last_at });
        Box::pin(ready(Ok(usage.collect())))
    }
}

fn passes(filter: &CallFilter, call: &CallRecord) -> bool {
    filter.tool.as_deref().is_none_or(|tool| *call.tool == *tool)
        && filter.status.is_none_or(|status| call.status == status)
        && filter.since.is_none_or(|since| call.asked_at >= since)
        && filter.run.as_deref().is_none_or(|run| call.run.as_deref() == Some(run))
        && filter.id_suffix.as_deref().is_none_or(|suffix| call.id.as_str().ends_with(suffix))
}

impl Artifacts for MemoryLedger {
    fn artifact<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<Artifact>, LedgerError>> {
        let found = self.lock().artifacts.get(id).filter(|artifact| scope.covers(&artifact.scope)).cloned();
        Box::pin(ready(Ok(found)))
    }
}

impl Switchboard for MemoryLedger {
    fn standing<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Standing>, LedgerError>> {
        let standing = self.lock().standing.get(project).cloned();
        Box::pin(ready(Ok(standing.unwrap_or_else(|| Arc::clone(&NOTHING)))))
    }
}

impl Approvals for MemoryLedger {
    fn questions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Inbox, LedgerError>> {
        let rows = self.lock();
        let pending = rows.calls.oldest_first().filter(|call| call.status == CallStatus::Pending);
        let mine = pending.filter(|call| scope.covers(&call.scope));
        let questions = mine.filter_map(|call| rows.question(call)).collect();
        Box::pin(ready(Ok(Inbox { questions, unreadable: Vec::new() })))
    }

    fn question<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a CallId,
    ) -> BoxFuture<'a, Result<Option<Question>, LedgerError>> {
        let rows = self.lock();
        let call = rows.calls.get(call).filter(|call| scope.covers(&call.scope));
        Box::pin(ready(Ok(call.and_then(|call| rows.question(call)))))
    }
}
