//! Sessions of clients before 2026-07-28.

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
use crate::mcp::context::ClientChannel;
use crate::mcp::context::McpClient;
use crate::mcp::protocol::message::{Id, notification_text, request_text};
use crate::mcp::protocol::{Era, Version};
use crate::mcp::sessions::running_requests::RunningRequests;

/// The most sessions. Idle ones are evicted; their clients initialize again.
const MAX_SESSIONS: usize = 4_096;

/// The most sessions of one owner.
const MAX_PER_OWNER: usize = 512;

/// A session without requests expires after this time.
const IDLE_TIMEOUT: Duration = Duration::from_hours(24);

/// Pending requests to one client.
const MAX_PENDING: usize = 4_096;

/// The session of a client.
#[derive(Debug)]
pub(crate) struct McpSession {
    /// The session id.
    pub(crate) id: String,
    /// Source of its calls. Unlike the id it is not secret.
    pub(crate) source: Arc<str>,
    /// The caller it belongs to.
    owner: Arc<str>,
    version: Version,
    capabilities: ClientCapabilities,
    level: Mutex<Option<LogLevel>>,
    /// Requests to the client that wait for a response.
    pending: Mutex<HashMap<String, oneshot::Sender<Result<Value, Value>>>>,
    /// Its running requests.
    pub(crate) running: Arc<RunningRequests>,
    next_id: AtomicU64,
    last_used: Mutex<Instant>,
    /// Cancelled when a newer stream takes over.
    stream: Mutex<CancellationToken>,
    /// Open streams: a session with one is in use.
    streams: AtomicUsize,
    /// Cancelled when the session ends.
    pub(crate) ended: CancellationToken,
}

impl McpSession {
    /// A session with the parameters of `initialize`.
    pub(crate) fn new(id: String, owner: Arc<str>, params: &Map<String, Value>) -> Self {
        let version = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let capabilities =
            params.get("capabilities").and_then(Value::as_object).map(ClientCapabilities::parse);
        Self {
            id,
            source: source_id(),
            owner,
            version: Version::agreed(version),
            capabilities: capabilities.unwrap_or_default(),
            level: Mutex::default(),
            pending: Mutex::default(),
            running: Arc::default(),
            next_id: AtomicU64::new(1),
            last_used: Mutex::new(Instant::now()),
            stream: Mutex::default(),
            streams: AtomicUsize::new(0),
            ended: CancellationToken::new(),
        }
    }

    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// The client of this session.
    pub(crate) fn client(self: &Arc<Self>) -> McpClient {
        McpClient {
            era: Era::Legacy(self.version),
            capabilities: self.capabilities,
            level: *lock(&self.level),
            session: Some(Arc::clone(self)),
        }
    }

    /// Sets the lowest level of log messages to send.
    pub(crate) fn set_level(&self, level: LogLevel) {
        *lock(&self.level) = Some(level);
    }

    /// Opens the notification stream. An earlier one ends.
    pub(crate) fn open_stream(self: &Arc<Self>) -> SessionStream {
        let (replaced, mut stream) = (CancellationToken::new(), lock(&self.stream));
        stream.cancel();
        *stream = replaced.clone();
        self.streams.fetch_add(1, Ordering::Relaxed);
        SessionStream { session: Arc::clone(self), replaced }
    }

    /// When the session was last used: now, while a stream is open.
    fn last_used(&self, now: Instant) -> Instant {
        match self.streams.load(Ordering::Relaxed) {
            0 => *lock(&self.last_used),
            _ => now,
        }
    }

    fn is_idle(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last_used(now)) >= IDLE_TIMEOUT
    }

    /// Sends a request to the client and waits for the response. `None` if that is not possible, or the stream of `channel` or
    /// the session ends.
    pub(in crate::mcp) async fn request(
        &self,
        channel: &ClientChannel,
        method: &str,
        params: &Value,
    ) -> Option<Result<Value, Value>> {
        let id = format!("toolroom-{}", self.next_id.fetch_add(1, Ordering::Relaxed));
        let (sender, response) = oneshot::channel();
        {
            let mut pending = lock(&self.pending);
            if pending.len() >= MAX_PENDING {
                return None;
            }
            pending.insert(id.clone(), sender);
        }
        let _pending = PendingClientRequest { session: self, channel, id: &id };
        if !channel.send(request_text(&id, method, params)).await {
            return None;
        }
        tokio::select! {
            response = response => response.ok(),
            () = self.ended.cancelled() => None,
            () = channel.closed() => None,
        }
    }

    /// Handles a response of the client. One to an unknown request is ignored.
    pub(crate) fn handle_response(&self, id: &Id, outcome: Result<Value, Value>) {
        let Id::Text(id) = id else { return };
        if let Some(sender) = lock(&self.pending).remove(id) {
            drop(sender.send(outcome));
        }
    }
}

/// An open notification stream. Counts as use of the session until it is dropped.
pub(crate) struct SessionStream {
    session: Arc<McpSession>,
    replaced: CancellationToken,
}

impl SessionStream {
    /// Waits until a newer stream takes over or the session ends.
    pub(crate) async fn ended(&self) {
        tokio::select! {
            () = self.replaced.cancelled() => {}
            () = self.session.ended.cancelled() => {}
        }
    }
}

impl Drop for SessionStream {
    fn drop(&mut self) {
        *lock(&self.session.last_used) = Instant::now();
        self.session.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A pending request to the client. Dropping it before the response cancels it.
struct PendingClientRequest<'a> {
    session: &'a McpSession,
    channel: &'a ClientChannel,
    id: &'a str,
}

impl Drop for PendingClientRequest<'_> {
    fn drop(&mut self) {
        if lock(&self.session.pending).remove(self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "the request is no longer needed"});
            self.channel.try_send(notification_text("notifications/cancelled", &params));
        }
    }
}

/// All sessions by id.
#[derive(Debug, Default)]
pub(crate) struct McpSessions(Mutex<HashMap<String, Arc<McpSession>>>);

impl McpSessions {
    /// Opens a session, and evicts idle ones if there are too many.
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
        if own >= MAX_PER_OWNER {
            evict(&mut sessions, now, |known| known.owner == *owner);
        } else if sessions.len() >= MAX_SESSIONS {
            // Takes them from the owner with the most sessions.
            match largest(&sessions) {
                Some(largest) => evict(&mut sessions, now, |known| known.owner == largest),
                None => evict(&mut sessions, now, |_| true),
            }
        }
        sessions.insert(session.id.clone(), Arc::clone(&session));
        session
    }

    /// The session with this id, if it belongs to `owner` and has not expired.
    pub(crate) fn find(&self, owner: &str, id: &str) -> Option<Arc<McpSession>> {
        let (mut sessions, now) = (lock(&self.0), Instant::now());
        let session = Arc::clone(sessions.get(id)?);
        if session.is_idle(now) {
            sessions.remove(id);
            session.ended.cancel();
            return None;
        }
        if *session.owner != *owner {
            return None;
        }
        *lock(&session.last_used) = now;
        Some(session)
    }

    /// Ends a session. Returns whether it existed.
    pub(crate) fn close(&self, owner: &str, id: &str) -> bool {
        let mut sessions = lock(&self.0);
        if sessions.get(id).is_none_or(|session| *session.owner != *owner) {
            return false;
        }
        if let Some(session) = sessions.remove(id) {
            session.ended.cancel();
        }
        true
    }
}

/// A fresh source for the calls of a session or process.
pub(in crate::mcp) fn source_id() -> Arc<str> {
    format!("mcp_{}", SystemClock.random_id().simple()).into()
}

/// The owner with the most sessions, if that is more than one.
fn largest(sessions: &HashMap<String, Arc<McpSession>>) -> Option<Arc<str>> {
    let mut counts: HashMap<&Arc<str>, usize> = HashMap::default();
    for session in sessions.values() {
        *counts.entry(&session.owner).or_default() += 1;
    }
    let (owner, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count > 1).then(|| Arc::clone(owner))
}

/// Evicts a sixteenth of the matching sessions, least recently used first.
fn evict(
    sessions: &mut HashMap<String, Arc<McpSession>>,
    now: Instant,
    is_meant: impl Fn(&McpSession) -> bool,
) {
    let meant = sessions.iter().filter(|(_, session)| is_meant(session));
    let mut used: Vec<(Instant, String)> =
        meant.map(|(id, session)| (session.last_used(now), id.clone())).collect();
    used.sort();
    let some = used.len().div_ceil(16);
    for (_, id) in used.into_iter().take(some) {
        if let Some(session) = sessions.remove(&id) {
            session.ended.cancel();
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
    fn a_session_is_visible_to_its_owner_until_it_is_closed() {
        let sessions = McpSessions::default();
        let id = sessions.open(&SystemClock, &"key:1".into(), &Map::new()).id.clone();
        assert!(sessions.find("key:2", &id).is_none() && !sessions.close("key:2", &id));
        assert!(sessions.find("key:1", &id).is_some());
        assert!(sessions.close("key:1", &id) && sessions.find("key:1", &id).is_none());
    }

    #[test]
    fn idle_sessions_of_the_same_owner_are_evicted_first() {
        let sessions = McpSessions::default();
        let other = sessions.open(&SystemClock, &"b".into(), &Map::new());
        let first = sessions.open(&SystemClock, &"a".into(), &Map::new());
        for _ in 0..MAX_PER_OWNER {
            sessions.open(&SystemClock, &"a".into(), &Map::new());
        }
        assert!(first.ended.is_cancelled() && !other.ended.is_cancelled());
        for owner in 0..MAX_SESSIONS + 16 {
            sessions.open(&SystemClock, &format!("{owner}").into(), &Map::new());
        }
        assert!(other.ended.is_cancelled());
        assert!(lock(&sessions.0).len() <= MAX_SESSIONS);
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_session_expires_unless_a_stream_is_open() {
        let sessions = McpSessions::default();
        let silent = sessions.open(&SystemClock, &"a".into(), &Map::new());
        let streaming = sessions.open(&SystemClock, &"a".into(), &Map::new());
        let stream = streaming.open_stream();
        tokio::time::advance(IDLE_TIMEOUT).await;
        assert!(sessions.find("a", &silent.id).is_none() && silent.ended.is_cancelled());
        assert!(sessions.find("a", &streaming.id).is_some());
        drop(stream);
        tokio::time::advance(IDLE_TIMEOUT).await;
        assert!(sessions.find("a", &streaming.id).is_none() && streaming.ended.is_cancelled());
    }

    #[test]
    fn a_session_takes_little_memory() {
        assert!(size_of::<ClientCapabilities>() == 1 && size_of::<McpSession>() < 1_024);
    }

    #[tokio::test]
    async fn only_the_response_with_its_id_completes_a_request() {
        let session = McpSession::new("s".to_owned(), "a".into(), &Map::new());
        let (channel, mut receiver) = ClientChannel::open();
        let params = json!({});
        let (response, ()) = tokio::join!(session.request(&channel, "roots/list", &params), async {
            let request: Value = serde_json::from_str(&receiver.recv().await.unwrap()).unwrap();
            session.handle_response(&Id::Text("unknown".to_owned()), Ok(json!(1)));
            session.handle_response(&serde_json::from_value(request["id"].clone()).unwrap(), Ok(json!(2)));
        });
        assert_eq!(response, Some(Ok(json!(2))));
        assert!(lock(&session.pending).is_empty());
        assert_eq!(session.request(&ClientChannel::silent(), "roots/list", &params).await, None);
    }

    #[tokio::test]
    async fn a_closed_channel_ends_a_request_and_a_dropped_request_is_cancelled() {
        let session = McpSession::new("s".to_owned(), "a".into(), &Map::new());
        let (channel, mut receiver) = ClientChannel::open();
        let params = json!({});
        let (response, ()) = tokio::join!(session.request(&channel, "roots/list", &params), async {
            receiver.recv().await.unwrap();
            drop(receiver);
        });
        assert!(response.is_none() && lock(&session.pending).is_empty());
        let (channel, mut receiver) = ClientChannel::open();
        tokio::select! {
            _ = session.request(&channel, "roots/list", &params) => panic!("there was no response"),
            request = receiver.recv() => assert!(request.is_some()),
        }
        let told: Value = serde_json::from_str(&receiver.recv().await.unwrap()).unwrap();
        assert_eq!(
            (&told["method"], &told["params"]["requestId"]),
            (&json!("notifications/cancelled"), &json!("toolroom-2"))
        );
    }
}
