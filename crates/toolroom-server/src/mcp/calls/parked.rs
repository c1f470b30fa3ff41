//! Finds a parked call when its caller makes the same call again: if it was approved in the meantime, it runs.
//!
//! The ledger is the truth. This cache only says which calls to look at.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::HashMap;
use serde_json::{Map, Value};
use tokio::time::Instant;
use toolroom::ledger::{CallId, Question, QuestionState};
use toolroom::scope::Scope;

use crate::mcp::calls::approval::is_about;
use crate::mcp::calls::tool_call::{ENTRANCE, ToolRequest};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// How long the cache is used before the ledger is read again. Another process may have parked calls.
const MAX_AGE: Duration = Duration::from_secs(2);

/// Cached scopes.
const MAX_SCOPES: usize = 1_024;

/// The newest calls of one caller and tool that are looked at.
const MAX_PER_KEY: usize = 64;

/// The newest questions of one scope that are read.
const MAX_READ: u32 = 4_096;

/// Calls parked recently in this process that are kept besides those read.
const MAX_RECENT: usize = 1_024;

/// Parked calls by scope.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ParkedCalls(Mutex<HashMap<Scope, ScopeCache>>);

/// The parked calls of one scope.
#[derive(Debug, Default)]
struct ScopeCache {
    /// When the last read of the ledger began. `None` before the first.
    at: Option<Instant>,
    calls: CallsByKey,
    /// Calls parked in this process, oldest first. A concurrent read of the ledger may have missed them.
    recent: VecDeque<(Instant, Key, CallId)>,
}

/// Caller and tool.
pub(in crate::mcp) type Key = (Arc<str>, Arc<str>);

/// Newest first.
type CallsByKey = HashMap<Key, Vec<CallId>>;

/// The caller and tool of a request.
pub(in crate::mcp) fn key_of(request: &ToolRequest<'_>) -> Key {
    (Arc::clone(&request.context.caller.name), request.entry.spec().id.shared())
}

impl ParkedCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, ScopeCache>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call that was parked in this process.
    pub(in crate::mcp) fn remember(&self, scope: &Scope, key: Key, call: &CallId) {
        let mut scopes = self.lock();
        if !make_room(&mut scopes, scope) {
            return;
        }
        let read = scopes.entry(scope.clone()).or_default();
        if read.recent.len() >= MAX_RECENT {
            read.recent.pop_front();
        }
        read.recent.push_back((Instant::now(), key.clone(), call.clone()));
        put_first(&mut read.calls, key, call);
    }

    /// The parked calls of a key. An error means that the caller has to read the ledger; concurrent requests use the old cache
    /// in the meantime.
    fn get(&self, scope: &Scope, key: impl FnOnce() -> Key) -> Result<Vec<CallId>, Instant> {
        let (mut scopes, now) = (self.lock(), Instant::now());
        let Some(read) = scopes.get_mut(scope) else { return Err(now) };
        match read.at {
            // Usually nothing is parked.
            Some(at) if now.saturating_duration_since(at) < MAX_AGE => match read.calls.is_empty() {
                true => Ok(Vec::new()),
                false => Ok(read.calls.get(&key()).cloned().unwrap_or_default()),
            },
            Some(_) => {
                read.at = Some(now);
                Err(now)
            }
            // There is no old cache that concurrent requests could use.
            None => Err(now),
        }
    }

    /// Stores what was read from the ledger since `began`, plus the calls parked since.
    fn store(&self, scope: &Scope, began: Instant, calls: CallsByKey) {
        let mut scopes = self.lock();
        if !make_room(&mut scopes, scope) {
            return;
        }
        let read = scopes.entry(scope.clone()).or_default();
        // A later read is stored already.
        if read.at.is_some_and(|at| at > began) {
            return;
        }
        (read.at, read.calls) = (Some(began), calls);
        read.recent.retain(|(at, ..)| *at >= began);
        for (_, key, call) in &read.recent {
            put_first(&mut read.calls, key.clone(), call);
        }
    }
}

fn put_first(calls: &mut CallsByKey, key: Key, call: &CallId) {
    let alike = calls.entry(key).or_default();
    if !alike.contains(call) {
        alike.truncate(MAX_PER_KEY - 1);
        alike.insert(0, call.clone());
    }
}

/// Whether there is room for a scope. Evicts expired scopes if the cache is full.
fn make_room(scopes: &mut HashMap<Scope, ScopeCache>, scope: &Scope) -> bool {
    if scopes.len() >= MAX_SCOPES && !scopes.contains_key(scope) {
        scopes.retain(|_, read| read.at.is_some_and(|at| at.elapsed() < MAX_AGE));
    }
    scopes.len() < MAX_SCOPES || scopes.contains_key(scope)
}

impl McpServer {
    /// A parked call of the same caller, tool and arguments that can still run or be answered.
    pub(in crate::mcp) async fn parked_before(
        &self,
        request: &ToolRequest<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<CallId>, RpcError> {
        let caller = &request.context.caller;
        let calls = match self.parked.get(&caller.scope, || key_of(request)) {
            Ok(calls) => calls,
            Err(began) => Box::pin(self.read_parked(request, began)).await?,
        };
        for call in calls {
            let Some(asked) = Box::pin(self.load_question(request, &call)).await? else { continue };
            let is_alive =
                is_open(asked.question.state) && !asked.question.is_late(self.app.room.clock().now());
            let is_theirs = asked.caller.as_deref() == Some(&*caller.name);
            if is_alive && is_theirs && is_about(request, &asked, arguments) {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    /// Reads the parked calls of the scope, and returns those of the request's key.
    async fn read_parked(&self, request: &ToolRequest<'_>, began: Instant) -> Result<Vec<CallId>, RpcError> {
        let scope = &request.context.caller.scope;
        let listed = self.app.store.newest_questions(scope, ENTRANCE, MAX_READ).await;
        let mut calls = CallsByKey::default();
        for question in listed.map_err(|error| RpcError::failure(&error))?.questions {
            // A call that cannot be unsealed cannot run.
            let Ok(asked) = self.app.room.open_question(question) else { continue };
            let Some(caller) = asked.caller else { continue };
            let Question { record, .. } = asked.question;
            let alike = calls.entry((caller, record.tool)).or_default();
            if alike.len() < MAX_PER_KEY {
                alike.push(record.id);
            }
        }
        let found = calls.get(&key_of(request)).cloned().unwrap_or_default();
        self.parked.store(scope, began, calls);
        Ok(found)
    }
}

const fn is_open(state: QuestionState) -> bool {
    matches!(state, QuestionState::Waiting | QuestionState::Granted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        ("key".into(), "app:x".into())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_parked_during_a_read_is_kept() {
        let (parked, scope, read) = (ParkedCalls::default(), Scope::default(), CallId::new("call_1"));
        let known = || parked.get(&scope, key);
        let began = known().unwrap_err();
        let meanwhile = CallId::new("call_2");
        parked.remember(&scope, key(), &meanwhile);
        assert!(known().is_err(), "nothing was read yet");
        let calls = || CallsByKey::from_iter([(key(), vec![read.clone()])]);
        parked.store(&scope, began, calls());
        assert_eq!(known().unwrap(), [meanwhile.clone(), read.clone()]);

        tokio::time::advance(MAX_AGE).await;
        let began = known().unwrap_err();
        assert_eq!(known().unwrap(), [meanwhile.clone(), read.clone()], "the old cache");
        // It was answered in another process.
        parked.store(&scope, began, calls());
        assert_eq!(known().unwrap(), std::slice::from_ref(&read));
        // An older read that finishes later is ignored.
        parked.store(&scope, began - Duration::from_millis(1), CallsByKey::default());
        assert_eq!(known().unwrap(), [read]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_cache_is_bounded() {
        let (parked, scope) = (ParkedCalls::default(), Scope::default());
        parked.store(&scope, Instant::now(), CallsByKey::default());
        for number in 0..MAX_RECENT * 2 {
            parked.remember(&scope, key(), &CallId::new(&format!("call_{number}")));
        }
        assert_eq!(parked.get(&scope, key).unwrap().len(), MAX_PER_KEY);
        assert_eq!(parked.lock()[&scope].recent.len(), MAX_RECENT);
    }
}
