//! Calls that wait, for whoever asks for the same again: what was approved meanwhile runs then.
//!
//! The ledger knows them, whichever process parked them. What is remembered here only says which of them to look at.

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

/// How long is gone by what was read. Another process may have parked something meanwhile; people do not answer sooner.
const FRESH: Duration = Duration::from_secs(2);

/// Scopes that are remembered.
const MOST: usize = 1_024;

/// Calls of one caller and one tool that are looked at, the newest.
const MOST_ALIKE: usize = 64;

/// Questions of one scope that are looked at, the newest.
const MOST_READ: u32 = 4_096;

/// Calls that were parked here lately and are remembered beside what was read.
const MOST_LATELY: usize = 1_024;

/// Calls that wait, by whose data they are about.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ParkedCalls(Mutex<HashMap<Scope, ScopeCache>>);

/// What waits in one scope.
#[derive(Debug, Default)]
struct ScopeCache {
    /// When somebody last set out to read the ledger; nobody has, if nothing.
    at: Option<Instant>,
    calls: CallsByKey,
    /// What was parked here lately, oldest first: whoever reads the ledger meanwhile may have come too early for it.
    lately: VecDeque<(Instant, Key, CallId)>,
}

/// Who made a call, and the tool.
pub(in crate::mcp) type Key = (Arc<str>, Arc<str>);

/// By who made them, and the tool; the newest come first.
type CallsByKey = HashMap<Key, Vec<CallId>>;

/// Whose calls of which tool are meant.
pub(in crate::mcp) fn key_of(request: &ToolRequest<'_>) -> Key {
    (Arc::clone(&request.context.caller.name), request.entry.spec().id.shared())
}

impl ParkedCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, ScopeCache>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a call of this caller and tool that was parked here.
    pub(in crate::mcp) fn remember(&self, scope: &Scope, key: Key, call: &CallId) {
        let mut scopes = self.lock();
        if !make_room(&mut scopes, scope) {
            return;
        }
        let read = scopes.entry(scope.clone()).or_default();
        if read.lately.len() >= MOST_LATELY {
            read.lately.pop_front();
        }
        read.lately.push_back((Instant::now(), key.clone(), call.clone()));
        put_first(&mut read.calls, key, call);
    }

    /// Calls that may wait. Otherwise the ledger has to be read, from now on; whoever comes while that is done goes by what
    /// was known before.
    fn of(&self, scope: &Scope, key: impl FnOnce() -> Key) -> Result<Vec<CallId>, Instant> {
        let (mut scopes, now) = (self.lock(), Instant::now());
        let Some(read) = scopes.get_mut(scope) else { return Err(now) };
        match read.at {
            // Most of the time nothing waits.
            Some(at) if now.saturating_duration_since(at) < FRESH => match read.calls.is_empty() {
                true => Ok(Vec::new()),
                false => Ok(read.calls.get(&key()).cloned().unwrap_or_default()),
            },
            Some(_) => {
                read.at = Some(now);
                Err(now)
            }
            // Nothing is known yet that others could go by.
            None => Err(now),
        }
    }

    /// Takes what somebody has read who set out at `began`, with what was parked here since.
    fn keep(&self, scope: &Scope, began: Instant, calls: CallsByKey) {
        let mut scopes = self.lock();
        if !make_room(&mut scopes, scope) {
            return;
        }
        let read = scopes.entry(scope.clone()).or_default();
        // Somebody else set out later.
        if read.at.is_some_and(|at| at > began) {
            return;
        }
        (read.at, read.calls) = (Some(began), calls);
        read.lately.retain(|(at, ..)| *at >= began);
        for (_, key, call) in &read.lately {
            put_first(&mut read.calls, key.clone(), call);
        }
    }
}

fn put_first(calls: &mut CallsByKey, key: Key, call: &CallId) {
    let alike = calls.entry(key).or_default();
    if !alike.contains(call) {
        alike.truncate(MOST_ALIKE - 1);
        alike.insert(0, call.clone());
    }
}

/// Says whether there is room for what is known of a scope. What is forgotten is read again when it is wanted.
fn make_room(scopes: &mut HashMap<Scope, ScopeCache>, scope: &Scope) -> bool {
    if scopes.len() >= MOST && !scopes.contains_key(scope) {
        scopes.retain(|_, read| read.at.is_some_and(|at| at.elapsed() < FRESH));
    }
    scopes.len() < MOST || scopes.contains_key(scope)
}

impl McpServer {
    /// A call of the same caller with the same arguments that was parked and can still run, or be answered.
    pub(in crate::mcp) async fn parked_before(
        &self,
        request: &ToolRequest<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<CallId>, RpcError> {
        let caller = &request.context.caller;
        let calls = match self.parked.of(&caller.scope, || key_of(request)) {
            Ok(calls) => calls,
            Err(began) => Box::pin(self.read_parked(request, began)).await?,
        };
        for call in calls {
            let Some(asked) = Box::pin(self.asked(request, &call)).await? else { continue };
            let is_alive =
                is_open(asked.question.state) && !asked.question.is_late(self.app.room.clock().now());
            let is_theirs = asked.caller.as_deref() == Some(&*caller.name);
            if is_alive && is_theirs && is_about(request, &asked, arguments) {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    /// Reads what waits, and gives what is meant of it.
    async fn read_parked(&self, request: &ToolRequest<'_>, began: Instant) -> Result<Vec<CallId>, RpcError> {
        let scope = &request.context.caller.scope;
        let inbox = self.app.store.newest_questions(scope, ENTRANCE, MOST_READ).await;
        let mut calls = CallsByKey::default();
        for question in inbox.map_err(|error| RpcError::failure(&error))?.questions {
            // What cannot be opened any more cannot be run.
            let Ok(asked) = self.app.room.open_question(question) else { continue };
            let Some(caller) = asked.caller else { continue };
            let Question { record, .. } = asked.question;
            let alike = calls.entry((caller, record.tool)).or_default();
            if alike.len() < MOST_ALIKE {
                alike.push(record.id);
            }
        }
        let found = calls.get(&key_of(request)).cloned().unwrap_or_default();
        self.parked.keep(scope, began, calls);
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
    async fn what_is_parked_while_somebody_reads_is_not_forgotten() {
        let (parked, scope, read) = (ParkedCalls::default(), Scope::default(), CallId::new("call_1"));
        let known = || parked.of(&scope, key);
        let began = known().unwrap_err();
        let meanwhile = CallId::new("call_2");
        parked.remember(&scope, key(), &meanwhile);
        assert!(known().is_err(), "nothing was read yet");
        let calls = || CallsByKey::from_iter([(key(), vec![read.clone()])]);
        parked.keep(&scope, began, calls());
        assert_eq!(known().unwrap(), [meanwhile.clone(), read.clone()]);

        tokio::time::advance(FRESH).await;
        let began = known().unwrap_err();
        assert_eq!(known().unwrap(), [meanwhile.clone(), read.clone()], "what was known before");
        // It was answered in another process.
        parked.keep(&scope, began, calls());
        assert_eq!(known().unwrap(), std::slice::from_ref(&read));
        // Whoever set out earlier and comes later knows less.
        parked.keep(&scope, began - Duration::from_millis(1), CallsByKey::default());
        assert_eq!(known().unwrap(), [read]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_has_bounds() {
        let (parked, scope) = (ParkedCalls::default(), Scope::default());
        parked.keep(&scope, Instant::now(), CallsByKey::default());
        for number in 0..MOST_LATELY * 2 {
            parked.remember(&scope, key(), &CallId::new(&format!("call_{number}")));
        }
        assert_eq!(parked.of(&scope, key).unwrap().len(), MOST_ALIKE);
        assert_eq!(parked.lock()[&scope].lately.len(), MOST_LATELY);
    }
}
