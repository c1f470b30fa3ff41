//! Clients of the earlier era: they introduce themselves once, and are remembered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolroom::clock::Clock;

use super::message::{Id, request_text};
use super::peer::Client;
use super::progress::Level;
use super::running::Running;
use super::version::{Era, Version};
use super::voice::Voice;

/// How many are remembered; then those who were silent longest are forgotten, and introduce themselves anew.
const MOST: usize = 4_096;

/// How many of one owner are: nobody takes the place of others.
const MOST_OF_ONE: usize = 512;

/// Questions to one client that are open.
const MOST_OPEN: usize = 4_096;

/// A client that introduced itself.
#[derive(Debug)]
pub(crate) struct Session {
    /// What it is known by.
    pub(crate) id: String,
    /// Whose it is.
    owner: Arc<str>,
    version: Version,
    capabilities: Arc<Map<String, Value>>,
    level: Mutex<Option<Level>>,
    /// Questions to the client that are open.
    asked: Mutex<HashMap<String, oneshot::Sender<Result<Value, Value>>>>,
    /// Its requests that are being worked on.
    pub(crate) running: Running,
    next: AtomicU64,
    seen: Mutex<Instant>,
    /// Ends whoever listens, when somebody else does.
    listening: Mutex<CancellationToken>,
    /// Ends with it.
    pub(crate) over: CancellationToken,
}

impl Session {
    /// A client that introduces itself with these `params`.
    pub(crate) fn new(id: String, owner: Arc<str>, params: &Map<String, Value>) -> Self {
        let version = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let capabilities = params.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
        Self {
            id,
            owner,
            version: Version::agreed(version),
            capabilities: Arc::new(capabilities),
            level: Mutex::default(),
            asked: Mutex::default(),
            running: Running::default(),
            next: AtomicU64::new(1),
            seen: Mutex::new(Instant::now()),
            listening: Mutex::default(),
            over: CancellationToken::new(),
        }
    }

    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// What is known of the client.
    pub(crate) fn client(self: &Arc<Self>) -> Client {
        Client {
            era: Era::Legacy(self.version),
            capabilities: Arc::clone(&self.capabilities),
            level: *lock(&self.level),
            session: Some(Arc::clone(self)),
        }
    }

    /// From now on it wants to be told of this and what matters more.
    pub(crate) fn set_level(&self, level: Level) {
        *lock(&self.level) = Some(level);
    }

    /// Somebody listens for the client, and nobody else does any more.
    pub(crate) fn listens(&self) -> CancellationToken {
        let (only, mut listening) = (CancellationToken::new(), lock(&self.listening));
        listening.cancel();
        *listening = only.clone();
        only
    }

    /// Asks the client something, and waits for the answer. Nothing, if it cannot be asked, or is no longer there.
    pub(super) async fn ask(
        &self,
        voice: &Voice,
        method: &str,
        params: &Value,
    ) -> Option<Result<Value, Value>> {
        let id = format!("toolroom-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let (answer, answered) = oneshot::channel();
        {
            let mut asked = lock(&self.asked);
            if asked.len() >= MOST_OPEN {
                return None;
            }
            asked.insert(id.clone(), answer);
        }
        let _open = OpenQuestion { session: self, id: &id };
        if !voice.tell(request_text(&id, method, params)).await {
            return None;
        }
        tokio::select! {
            answered = answered => answered.ok(),
            () = self.over.cancelled() => None,
        }
    }

    /// Takes what the client answers. What nobody asked is dropped.
    pub(crate) fn answer(&self, id: &Id, outcome: Result<Value, Value>) {
        let Id::Text(id) = id else { return };
        if let Some(answer) = lock(&self.asked).remove(id) {
            drop(answer.send(outcome));
        }
    }
}

/// A question that is open until this is dropped.
struct OpenQuestion<'a> {
    session: &'a Session,
    id: &'a str,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        lock(&self.session.asked).remove(self.id);
    }
}

/// All clients that are remembered.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Remembers a client.
    pub(crate) fn open(
        &self,
        clock: &dyn Clock,
        owner: &Arc<str>,
        params: &Map<String, Value>,
    ) -> Arc<Session> {
        let id = format!("mcp_{}", clock.random_id().simple());
        let session = Arc::new(Session::new(id, Arc::clone(owner), params));
        let mut sessions = lock(&self.0);
        let own = sessions.values().filter(|known| known.owner == *owner).count();
        if own >= MOST_OF_ONE {
            forget(&mut sessions, |known| known.owner == *owner);
        } else if sessions.len() >= MOST {
            forget(&mut sessions, |_| true);
        }
        sessions.insert(session.id.clone(), Arc::clone(&session));
        session
    }

    /// The client of that id, for whoever it belongs to.
    pub(crate) fn find(&self, owner: &str, id: &str) -> Option<Arc<Session>> {
        let session = lock(&self.0).get(id).filter(|session| *session.owner == *owner).cloned()?;
        *lock(&session.seen) = Instant::now();
        Some(session)
    }

    /// Forgets a client. Says whether it was known.
    pub(crate) fn close(&self, owner: &str, id: &str) -> bool {
        let mut sessions = lock(&self.0);
        if sessions.get(id).is_none_or(|session| *session.owner != *owner) {
            return false;
        }
        if let Some(session) = sessions.remove(id) {
            session.over.cancel();
        }
        true
    }
}

/// Forgets some of these, those who have been silent for longest.
fn forget(sessions: &mut HashMap<String, Arc<Session>>, is_meant: impl Fn(&Session) -> bool) {
    let meant = sessions.iter().filter(|(_, session)| is_meant(session));
    let mut seen: Vec<(Instant, String)> =
        meant.map(|(id, session)| (*lock(&session.seen), id.clone())).collect();
    seen.sort();
    let some = seen.len().div_ceil(16);
    for (_, id) in seen.into_iter().take(some) {
        if let Some(session) = sessions.remove(&id) {
            session.over.cancel();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolroom::clock::SystemClock;

    use super::*;

    #[test]
    fn a_client_is_known_to_its_owner_alone_and_to_nobody_once_it_left() {
        let sessions = Sessions::default();
        let id = sessions.open(&SystemClock, &"key:1".into(), &Map::new()).id.clone();
        assert!(sessions.find("key:2", &id).is_none() && !sessions.close("key:2", &id));
        assert!(sessions.find("key:1", &id).is_some());
        assert!(sessions.close("key:1", &id) && sessions.find("key:1", &id).is_none());
    }

    #[test]
    fn when_too_many_come_the_most_silent_of_the_same_owner_are_forgotten() {
        let sessions = Sessions::default();
        let other = sessions.open(&SystemClock, &"b".into(), &Map::new());
        let first = sessions.open(&SystemClock, &"a".into(), &Map::new());
        for _ in 0..MOST_OF_ONE {
            sessions.open(&SystemClock, &"a".into(), &Map::new());
        }
        assert!(first.over.is_cancelled() && !other.over.is_cancelled());
        for owner in 0..2 * MOST {
            sessions.open(&SystemClock, &format!("{owner}").into(), &Map::new());
        }
        assert!(other.over.is_cancelled());
        assert!(lock(&sessions.0).len() <= MOST);
    }

    #[tokio::test]
    async fn an_answer_reaches_who_asked_and_a_stranger_reaches_nobody() {
        let session = Session::new("s".to_owned(), "a".into(), &Map::new());
        let (voice, mut heard) = Voice::open();
        let params = json!({});
        let (answer, ()) = tokio::join!(session.ask(&voice, "roots/list", &params), async {
            let asked: Value = serde_json::from_str(&heard.recv().await.unwrap()).unwrap();
            session.answer(&Id::Text("nobody".to_owned()), Ok(json!(1)));
            session.answer(&serde_json::from_value(asked["id"].clone()).unwrap(), Ok(json!(2)));
        });
        assert_eq!(answer, Some(Ok(json!(2))));
        assert!(lock(&session.asked).is_empty());
        assert_eq!(session.ask(&Voice::silent(), "roots/list", &params).await, None);
    }
}
