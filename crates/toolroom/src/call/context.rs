//! What a running tool knows about its call.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::request::{CallRequest, Progress, ProgressSink};
use crate::clock::{Clock, Timestamp};
use crate::ledger::CallId;
use crate::scope::Scope;

/// A progress text is for a status line.
const PROGRESS_CHARS: usize = 500;

/// Immutable facts about one call. Only the kernel can make one, so a tool cannot be started around the
/// guards:
///
/// ```compile_fail
/// // The field is private, and there is no constructor.
/// let forged = toolroom::call::CallContext { facts: todo!() };
/// ```
///
/// ```compile_fail
/// let forged = toolroom::call::CallContext::default();
/// ```
///
/// ```compile_fail
/// # fn run(request: toolroom::call::CallRequest, id: toolroom::ledger::CallId) {
/// let forged = toolroom::call::CallContext::new(id, request, None, todo!());
/// # }
/// ```
#[derive(Clone)]
pub struct CallContext {
    facts: Arc<Facts>,
}

struct Facts {
    call: CallId,
    scope: Scope,
    thread: Option<Arc<str>>,
    run: Option<Arc<str>>,
    context: Map<String, Value>,
    metadata: Map<String, Value>,
    deadline: Option<Instant>,
    cancellation: CancellationToken,
    progress: Option<ProgressSink>,
    clock: Arc<dyn Clock>,
}

impl CallContext {
    pub(super) fn new(
        call: CallId,
        request: &mut CallRequest,
        deadline: Option<Instant>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let facts = Facts {
            call,
            scope: request.scope.clone(),
            thread: request.thread.clone(),
            run: request.run.clone(),
            context: std::mem::take(&mut request.context),
            metadata: std::mem::take(&mut request.metadata),
            deadline,
            cancellation: request.cancellation.clone(),
            progress: request.progress.take(),
            clock,
        };
        Self { facts: Arc::new(facts) }
    }

    /// The call's id.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.facts.call
    }

    /// Whose call it is.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.facts.scope
    }

    /// The conversation.
    #[must_use]
    pub fn thread_id(&self) -> Option<&str> {
        self.facts.thread.as_deref()
    }

    /// The run inside the conversation.
    #[must_use]
    pub fn run_id(&self) -> Option<&str> {
        self.facts.run.as_deref()
    }

    /// What the client said about its user and situation. Never trusted for rights.
    #[must_use]
    pub fn client_context(&self) -> &Map<String, Value> {
        &self.facts.context
    }

    /// The embedder's own facts about the call.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.facts.metadata
    }

    /// When the call has to be finished.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.facts.deadline
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.facts.clock.now()
    }

    /// Whether the caller has stopped the call. A tool on the blocking pool has to look now and then, since
    /// nobody can take its thread away.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.facts.cancellation.is_cancelled()
    }

    /// Waits until the caller stops the call.
    pub async fn cancelled(&self) {
        self.facts.cancellation.cancelled().await;
    }

    /// Tells whoever waits what is going on.
    pub fn progress(&self, message: impl Into<String>, fraction: Option<f64>) {
        let Some(sink) = &self.facts.progress else { return };
        let message: String = message.into().chars().take(PROGRESS_CHARS).collect();
        let fraction =
            fraction.filter(|fraction| fraction.is_finite()).map(|fraction| fraction.clamp(0.0, 1.0));
        sink(Progress { message, fraction });
    }
}
