//! Conversations in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::conversation::{
    BeginRun, BeginRunError, Conversation, ConversationEntry, ConversationFilter, ConversationId,
    Conversations, NumberedEvent, PastRequest, Run, RunFilter, RunId, RunState, RunStep, Spending, Spent,
    StepError, TakeRunError, UsageRow,
};
use crate::ledger::LedgerError;
use crate::scope::Scope;

/// Conversations that live as long as the process: for tests, and for embedders without a store.
#[derive(Debug, Default, Clone)]
pub struct MemoryConversations {
    tables: Arc<Mutex<ConversationTables>>,
}

#[derive(Debug, Default)]
struct ConversationTables {
    conversations: BTreeMap<ConversationId, StoredThread>,
    runs: BTreeMap<RunId, StoredRun>,
    usage: Vec<UsageRow>,
    requests: Vec<(ConversationId, Scope, PastRequest)>,
}

#[derive(Debug)]
struct StoredThread {
    conversation: Conversation,
    entries: Vec<ConversationEntry>,
    open: Option<RunId>,
}

#[derive(Debug)]
struct StoredRun {
    run: Run,
    events: Vec<NumberedEvent>,
    /// Whether a worker holds it.
    taken: bool,
}

impl MemoryConversations {
    /// A store without conversations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, ConversationTables> {
        // Every change is complete when the lock is released.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConversationTables {
    fn begin(&mut self, begin: BeginRun) -> Result<(), BeginRunError> {
        let id = begin.conversation.id.clone();
        if self.runs.contains_key(&begin.run.id) {
            return Err(BeginRunError::Taken(begin.run.id));
        }
        let known = self.conversations.get(&id);
        if let Some(run) = known.and_then(|thread| thread.open.as_ref()).and_then(|run| self.runs.get(run)) {
            return Err(BeginRunError::Open { run: run.run.id.clone(), state: run.run.state });
        }
        let entries = known.map_or(0, |thread| thread.conversation.entries);
        let scope_differs = known.is_some_and(|thread| thread.conversation.scope != begin.conversation.scope);
        if scope_differs || entries != begin.conversation.entries {
            return Err(BeginRunError::Changed(id));
        }
        let thread = self.conversations.entry(id).or_insert_with(|| StoredThread {
            conversation: begin.conversation,
            entries: Vec::new(),
            open: None,
        });
        thread.open = Some(begin.run.id.clone());
        thread.append(begin.entries);
        self.runs.insert(begin.run.id.clone(), StoredRun { run: begin.run, events: Vec::new(), taken: true });
        Ok(())
    }

    fn step(&mut self, step: RunStep) -> Result<(), StepError> {
        let lost = || StepError::Lost(step.run.id.clone());
        let kept = self.runs.get_mut(&step.run.id).filter(|kept| kept.taken && kept.run.state.is_open());
        let kept = kept.ok_or_else(lost)?;
        let thread = self.conversations.get_mut(&step.run.conversation).ok_or_else(lost)?;
        if step.entries.first().is_some_and(|entry| entry.seq != thread.conversation.entries) {
            return Err(lost());
        }
        if !step.run.state.is_open() {
            thread.open = None;
        }
        kept.taken = step.run.state == RunState::Running;
        thread.append(step.entries);
        kept.events.extend(step.events);
        let requests = step.requests.into_iter();
        let (conversation, scope) = (&step.run.conversation, &step.run.scope);
        self.requests.extend(requests.map(|request| (conversation.clone(), scope.clone(), request)));
        kept.run = step.run;
        self.usage.extend(step.usage);
        Ok(())
    }

    fn take(&mut self, scope: &Scope, id: &RunId) -> Result<Run, TakeRunError> {
        let kept = self.runs.get_mut(id).filter(|kept| scope.covers(&kept.run.scope));
        let kept = kept.ok_or_else(|| TakeRunError::NotFound(id.clone()))?;
        if !kept.run.state.is_open() {
            return Err(TakeRunError::Over { run: id.clone(), state: kept.run.state });
        }
        if kept.taken {
            return Err(TakeRunError::Busy(id.clone()));
        }
        kept.taken = true;
        kept.run.state = RunState::Running;
        Ok(kept.run.clone())
    }

    fn delete(&mut self, scope: &Scope, id: &ConversationId) -> Result<bool, StepError> {
        let Some(thread) = self.conversations.get(id) else { return Ok(false) };
        if !scope.covers(&thread.conversation.scope) {
            return Ok(false);
        }
        if let Some(run) = thread.open.as_ref().filter(|run| self.runs.get(run).is_some_and(|run| run.taken))
        {
            return Err(StepError::Busy { run: run.clone() });
        }
        self.conversations.remove(id);
        self.runs.retain(|_, kept| kept.run.conversation != *id);
        self.requests.retain(|(conversation, ..)| conversation != id);
        Ok(true)
    }
}

impl StoredThread {
    fn append(&mut self, entries: Vec<ConversationEntry>) {
        if let Some(last) = entries.last() {
            self.conversation.updated_at = last.at;
            self.conversation.entries = last.seq + 1;
        }
        self.entries.extend(entries);
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

fn at_most<T>(items: impl Iterator<Item = T>, limit: Option<u32>) -> Vec<T> {
    items.take(usize::try_from(limit.unwrap_or(100)).unwrap_or(usize::MAX)).collect()
}

impl Spending for MemoryConversations {
    fn spent<'a>(
        &'a self,
        scope: &'a Scope,
        conversation: Option<&'a ConversationId>,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Spent, LedgerError>> {
        let kept = self.lock();
        let rows = (kept.usage.iter())
            .filter(|row| scope.covers(&row.scope))
            .filter(|row| conversation.is_none_or(|id| row.conversation == *id))
            .filter(|row| since.is_none_or(|since| row.at >= since));
        let mut spent = Spent::default();
        let mut runs: HashMap<&RunId, ()> = HashMap::new();
        for row in rows {
            spent.usage += row.usage;
            spent.cost += row.cost.unwrap_or_default();
            spent.answers += 1;
            runs.insert(&row.run, ());
        }
        spent.runs = u64::try_from(runs.len()).unwrap_or(u64::MAX);
        ready(Ok(spent))
    }
}

impl Conversations for MemoryConversations {
    fn begin_run(&self, begin: BeginRun) -> BoxFuture<'static, Result<(), BeginRunError>> {
        ready(self.lock().begin(begin))
    }

    fn step(&self, step: RunStep) -> BoxFuture<'static, Result<(), StepError>> {
        ready(self.lock().step(step))
    }

    fn release_run(&self, run: &RunId) {
        if let Some(kept) = self.lock().runs.get_mut(run) {
            kept.taken = false;
        }
    }

    fn take_run(&self, scope: &Scope, run: &RunId) -> BoxFuture<'static, Result<Run, TakeRunError>> {
        ready(self.lock().take(scope, run))
    }

    fn conversation<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
    ) -> BoxFuture<'a, Result<Option<Conversation>, LedgerError>> {
        let kept = self.lock();
        let found = kept.conversations.get(id).map(|thread| thread.conversation.clone());
        ready(Ok(found.filter(|conversation| scope.covers(&conversation.scope))))
    }

    fn conversations<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ConversationFilter,
    ) -> BoxFuture<'a, Result<Vec<Conversation>, LedgerError>> {
        let kept = self.lock();
        let title = filter.title.as_ref().map(|title| title.to_lowercase());
        let mut found: Vec<Conversation> = (kept.conversations.values())
            .map(|thread| &thread.conversation)
            .filter(|one| scope.covers(&one.scope))
            .filter(|one| filter.agent.as_ref().is_none_or(|agent| one.agent == *agent))
            .filter(|one| filter.id_suffix.as_ref().is_none_or(|suffix| one.id.as_str().ends_with(suffix)))
            .filter(|one| title.as_ref().is_none_or(|title| one.title.to_lowercase().contains(title)))
            .cloned()
            .collect();
        found.sort_by(|one, other| (other.updated_at, &other.id).cmp(&(one.updated_at, &one.id)));
        ready(Ok(at_most(found.into_iter(), filter.limit)))
    }

    fn entries<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a ConversationId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<ConversationEntry>, LedgerError>> {
        let kept = self.lock();
        let thread = kept.conversations.get(id).filter(|thread| scope.covers(&thread.conversation.scope));
        let entries = thread.map_or(&[][..], |thread| &thread.entries);
        ready(Ok(entries.iter().filter(|entry| entry.seq >= from).cloned().collect()))
    }

    fn delete_conversation(
        &self,
        scope: &Scope,
        id: &ConversationId,
    ) -> BoxFuture<'static, Result<bool, StepError>> {
        ready(self.lock().delete(scope, id))
    }

    fn run<'a>(&'a self, scope: &'a Scope, id: &'a RunId) -> BoxFuture<'a, Result<Option<Run>, LedgerError>> {
        let found = self.lock().runs.get(id).map(|kept| kept.run.clone());
        ready(Ok(found.filter(|run| scope.covers(&run.scope))))
    }

    fn runs<'a>(
        &'a self,
        scope: &'a Scope,
        filter: RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Run>, LedgerError>> {
        let kept = self.lock();
        let runs = (kept.runs.values().rev())
            .map(|kept| &kept.run)
            .filter(|run| scope.covers(&run.scope))
            .filter(|run| filter.conversation.as_ref().is_none_or(|id| run.conversation == *id))
            .filter(|run| filter.state.is_none_or(|state| run.state == state))
            .filter(|run| filter.id_suffix.as_ref().is_none_or(|suffix| run.id.as_str().ends_with(suffix)))
            .cloned();
        ready(Ok(at_most(runs, filter.limit)))
    }

    fn events<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a RunId,
        from: u64,
    ) -> BoxFuture<'a, Result<Vec<NumberedEvent>, LedgerError>> {
        let kept = self.lock();
        let found = kept.runs.get(run).filter(|kept| scope.covers(&kept.run.scope));
        let events = found.map_or(&[][..], |kept| &kept.events);
        ready(Ok(events.iter().filter(|event| event.seq >= from).cloned().collect()))
    }

    fn past_requests<'a>(
        &'a self,
        scope: &'a Scope,
        per_tool: u32,
    ) -> BoxFuture<'a, Result<Vec<PastRequest>, LedgerError>> {
        let kept = self.lock();
        let mut taken: HashMap<&str, u32> = HashMap::new();
        let found = kept.requests.iter().rev().filter(|(_, owner, _)| owner.project == scope.project);
        let found = found.filter(|(.., request)| {
            let count = taken.entry(&request.tool).or_default();
            *count += 1;
            *count <= per_tool
        });
        ready(Ok(found.map(|(.., request)| request.clone()).collect()))
    }
}
