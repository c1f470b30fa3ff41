//! A ledger in memory.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::{
    Action, Approval, Artifact, ArtifactId, Artifacts, BeginCall, BeginError, CallFilter, CallId, CallRecord,
    CallStatus, CloseCall, DecideError, Decision, Grant, Journal, Ledger, LedgerError, ParkCall, RateKey,
    RateLimit, SwitchState, Switchboard, Switches,
};
use crate::scope::{ProjectId, Scope};

/// How many calls are remembered: enough for any test, little enough to stay in the processor's cache, and an
/// embedder without a database does not grow without end. Open ones are never forgotten.
const KEPT_CALLS: usize = 1_000;

/// How much of whole results is remembered.
const KEPT_ARTIFACT_BYTES: usize = 64 * 1024 * 1024;

/// All ports over one map. What a real store does in a transaction happens here under one lock.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    calls: BTreeMap<CallId, CallRecord>,
    approvals: HashMap<CallId, (Approval, Asked)>,
    artifacts: HashMap<ArtifactId, Artifact>,
    artifact_bytes: usize,
    actions: Vec<(CallId, Action)>,
    switches: HashMap<ProjectId, Arc<Switches>>,
    /// When calls of tools with a rate began. Kept apart, so that forgetting a call does not forgive it.
    starts: Vec<Start>,
}

#[derive(Debug)]
struct Start {
    tool: Arc<str>,
    scope: Scope,
    at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Waiting,
    Granted,
    Over,
}

impl MemoryLedger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Switches a tool or family.
    pub fn set_tool(&self, project: &ProjectId, name: &str, state: SwitchState) {
        self.lock().change_switches(project, |switches| switches.set_tool(name, state));
    }

    /// Switches a feature.
    pub fn set_feature(&self, project: &ProjectId, name: &str, state: SwitchState) {
        self.lock().change_switches(project, |switches| switches.set_feature(name, state));
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
    fn change_switches(&mut self, project: &ProjectId, change: impl FnOnce(&mut Switches)) {
        change(Arc::make_mut(self.switches.entry(project.clone()).or_default()));
    }

    fn make_room(&mut self) {
        while self.calls.len() > KEPT_CALLS || self.artifact_bytes > KEPT_ARTIFACT_BYTES {
            let oldest = self
                .calls
                .values()
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
        self.approvals.remove(id);
        self.actions.retain(|(call, _)| call != id);
    }

    fn begin(&mut self, begin: BeginCall) -> Result<(), BeginError> {
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
            self.consume(grant, &begin.record.scope)?;
        }
        match self.calls.entry(begin.record.id.clone()) {
            Entry::Vacant(place) => drop(place.insert(begin.record)),
            Entry::Occupied(mut parked) if begin.grant.is_some() => drop(parked.insert(begin.record)),
            Entry::Occupied(known) => return Err(already_recorded(known.key()).into()),
        }
        self.starts.extend(start);
        self.make_room();
        Ok(())
    }

    fn hold(&self, limit: &RateLimit, record: &CallRecord) -> Result<(), BeginError> {
        let now = record.begun_at.unwrap_or(record.asked_at);
        let counts = |start: &&Start| {
            start.tool == record.tool
                && start.scope.project == record.scope.project
                && (limit.key == RateKey::Project || start.scope.user == record.scope.user)
                && start.at > now.before(limit.per)
        };
        let begun: Vec<Timestamp> = self.starts.iter().filter(counts).map(|start| start.at).collect();
        let full = begun.len() >= usize::try_from(limit.max).unwrap_or(usize::MAX);
        match begun.iter().min() {
            Some(oldest) if full => Err(BeginError::RateLimited {
                limit: *limit,
                retry_after: oldest.after(limit.per).since(now),
            }),
            None if full => Err(BeginError::RateLimited { limit: *limit, retry_after: limit.per }),
            _ => Ok(()),
        }
    }

    fn consume(&mut self, grant: &Grant, scope: &Scope) -> Result<(), BeginError> {
        let owned = self.calls.get(&grant.call).is_some_and(|call| call.scope == *scope);
        let (approval, asked) = self.approvals.get_mut(&grant.call).ok_or(BeginError::GrantSpent)?;
        let holds = owned
            && *asked == Asked::Granted
            && approval.expires_at > grant.at
            && approval.arguments_hash == grant.arguments_hash
            && approval.definition_hash == grant.definition_hash;
        if !holds {
            return Err(BeginError::GrantSpent);
        }
        *asked = Asked::Over;
        Ok(())
    }

    fn decide(&mut self, decision: &Decision) -> Result<(), DecideError> {
        let not_waiting = || DecideError::NotWaiting(decision.call.clone());
        if !self.calls.get(&decision.call).is_some_and(|call| decision.scope.covers(&call.scope)) {
            return Err(not_waiting());
        }
        let (approval, asked) = self.approvals.get_mut(&decision.call).ok_or_else(not_waiting)?;
        if *asked != Asked::Waiting || approval.expires_at <= decision.at {
            return Err(not_waiting());
        }
        if !decision.by.may_answer_for(approval.by) {
            return Err(DecideError::NotYours);
        }
        *asked = if decision.answer.is_yes() { Asked::Granted } else { Asked::Over };
        if !decision.answer.is_yes()
            && let Some(call) = self.calls.get_mut(&decision.call)
        {
            call.status = CallStatus::Denied;
            call.ended_at = Some(decision.at);
        }
        Ok(())
    }

    fn close(&mut self, close: CloseCall) -> Result<(), LedgerError> {
        let call = close.record.id.clone();
        match self.calls.entry(call.clone()) {
            Entry::Vacant(place) => drop(place.insert(close.record)),
            Entry::Occupied(known) if known.get().status.is_final() => return Err(already_recorded(&call)),
            Entry::Occupied(mut open) => drop(open.insert(close.record)),
        }
        if let Some(artifact) = close.artifact {
            self.artifact_bytes += artifact.bytes.len();
            self.artifacts.insert(artifact.id.clone(), artifact);
        }
        self.actions.extend(close.enqueue.into_iter().map(|action| (call.clone(), action)));
        self.make_room();
        Ok(())
    }
}

fn already_recorded(id: &CallId) -> LedgerError {
    LedgerError::new("change a call", format!("`{id}` has already been recorded"))
}

impl Ledger for MemoryLedger {
    fn begin(&self, begin: BeginCall) -> BoxFuture<'static, Result<(), BeginError>> {
        Box::pin(ready(self.lock().begin(begin)))
    }

    fn park(&self, park: ParkCall) -> BoxFuture<'static, Result<(), LedgerError>> {
        let mut rows = self.lock();
        rows.approvals.insert(park.approval.call.clone(), (park.approval, Asked::Waiting));
        rows.calls.insert(park.record.id.clone(), park.record);
        rows.make_room();
        Box::pin(ready(Ok(())))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'static, Result<(), DecideError>> {
        Box::pin(ready(self.lock().decide(&decision)))
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
        let found =
            rows.calls.values().rev().filter(|call| scope.covers(&call.scope) && passes(&filter, call));
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
}

fn passes(filter: &CallFilter, call: &CallRecord) -> bool {
    filter.tool.as_deref().is_none_or(|tool| *call.tool == *tool)
        && filter.status.is_none_or(|status| call.status == status)
        && filter.since.is_none_or(|since| call.asked_at >= since)
        && filter.before.as_ref().is_none_or(|before| call.id < *before)
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
    fn switches<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Arc<Switches>, LedgerError>> {
        Box::pin(ready(Ok(self.lock().switches.get(project).cloned().unwrap_or_default())))
    }
}
