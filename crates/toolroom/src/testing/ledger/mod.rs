//! A ledger in memory.

mod calls;
mod questions;
mod rates;
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use self::rows::Rows;
use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::{
    Action, Answerer, Approvals, Artifact, ArtifactId, Artifacts, BeginCall, BeginError, CallFilter, CallId,
    CallRecord, CallStatus, CloseCall, DecideError, Decision, EditCall, Journal, Ledger, LedgerError,
    OpenQuestions, ParkCall, ParkError, Question, Standing, SwitchState, Switchboard, ToolUsage,
};
use crate::provenance::{Track, TrackChange, Tracks};
use crate::scope::{ProjectId, Scope};

/// The default switches, rules and answers of a project.
static NOTHING: LazyLock<Arc<Standing>> = LazyLock::new(Arc::default);

/// All ledger ports over one map. One lock stands for a store's transactions.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    rows: Mutex<Rows>,
    tracks: Mutex<HashMap<(Scope, String), Track>>,
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
        // The data is consistent after a panic, because every change is one map operation.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

impl Tracks for MemoryLedger {
    fn track<'a>(
        &'a self,
        scope: &'a Scope,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Track>, LedgerError>> {
        let tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(Ok(tracks.get(&(scope.clone(), name.to_owned())).cloned())))
    }

    fn add_to_track(&self, change: TrackChange) -> BoxFuture<'static, Result<(), LedgerError>> {
        let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (change.scope.clone(), change.name.clone());
        let track = Track::with(tracks.remove(&key), &change);
        tracks.insert(key, track);
        Box::pin(ready(Ok(())))
    }
}

impl Approvals for MemoryLedger {
    fn questions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<OpenQuestions, LedgerError>> {
        let rows = self.lock();
        let pending = rows.calls.oldest_first().filter(|call| call.status == CallStatus::Pending);
        let mine = pending.filter(|call| scope.covers(&call.scope));
        let asked = mine.filter_map(|call| rows.question(call));
        let questions = asked.filter(|question| question.approval.by != Answerer::Client).collect();
        Box::pin(ready(Ok(OpenQuestions { questions, unreadable: Vec::new() })))
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
