//! Memories in memory.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::BoxFuture;
use crate::clock::Clock;
use crate::conversation::AgentId;
use crate::ledger::LedgerError;
use crate::memory::{Memories, Memory, PROMOTION_HITS, Promotion, Remember};
use crate::scope::Scope;

/// Memories that live as long as the process. One lock stands for a store's transactions.
#[derive(Debug)]
pub struct MemoryMemories {
    clock: Arc<dyn Clock>,
    owners: Mutex<HashMap<Scope, OwnerMemories>>,
}

/// The memories of one user or project.
#[derive(Debug, Default)]
struct OwnerMemories {
    memories: BTreeMap<String, Memory>,
    /// The oldest first.
    promotions: Vec<Promotion>,
}

impl MemoryMemories {
    /// A store without memories.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, owners: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, OwnerMemories>> {
        // The data is consistent after a panic, because every change is one map operation.
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the memories of `scope`.
    fn with<'a, T: Send + 'a>(
        &self,
        scope: &Scope,
        act: impl FnOnce(&mut OwnerMemories) -> T,
    ) -> BoxFuture<'a, Result<T, LedgerError>> {
        Box::pin(ready(Ok(act(self.lock().entry(scope.clone()).or_default()))))
    }
}

impl Memories for MemoryMemories {
    fn remember<'a>(
        &'a self,
        scope: &'a Scope,
        what: Remember,
    ) -> BoxFuture<'a, Result<Memory, LedgerError>> {
        let now = self.clock.now();
        self.with(scope, |owned| {
            let Remember { key, content, category, source, stored_under } = what;
            let memory = owned.memories.entry(key.clone()).or_insert_with(|| Memory {
                key,
                content: String::new(),
                category: category.unwrap_or_default(),
                hits: 1,
                source: None,
                stored_under,
                created_at: now,
                updated_at: now,
            });
            memory.content = content;
            memory.stored_under = stored_under;
            memory.category = category.unwrap_or(memory.category);
            memory.source = source.or_else(|| memory.source.take());
            memory.updated_at = now;
            memory.clone()
        })
    }

    fn forget<'a>(&'a self, scope: &'a Scope, key: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        self.with(scope, |owned| owned.memories.remove(key).is_some())
    }

    fn reinforce<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>> {
        let now = self.clock.now();
        self.with(scope, |owned| {
            let memory = owned.memories.get_mut(key)?;
            memory.hits = memory.hits.saturating_add(1);
            memory.updated_at = now;
            Some(memory.clone())
        })
    }

    fn memory<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Memory>, LedgerError>> {
        self.with(scope, |owned| owned.memories.get(key).cloned())
    }

    fn memories<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Memory>, LedgerError>> {
        self.with(scope, |owned| {
            let mut memories: Vec<Memory> = owned.memories.values().cloned().collect();
            memories.sort_by_key(|memory| std::cmp::Reverse(memory.updated_at));
            memories
        })
    }

    fn promote<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
        agent: &'a AgentId,
        addition: &'a str,
    ) -> BoxFuture<'a, Result<Option<Promotion>, LedgerError>> {
        let at = self.clock.now();
        self.with(scope, |owned| {
            let proved = owned.memories.get(key).is_some_and(|memory| memory.hits >= PROMOTION_HITS);
            let memory = proved.then(|| owned.memories.remove(key)).flatten()?;
            let promotion = Promotion { agent: agent.clone(), addition: addition.to_owned(), memory, at };
            owned.promotions.push(promotion.clone());
            Some(promotion)
        })
    }

    fn demote<'a>(
        &'a self,
        scope: &'a Scope,
        key: &'a str,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Option<Promotion>, LedgerError>> {
        self.with(scope, |owned| {
            let is_it = |promotion: &Promotion| promotion.memory.key == key && promotion.agent == *agent;
            let promotion = owned.promotions.remove(owned.promotions.iter().rposition(is_it)?);
            owned.memories.entry(key.to_owned()).or_insert_with(|| promotion.memory.clone());
            Some(promotion)
        })
    }

    fn promotions<'a>(
        &'a self,
        scope: &'a Scope,
        agent: &'a AgentId,
    ) -> BoxFuture<'a, Result<Vec<Promotion>, LedgerError>> {
        self.with(scope, |owned| {
            owned.promotions.iter().filter(|promotion| promotion.agent == *agent).cloned().collect()
        })
    }
}
