//! Clients of the earlier era: they introduce themselves once, and are remembered.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::HashMap;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolroom::clock::{Clock, SystemClock};

use crate::mcp::calls::progress::LogLevel;
use crate::mcp::client_capabilities::ClientCapabilities;
use crate::mcp::client_channel::ClientChannel;
use crate::mcp::context::McpClient;
use crate::mcp::protocol::message::{Id, notification_text, request_text};
use crate::mcp::protocol::version::{Era, Version};
use crate::mcp::sessions::running_requests::RunningRequests;

/// How many are remembered; then those who were silent longest are forgotten, and introduce themselves anew.
const MOST: usize = 4_096;

/// How many of one owner are: nobody takes the place of others.
const MOST_OF_ONE: usize = 512;

/// Whoever has been silent for so long is forgotten.
const IDLE: Duration = Duration::from_hours(24);

/// Questions to one client that are open.
const MOST_OPEN: usize = 4_096;

/// A client that introduced itself.
#[derive(Debug)]
pub(crate) struct McpSession {
    /// What it is known by.
    pub(crate) id: String,
    /// Names where its calls come from. Unlike the id it may be shown to others.
    pub(crate) source: Arc<str>,
    /// Whose it is.
    owner: Arc<str>,
    version: Version,
    abilities: ClientCapabilities,
    level: Mutex<Option<LogLevel>>,
    /// Questions to the client that are open.
    asked: Mutex<HashMap<String, oneshot::Sender<Result<Value, Value>>>>,
    /// Its requests that are being worked on.
    pub(crate) running: Arc<RunningRequests>,
    next: AtomicU64,
    seen: Mutex<Instant>,
    /// Ends whoever listens, when somebody else does.
    listening: Mutex<CancellationToken>,
    /// How many listen: whoever does is there.
    listeners: AtomicUsize,
    /// Ends with it.
    pub(crate) over: CancellationToken,
}

impl McpSession {
    /// A client that introduces itself with these `params`.
    pub(crate) fn new(id: String, owner: Arc<str>, params: &Map<String, Value>) -> Self {
        let version = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let abilities = params.get("capabilities").and_then(Value::as_object).map(ClientCapabilities::read);
        Self {
            id,
            source: source_id(),
            owner,
            version: Version::agreed(version),
            abilities: abilities.unwrap_or_default(),
            level: Mutex::default(),
            asked: Mutex::default(),
            running: Arc::default(),
            next: AtomicU64::new(1),
            seen: Mutex::new(Instant::now()),
            listening: Mutex::default(),
            listeners: AtomicUsize::new(0),
            over: CancellationToken::new(),
        }
    }

    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// What is known of the client.
    pub(crate) fn client(self: &Arc<Self>) -> McpClient {
        McpClient {
            era: Era::Legacy(self.version),
            abilities: self.abilities,
            level: *lock(&self.level),
            session: Some(Arc::clone(self)),
        }
    }

    /// From now on it wants to be told of this and what matters more.
    pub(crate) fn set_level(&self, level: LogLevel) {
        *lock(&self.level) = Some(level);
    }

    /// Somebody listens for the client, and nobody else does any more.
    pub(crate) fn listens(self: &Arc<Self>) -> SessionListener {
        let (only, mut listening) = (CancellationToken::new(), lock(&self.listening));
        listening.cancel();
        *listening = only.clone();
        self.listeners.fetch_add(1, Ordering::Relaxed);
        SessionListener { session: Arc::clone(self), only }
    }

    /// Since when nothing was heard of it. Of one that listens something always is.
    fn silent_since(&self, now: Instant) -> Instant {
        match self.listeners.load(Ordering::Relaxed) {
            0 => *lock(&self.seen),
            _ => now,
        }
    }

    fn is_idle(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.silent_since(now)) >= IDLE
    }

    /// Asks the client something, and waits for the answer. Nothing, if it cannot be asked, or is no longer there: whoever has
    /// left the stream that the question came on does not hold a place here.
    pub(in crate::mcp) async fn ask(
        &self,
        channel: &ClientChannel,
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
        let _open = OpenQuestion { session: self, channel, id: &id };
        if !channel.tell(request_text(&id, method, params)).await {
            return None;
        }
        tokio::select! {
            answered = answered => answered.ok(),
            () = self.over.cancelled() => None,
            () = channel.unheard() => None,
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

/// Somebody who listens for a client, until this is dropped.
pub(crate) struct SessionListener {
    session: Arc<McpSession>,
    only: CancellationToken,
}

impl SessionListener {
    /// Waits until somebody else listens, or the client has left.
    pub(crate) async fn over(&self) {
        tokio::select! {
            () = self.only.cancelled() => {}
            () = self.session.over.cancelled() => {}
        }
    }
}

impl Drop for SessionListener {
    fn drop(&mut self) {
        *lock(&self.session.seen) = Instant::now();
        self.session.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A question that is open until this is dropped.
struct OpenQuestion<'a> {
    session: &'a McpSession,
    channel: &'a ClientChannel,
    id: &'a str,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        // Whoever still shows it need not any more.
        if lock(&self.session.asked).remove(self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "it is not open any more"});
            self.channel.mention(notification_text("notifications/cancelled", &params));
        }
    }
}

/// All clients that are remembered.
#[derive(Debug, Default)]
pub(crate) struct McpSessions(Mutex<HashMap<String, Arc<McpSession>>>);

impl McpSessions {
    /// Remembers a client.
    pub(crate) fn open(
        &self,
        clock: &dyn Clock,
        owner: &Arc<str>,
        params: &Map<String, Value>,
    ) -> Arc<McpSession> {
        let id = format!("mcp_{}", clock.random_id().simple());
        let session = Arc::new(McpSession::new(id, Arc::clone(owner), params));
        let mut sessions = lock(&self.0);
        let now = Instant::now();
        let own = sessions.values().filter(|known| known.owner == *owner).count();
        if own >= MOST_OF_ONE {
            forget(&mut sessions, now, |known| known.owner == *owner);
        } else if sessions.len() >= MOST {
            // Those who have many give way to those who have few.
            match largest(&sessions) {
                Some(largest) => forget(&mut sessions, now, |known| known.owner == largest),
                None => forget(&mut sessions, now, |_| true),
            }
        }
        sessions.insert(session.id.clone(), Arc::clone(&session));
        session
    }

    /// The client of that id, for whoever it belongs to.
    pub(crate) fn find(&self, owner: &str, id: &str) -> Option<Arc<McpSession>> {
        let (mut sessions, now) = (lock(&self.0), Instant::now());
        let session = Arc::clone(sessions.get(id)?);
        if session.is_idle(now) {
            sessions.remove(id);
            session.over.cancel();
            return None;
        }
        if *session.owner != *owner {
            return None;
        }
        *lock(&session.seen) = now;
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

/// A fresh name for where the calls of a session, or of this process, come from.
pub(in crate::mcp) fn source_id() -> Arc<str> {
    format!("mcp_{}", SystemClock.random_id().simple()).into()
}

/// Who has the most, if somebody has more than one.
fn largest(sessions: &HashMap<String, Arc<McpSession>>) -> Option<Arc<str>> {
    let mut counts: HashMap<&Arc<str>, usize> = HashMap::default();
    for session in sessions.values() {
        *counts.entry(&session.owner).or_default() += 1;
    }
    let (owner, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count > 1).then(|| Arc::clone(owner))
}

/// Forgets some of these, those who have been silent for longest.
fn forget(
    sessions: &mut HashMap<String, Arc<McpSession>>,
    now: Instant,
    is_meant: impl Fn(&McpSession) -> bool,
) {
    let meant = sessions.iter().filter(|(_, session)| is_meant(session));
    let mut seen: Vec<(Instant, String)> =
        meant.map(|(id, session)| (session.silent_since(now), id.clone())).collect();
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
    use super::*;

    #[test]
    fn a_client_is_known_to_its_owner_alone_and_to_nobody_once_it_left() {
        let sessions = McpSessions::default();
        let id = sessions.open(&SystemClock, &"key:1".into(), &Map::new()).id.clone();
        assert!(sessions.find("key:2", &id).is_none() && !sessions.close("key:2", &id));
        assert!(sessions.find("key:1", &id).is_some());
        assert!(sessions.close("key:1", &id) && sessions.find("key:1", &id).is_none());
    }

    #[test]
    fn when_too_many_come_the_most_silent_of_the_same_owner_are_forgotten() {
        let sessions = McpSessions::default();
        let other = sessions.open(&SystemClock, &"b".into(), &Map::new());
        let first = sessions.open(&SystemClock, &"a".into(), &Map::new());
        for _ in 0..MOST_OF_ONE {
            sessions.open(&SystemClock, &"a".into(), &Map::new());
        }
        assert!(first.over.is_cancelled() && !other.over.is_cancelled());
        for owner in 0..MOST + 16 {
            sessions.open(&SystemClock, &format!("{owner}").into(), &Map::new());
        }
        assert!(other.over.is_cancelled());
        assert!(lock(&sessions.0).len() <= MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_silent_for_a_day_is_forgotten_and_whoever_listens_is_not() {
        let sessions = McpSessions::default();
        let silent = sessions.open(&SystemClock, &"a".into(), &Map::new());
        let listens = sessions.open(&SystemClock, &"a".into(), &Map::new());
        let listening = listens.listens();
        tokio::time::advance(IDLE).await;
        assert!(sessions.find("a", &silent.id).is_none() && silent.over.is_cancelled());
        assert!(sessions.find("a", &listens.id).is_some());
        drop(listening);
        tokio::time::advance(IDLE).await;
        assert!(sessions.find("a", &listens.id).is_none() && listens.over.is_cancelled());
    }

    #[test]
    fn what_a_client_says_of_itself_takes_no_room_whatever_it_says() {
        assert!(size_of::<ClientCapabilities>() == 1 && size_of::<McpSession>() < 1_024);
    }

    #[tokio::test]
    async fn an_answer_reaches_who_asked_and_a_stranger_reaches_nobody() {
        let session = McpSession::new("s".to_owned(), "a".into(), &Map::new());
        let (channel, mut heard) = ClientChannel::open();
        let params = json!({});
        let (answer, ()) = tokio::join!(session.ask(&channel, "roots/list", &params), async {
            let asked: Value = serde_json::from_str(&heard.recv().await.unwrap()).unwrap();
            session.answer(&Id::Text("nobody".to_owned()), Ok(json!(1)));
            session.answer(&serde_json::from_value(asked["id"].clone()).unwrap(), Ok(json!(2)));
        });
        assert_eq!(answer, Some(Ok(json!(2))));
        assert!(lock(&session.asked).is_empty());
        assert_eq!(session.ask(&ClientChannel::silent(), "roots/list", &params).await, None);
    }

    #[tokio::test]
    async fn whoever_leaves_is_not_waited_for_and_whoever_waits_hears_that_it_is_over() {
        let session = McpSession::new("s".to_owned(), "a".into(), &Map::new());
        let (channel, mut heard) = ClientChannel::open();
        let params = json!({});
        let (answer, ()) = tokio::join!(session.ask(&channel, "roots/list", &params), async {
            heard.recv().await.unwrap();
            drop(heard);
        });
        assert!(answer.is_none() && lock(&session.asked).is_empty());
        let (channel, mut heard) = ClientChannel::open();
        tokio::select! {
            _ = session.ask(&channel, "roots/list", &params) => panic!("nobody has answered"),
            asked = heard.recv() => assert!(asked.is_some()),
        }
        let told: Value = serde_json::from_str(&heard.recv().await.unwrap()).unwrap();
        assert_eq!(
            (&told["method"], &told["params"]["requestId"]),
            (&json!("notifications/cancelled"), &json!("toolroom-2"))
        );
    }
}
