//! What is asked of a server and not answered yet, and what becomes of everything it says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{Incoming, reply, shortened};

/// Requests that one connection has open at a time.
const MAX_OPEN: usize = 512;

/// Messages that may come at once, and each second after that. More is a flood.
const BURST: Amount = Amount { messages: 10_000.0, bytes: 128.0 * 1024.0 * 1024.0 };
const EACH_SECOND: Amount = Amount { messages: 1_000.0, bytes: 16.0 * 1024.0 * 1024.0 };

/// What is shown of a text that tells about progress.
const MAX_PROGRESS_CHARS: usize = 500;

/// Hears how far a request is: a text, and a part of the whole if that is known.
pub type ProgressSink = Arc<dyn Fn(String, Option<f64>) + Send + Sync>;

/// What a server asks of us and tells us beside its answers. Called while messages are read: it must not block.
pub trait Attendant: Send + Sync {
    /// What we say we can do.
    fn capabilities(&self) -> Value {
        json!({})
    }

    /// The answer to a question of the server; `None` where nobody here does such a thing.
    fn answer(&self, method: &str, params: &Value) -> Option<Value> {
        let _ = (method, params);
        None
    }

    /// The tools of the server are not what they were, or may not be.
    fn tools_changed(&self) {}

    /// The server is a program, and printed this as an error.
    fn printed(&self, bytes: &[u8]) {
        let _ = bytes;
    }
}

/// Nobody who could answer a question.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Attendant for Nobody {}

/// The desk of one connection.
pub(crate) struct Desk {
    state: Mutex<State>,
    attendant: Arc<dyn Attendant>,
}

struct State {
    next: i64,
    open: HashMap<i64, Waiting>,
    closed: Option<McpError>,
    allowance: Amount,
    counted: Instant,
}

/// How much a server says.
#[derive(Debug, Clone, Copy)]
struct Amount {
    messages: f64,
    bytes: f64,
}

struct Waiting {
    answer: oneshot::Sender<Result<Value, McpError>>,
    progress: Option<ProgressSink>,
    heard: Instant,
}

/// A request that is open. Whoever drops it no longer waits for its answer.
pub(crate) struct Ticket {
    pub(crate) id: i64,
    desk: Arc<Desk>,
    answer: oneshot::Receiver<Result<Value, McpError>>,
    farewell: Option<Farewell>,
}

/// Tells a server that nobody waits for this request any more.
type Farewell = Box<dyn FnOnce(i64) + Send>;

impl Desk {
    pub(crate) fn new(attendant: Arc<dyn Attendant>) -> Arc<Self> {
        let state =
            State { next: 1, open: HashMap::new(), closed: None, allowance: BURST, counted: Instant::now() };
        Arc::new(Self { state: Mutex::new(state), attendant })
    }

    pub(crate) fn attendant(&self) -> &dyn Attendant {
        self.attendant.as_ref()
    }

    /// Opens a request. If that is not possible, nothing was sent.
    pub(crate) fn open(self: &Arc<Self>, progress: Option<ProgressSink>) -> Result<Ticket, McpError> {
        let mut state = self.state();
        if let Some(error) = &state.closed {
            return Err(error.clone().unsent());
        }
        if state.open.len() >= MAX_OPEN {
            let limit = format!("{MAX_OPEN} at a time");
            return Err(McpError::TooMuch { what: "another request", limit }.unsent());
        }
        let id = state.next;
        state.next += 1;
        let (sender, answer) = oneshot::channel();
        state.open.insert(id, Waiting { answer: sender, progress, heard: Instant::now() });
        Ok(Ticket { id, desk: Arc::clone(self), answer, farewell: None })
    }

    /// Takes a message in, and gives what has to be said in return. An error is one of this message alone, unless the
    /// desk [is closed](Desk::closed) with it. Where an answer without an id can only be that to one request, that is
    /// `asked`.
    pub(crate) fn take(&self, asked: Option<i64>, bytes: &[u8]) -> Result<Vec<Vec<u8>>, McpError> {
        let messages = Incoming::read(bytes);
        self.count(messages.as_ref().map_or(1, |messages| messages.len().max(1)), 0)?;
        let mut messages = messages?;
        if let [Incoming::Answer { id, result: Err(_) }] = messages.as_mut_slice() {
            *id = id.or(asked);
        }
        Ok(messages.into_iter().filter_map(|message| self.sort(message)).collect())
    }

    /// Counts what came, whatever it is. A flood closes the desk.
    pub(crate) fn count(&self, messages: usize, bytes: usize) -> Result<(), McpError> {
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let mut state = self.state();
        let now = Instant::now();
        let passed = now.saturating_duration_since(state.counted).as_secs_f64();
        state.counted = now;
        let left =
            |left: f64, each: f64, most: f64, came: usize| (left + passed * each).min(most) - number(came);
        let Amount { messages: known, bytes: read } = state.allowance;
        state.allowance = Amount {
            messages: left(known, EACH_SECOND.messages, BURST.messages, messages),
            bytes: left(read, EACH_SECOND.bytes, BURST.bytes, bytes),
        };
        if state.allowance.messages >= 0.0 && state.allowance.bytes >= 0.0 {
            return Ok(());
        }
        drop(state);
        let flood = McpError::Closed { why: "it sends messages without end".to_owned() };
        self.close(&flood);
        Err(flood)
    }

    fn sort(&self, message: Incoming) -> Option<Vec<u8>> {
        match message {
            Incoming::Answer { id: Some(id), result } => {
                self.settle(id, result.map_err(McpError::from));
                None
            }
            Incoming::Answer { id: None, .. } => None,
            Incoming::Unreadable { id, why } => {
                self.settle(id, Err(McpError::Nonsense(why)));
                None
            }
            Incoming::Question { id, method, params } => {
                let result = match method.as_str() {
                    "ping" => Some(json!({})),
                    method => self.attendant.answer(method, &params),
                };
                Some(reply(&id, result))
            }
            Incoming::Note { method, params } => {
                match method.as_str() {
                    "notifications/progress" => self.progress(&params),
                    "notifications/tools/list_changed" => self.attendant.tools_changed(),
                    _ => {}
                }
                None
            }
        }
    }

    fn settle(&self, id: i64, result: Result<Value, McpError>) {
        let waiting = self.state().open.remove(&id);
        match waiting {
            // Whoever asked may have gone.
            Some(waiting) => drop(waiting.answer.send(result)),
            None => tracing::debug!(id, "a server answers what nobody asked"),
        }
    }

    fn progress(&self, params: &Value) {
        let Some(id) = params.get("progressToken").and_then(Value::as_i64) else { return };
        let sink = {
            let mut state = self.state();
            let Some(waiting) = state.open.get_mut(&id) else { return };
            // Where nobody asked for it, it is no sign of life either.
            let Some(sink) = waiting.progress.clone() else { return };
            waiting.heard = Instant::now();
            sink
        };
        let number = |name: &str| params.get(name).and_then(Value::as_f64);
        let fraction = number("progress").zip(number("total").filter(|total| *total > 0.0));
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        sink(shortened(message, MAX_PROGRESS_CHARS), fraction.map(|(done, total)| done / total));
    }

    /// Ends everything that is open. What was closed first stays the reason.
    pub(crate) fn close(&self, error: &McpError) {
        let open = {
            let mut state = self.state();
            state.closed.get_or_insert_with(|| error.clone());
            std::mem::take(&mut state.open)
        };
        for waiting in open.into_values() {
            drop(waiting.answer.send(Err(error.clone())));
        }
    }

    /// Why nothing more can be asked.
    pub(crate) fn closed(&self) -> Option<McpError> {
        self.state().closed.clone()
    }

    fn heard(&self, id: i64) -> Option<Instant> {
        self.state().open.get(&id).map(|waiting| waiting.heard)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Has the server told if this is dropped before there is an answer.
    pub(crate) fn telling(mut self, farewell: impl FnOnce(i64) + Send + 'static) -> Self {
        self.farewell = Some(Box::new(farewell));
        self
    }

    /// The answer, if it is there already.
    pub(crate) fn ready(&mut self) -> Option<Result<Value, McpError>> {
        self.answer.try_recv().ok()
    }

    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Result<Value, McpError> {
        let lost = || McpError::Closed { why: "the request is forgotten".to_owned() };
        (&mut self.answer).await.unwrap_or_else(|_| Err(lost()))
    }

    /// Comes back when nothing has been heard of the request for this long; news about progress count.
    pub(crate) fn silence(&self, patience: Duration) -> impl Future<Output = ()> + use<> {
        let (desk, id) = (Arc::clone(&self.desk), self.id);
        async move {
            let mut until = Instant::now() + patience;
            loop {
                tokio::time::sleep_until(until).await;
                match desk.heard(id).map(|heard| heard + patience) {
                    Some(later) if later > until => until = later,
                    _ => return,
                }
            }
        }
    }

    /// Whether an answer can still come.
    pub(crate) fn is_open(&self) -> bool {
        self.desk.state().open.contains_key(&self.id)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let is_open = self.desk.state().open.remove(&self.id).is_some();
        if let Some(farewell) = self.farewell.take().filter(|_| is_open) {
            farewell(self.id);
        }
    }
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
