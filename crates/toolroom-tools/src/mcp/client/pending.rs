//! Pending requests to a server, and the dispatch of its messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{Incoming, response, shortened};

/// Pending requests per connection.
const MAX_OPEN: usize = 512;

/// A server that sends more than this burst, or more than this rate afterwards, is disconnected.
const BURST: Traffic = Traffic { messages: 10_000.0, bytes: 128.0 * 1024.0 * 1024.0 };
const PER_SECOND: Traffic = Traffic { messages: 1_000.0, bytes: 16.0 * 1024.0 * 1024.0 };

/// The longest text of a progress notification.
const MAX_PROGRESS_CHARS: usize = 500;

/// Receives progress: a text, and the fraction that is done, if known.
pub type ProgressSink = Arc<dyn Fn(String, Option<f64>) + Send + Sync>;

/// Handles requests and notifications of the server. Called while messages are read: it must not block.
pub trait ClientHandler: Send + Sync {
    /// The capabilities of this client.
    fn capabilities(&self) -> Value {
        json!({})
    }

    /// The result of a request of the server. `None` if the method is not supported.
    fn handle_request(&self, method: &str, params: &Value) -> Option<Value> {
        let _ = (method, params);
        None
    }

    /// The server's tools may have changed.
    fn on_tools_changed(&self) {}

    /// The server's program wrote to standard error.
    fn on_stderr(&self, bytes: &[u8]) {
        let _ = bytes;
    }
}

/// Supports no requests and ignores notifications.
#[derive(Debug, Clone, Copy, Default)]
pub struct DefaultHandler;

impl ClientHandler for DefaultHandler {}

/// The pending requests of one connection.
pub(crate) struct PendingRequests {
    state: Mutex<PendingState>,
    handler: Arc<dyn ClientHandler>,
}

struct PendingState {
    next_id: i64,
    open: HashMap<i64, Waiter>,
    closed: Option<McpError>,
    allowance: Traffic,
    refilled: Instant,
}

/// Messages and bytes from a server.
#[derive(Debug, Clone, Copy)]
struct Traffic {
    messages: f64,
    bytes: f64,
}

struct Waiter {
    response: oneshot::Sender<Result<Value, McpError>>,
    progress: Option<ProgressSink>,
    last_activity: Instant,
}

/// A pending request. Dropping it gives up the response.
pub(crate) struct PendingRequest {
    pub(crate) id: i64,
    pending: Arc<PendingRequests>,
    response: oneshot::Receiver<Result<Value, McpError>>,
    on_cancel: Option<CancelHook>,
}

/// Sends the cancellation of a request to the server.
type CancelHook = Box<dyn FnOnce(i64) + Send>;

impl PendingRequests {
    pub(crate) fn new(handler: Arc<dyn ClientHandler>) -> Arc<Self> {
        let now = Instant::now();
        let state =
            PendingState { next_id: 1, open: HashMap::new(), closed: None, allowance: BURST, refilled: now };
        Arc::new(Self { state: Mutex::new(state), handler })
    }

    pub(crate) fn handler(&self) -> &dyn ClientHandler {
        self.handler.as_ref()
    }

    /// Registers a request. If that fails, nothing was sent.
    pub(crate) fn register(
        self: &Arc<Self>,
        progress: Option<ProgressSink>,
    ) -> Result<PendingRequest, McpError> {
        let mut state = self.state();
        if let Some(error) = &state.closed {
            return Err(error.clone().not_sent());
        }
        if state.open.len() >= MAX_OPEN {
            let limit = format!("{MAX_OPEN} at a time");
            return Err(McpError::LimitExceeded { what: "the number of requests", limit }.not_sent());
        }
        let id = state.next_id;
        state.next_id += 1;
        let (sender, response) = oneshot::channel();
        state.open.insert(id, Waiter { response: sender, progress, last_activity: Instant::now() });
        Ok(PendingRequest { id, pending: Arc::clone(self), response, on_cancel: None })
    }

    /// Handles a message and returns the replies to send. An error concerns this message only, unless the connection
    /// [is closed](PendingRequests::closed). `only_request` is the request that an error response without an id belongs to.
    pub(crate) fn receive(&self, only_request: Option<i64>, bytes: &[u8]) -> Result<Vec<Vec<u8>>, McpError> {
        let messages = Incoming::parse(bytes);
        self.count_traffic(messages.as_ref().map_or(1, |messages| messages.len().max(1)), 0)?;
        let mut messages = messages?;
        if let [Incoming::Response { id, result: Err(_) }] = messages.as_mut_slice() {
            *id = id.or(only_request);
        }
        Ok(messages.into_iter().filter_map(|message| self.dispatch(message)).collect())
    }

    /// Counts received messages and bytes. Closes the connection if they exceed the rate limit.
    pub(crate) fn count_traffic(&self, messages: usize, bytes: usize) -> Result<(), McpError> {
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let mut state = self.state();
        let now = Instant::now();
        let passed = now.saturating_duration_since(state.refilled).as_secs_f64();
        state.refilled = now;
        let left = |left: f64, per_second: f64, most: f64, received: usize| {
            (left + passed * per_second).min(most) - number(received)
        };
        let Traffic { messages: left_messages, bytes: left_bytes } = state.allowance;
        state.allowance = Traffic {
            messages: left(left_messages, PER_SECOND.messages, BURST.messages, messages),
            bytes: left(left_bytes, PER_SECOND.bytes, BURST.bytes, bytes),
        };
        if state.allowance.messages >= 0.0 && state.allowance.bytes >= 0.0 {
            return Ok(());
        }
        drop(state);
        let error = McpError::Closed { why: "it exceeds the rate limit of messages".to_owned() };
        self.close(&error);
        Err(error)
    }

    fn dispatch(&self, message: Incoming) -> Option<Vec<u8>> {
        match message {
            Incoming::Response { id: Some(id), result } => {
                self.complete(id, result.map_err(McpError::from));
                None
            }
            Incoming::Response { id: None, .. } => None,
            Incoming::Unreadable { id, why } => {
                self.complete(id, Err(McpError::Protocol(why)));
                None
            }
            Incoming::Request { id, method, params } => {
                let result = match method.as_str() {
                    "ping" => Some(json!({})),
                    method => self.handler.handle_request(method, &params),
                };
                Some(response(&id, result))
            }
            Incoming::Notification { method, params } => {
                match method.as_str() {
                    "notifications/progress" => self.progress(&params),
                    "notifications/tools/list_changed" => self.handler.on_tools_changed(),
                    _ => {}
                }
                None
            }
        }
    }

    fn complete(&self, id: i64, result: Result<Value, McpError>) {
        let waiter = self.state().open.remove(&id);
        match waiter {
            // The receiver may be dropped already.
            Some(waiter) => drop(waiter.response.send(result)),
            None => tracing::debug!(id, "a server responds to an unknown request"),
        }
    }

    fn progress(&self, params: &Value) {
        let Some(id) = params.get("progressToken").and_then(Value::as_i64) else { return };
        let sink = {
            let mut state = self.state();
            let Some(waiter) = state.open.get_mut(&id) else { return };
            // Unrequested progress does not extend the timeout.
            let Some(sink) = waiter.progress.clone() else { return };
            waiter.last_activity = Instant::now();
            sink
        };
        let number = |name: &str| params.get(name).and_then(Value::as_f64);
        let fraction = number("progress").zip(number("total").filter(|total| *total > 0.0));
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        sink(shortened(message, MAX_PROGRESS_CHARS), fraction.map(|(done, total)| done / total));
    }

    /// Fails all pending requests. The first error remains the reason.
    pub(crate) fn close(&self, error: &McpError) {
        let open = {
            let mut state = self.state();
            state.closed.get_or_insert_with(|| error.clone());
            std::mem::take(&mut state.open)
        };
        for waiter in open.into_values() {
            drop(waiter.response.send(Err(error.clone())));
        }
    }

    /// Why the connection is closed.
    pub(crate) fn closed(&self) -> Option<McpError> {
        self.state().closed.clone()
    }

    fn last_activity(&self, id: i64) -> Option<Instant> {
        self.state().open.get(&id).map(|waiter| waiter.last_activity)
    }

    fn state(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingRequest {
    /// Calls `hook` if this is dropped before the response arrives.
    pub(crate) fn on_cancel(mut self, hook: impl FnOnce(i64) + Send + 'static) -> Self {
        self.on_cancel = Some(Box::new(hook));
        self
    }

    /// The response, if it has arrived.
    pub(crate) fn try_response(&mut self) -> Option<Result<Value, McpError>> {
        self.response.try_recv().ok()
    }

    /// Waits for the response.
    pub(crate) async fn response(&mut self) -> Result<Value, McpError> {
        let lost = || McpError::Closed { why: "the request was dropped".to_owned() };
        (&mut self.response).await.unwrap_or_else(|_| Err(lost()))
    }

    /// Completes when there was no progress for `timeout`.
    pub(crate) fn idle(&self, timeout: Duration) -> impl Future<Output = ()> + use<> {
        let (pending, id) = (Arc::clone(&self.pending), self.id);
        async move {
            let mut until = Instant::now() + timeout;
            loop {
                tokio::time::sleep_until(until).await;
                match pending.last_activity(id).map(|last| last + timeout) {
                    Some(later) if later > until => until = later,
                    _ => return,
                }
            }
        }
    }

    /// Whether the response can still arrive.
    pub(crate) fn is_open(&self) -> bool {
        self.pending.state().open.contains_key(&self.id)
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let is_open = self.pending.state().open.remove(&self.id).is_some();
        if let Some(hook) = self.on_cancel.take().filter(|_| is_open) {
            hook(self.id);
        }
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
