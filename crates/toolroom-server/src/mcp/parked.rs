//! Calls that wait, for whoever asks for the same again: what was approved meanwhile runs then.
//!
//! The ledger knows them, whichever process parked them. What is remembered here only says which of them to look at.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolroom::ledger::{Approvals as _, CallId, Question, QuestionState};
use toolroom::scope::Scope;

use super::approval::is_about;
use super::call::{ENTRANCE, Wish};
use super::desk::Desk;
use super::refusal::Refusal;

/// How long is gone by what was read. Another process may have parked something meanwhile; people do not answer sooner.
const FRESH: Duration = Duration::from_secs(2);

/// Scopes that are remembered.
const MOST: usize = 1_024;

/// Calls of one caller and one tool that are looked at, the newest.
const MOST_ALIKE: usize = 64;

/// What an entrance says of a call: who made it.
const CALLER: &str = "mcp/caller";

/// What is said of a call of this caller, so that it is found for nobody else.
pub(super) fn made_by(caller: &str) -> Map<String, Value> {
    [(CALLER.to_owned(), Value::from(caller))].into_iter().collect()
}

/// Calls that wait, by whose data they are about.
#[derive(Debug, Default)]
pub(super) struct Parked(Mutex<HashMap<Scope, Read>>);

/// What waits in one scope.
#[derive(Debug)]
struct Read {
    /// When the ledger was read.
    at: Instant,
    calls: ParkedCalls,
}

/// By who made them, and the tool.
type ParkedCalls = HashMap<(Arc<str>, Arc<str>), Vec<CallId>>;

/// Whose calls of which tool are meant.
fn key_of(wish: &Wish<'_>) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&wish.asker.peer.name), wish.entry.spec().id.shared())
}

impl Parked {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Read>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a call that was parked here.
    pub(super) fn remember(&self, wish: &Wish<'_>, call: &CallId) {
        if let Some(read) = self.lock().get_mut(&wish.asker.peer.scope) {
            let calls = read.calls.entry(key_of(wish)).or_default();
            if !calls.contains(call) {
                calls.truncate(MOST_ALIKE - 1);
                calls.insert(0, call.clone());
            }
        }
    }

    /// Calls that may wait. Nothing, if the ledger has to be read first; whoever comes while that is done goes by what was
    /// known before.
    fn of(&self, wish: &Wish<'_>) -> Option<Vec<CallId>> {
        let (mut scopes, now) = (self.lock(), Instant::now());
        let read = scopes.get_mut(&wish.asker.peer.scope)?;
        if now.saturating_duration_since(read.at) >= FRESH {
            read.at = now;
            return None;
        }
        Some(match read.calls.is_empty() {
            true => Vec::new(),
            false => read.calls.get(&key_of(wish)).cloned().unwrap_or_default(),
        })
    }

    fn keep(&self, scope: &Scope, calls: ParkedCalls) {
        let mut scopes = self.lock();
        if scopes.len() >= MOST {
            // What is forgotten is read again when it is wanted.
            scopes.retain(|_, read| read.at.elapsed() < FRESH);
        }
        if scopes.len() < MOST || scopes.contains_key(scope) {
            scopes.insert(scope.clone(), Read { at: Instant::now(), calls });
        }
    }
}

impl Desk {
    /// A call of the same caller with the same arguments that was parked and can still run, or be answered.
    pub(super) async fn parked_before(
        &self,
        wish: &Wish<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<CallId>, Refusal> {
        let peer = &wish.asker.peer;
        let calls = match self.parked.of(wish) {
            Some(calls) => calls,
            None => Box::pin(self.read_parked(wish)).await?,
        };
        for call in calls {
            let Some(asked) = Box::pin(self.asked(wish, &call)).await? else { continue };
            let is_alive =
                is_open(asked.question.state) && !asked.question.is_late(self.app.room.clock().now());
            let is_theirs = asked.metadata.get(CALLER).is_some_and(|caller| *caller == *peer.name);
            if is_alive && is_theirs && is_about(wish, &asked, arguments) {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    /// Reads what waits, and gives what is meant of it.
    async fn read_parked(&self, wish: &Wish<'_>) -> Result<Vec<CallId>, Refusal> {
        let scope = &wish.asker.peer.scope;
        let inbox = self.app.store.questions(scope).await.map_err(|error| Refusal::failure(&error))?;
        let mut calls = ParkedCalls::new();
        // The oldest come first.
        for question in inbox.questions.into_iter().rev() {
            let record = &question.record;
            if !is_open(question.state) || record.scope != *scope || *record.entrance != *ENTRANCE {
                continue;
            }
            // What cannot be opened any more cannot be run.
            let Ok(asked) = self.app.room.opened(question) else { continue };
            let Some(caller) = asked.metadata.get(CALLER).and_then(Value::as_str) else { continue };
            let Question { record, .. } = asked.question;
            let alike = calls.entry((caller.into(), record.tool)).or_default();
            if alike.len() < MOST_ALIKE {
                alike.push(record.id);
            }
        }
        let found = calls.get(&key_of(wish)).cloned().unwrap_or_default();
        self.parked.keep(scope, calls);
        Ok(found)
    }
}

const fn is_open(state: QuestionState) -> bool {
    matches!(state, QuestionState::Waiting | QuestionState::Granted)
}
