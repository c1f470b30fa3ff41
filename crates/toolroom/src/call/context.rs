//! What a running tool may know about its call.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::request::{CallRequest, Progress, ProgressSink, UserLocation};
use crate::clock::{Clock, Timestamp};
use crate::ledger::CallId;
use crate::policy::Provenance;
use crate::redact::Redactor;
use crate::scope::Scope;
use crate::tool::{Attachment, ErrorKind, ToolError};

/// Immutable facts about one call, given to the tool that runs it. Only the kernel makes one, one for each run,
/// and it cannot be copied; registered tools are never handed out again. So no code outside the kernel can start a
/// tool of the catalog:
///
/// ```compile_fail,E0451
/// # fn forge(real: toolroom::call::CallContext) -> toolroom::call::CallContext {
/// toolroom::call::CallContext { ..real }
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn copy(real: &toolroom::call::CallContext) -> toolroom::call::CallContext {
/// real.clone()
/// # }
/// ```
///
/// ```compile_fail,E0616
/// # fn take_out(entry: &toolroom::catalog::Entry) {
/// let tool = &entry.tool;
/// # }
/// ```
pub struct CallContext {
    call: CallId,
    scope: Scope,
    user_location: UserLocation,
    thread: Option<Arc<str>>,
    run: Option<Arc<str>>,
    context: Map<String, Value>,
    metadata: Map<String, Value>,
    provenance: Provenance,
    deadline: Option<Instant>,
    cancellation: CancellationToken,
    progress: Option<ProgressSink>,
    redactor: Arc<Redactor>,
    clock: Arc<dyn Clock>,
    /// Set while the tool says that it has done nothing yet.
    untouched: Arc<AtomicBool>,
}

impl CallContext {
    pub(super) fn new(
        call: CallId,
        request: &mut CallRequest,
        deadline: Option<Instant>,
        cancellation: CancellationToken,
        progress: Option<ProgressSink>,
        redactor: Arc<Redactor>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            call,
            scope: request.scope.clone(),
            user_location: request.user_location,
            thread: request.thread.clone(),
            run: request.run.clone(),
            context: std::mem::take(&mut request.context),
            metadata: std::mem::take(&mut request.metadata),
            provenance: request.provenance,
            deadline,
            cancellation,
            progress,
            redactor,
            clock,
            untouched: Arc::default(),
        }
    }

    /// The flag by which the tool says that it has done nothing yet.
    pub(super) fn untouched(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.untouched)
    }

    /// The call's id.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call
    }

    /// Whose call it is.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Where the user is.
    #[must_use]
    pub fn user_location(&self) -> UserLocation {
        self.user_location
    }

    /// The conversation.
    #[must_use]
    pub fn thread_id(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    /// The run inside the conversation.
    #[must_use]
    pub fn run_id(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// The client's context about its user and situation. Never trusted for rights.
    #[must_use]
    pub fn client_context(&self) -> &Map<String, Value> {
        &self.context
    }

    /// The embedder's own facts about the call.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// What was read and sent before the call. A tool that stores data for later reading stores this with it.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// When the call has to be finished.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The error of a tool that stops shortly before the deadline to report what it has so far. Counts as a timeout.
    #[must_use]
    pub fn out_of_time(&self, for_model: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Timeout, for_model).by_kernel()
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A file to return with the result. An invalid media type becomes `application/octet-stream`.
    #[must_use]
    pub fn attachment(&self, media_type: &str, bytes: impl Into<Bytes>) -> Attachment {
        Attachment::new(self.clock.as_ref(), media_type, bytes)
    }

    /// The text without secrets. Results and progress are redacted anyway: this is for a tool that stores text to be shown
    /// later.
    #[must_use]
    pub fn without_secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact_text(text)
    }

    /// Whether the call is over: stopped by its caller, past its deadline, or dropped. A tool on the blocking pool has to
    /// check this now and then, as its thread cannot be stopped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Waits until the call is over.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// Runs work that precedes the tool's effect, such as waiting for a lock. A call that ends meanwhile counts as one without
    /// effect. Not for a tool that has had an effect already.
    pub async fn before_effect<T>(&self, work: impl Future<Output = T>) -> T {
        self.untouched.store(true, Ordering::Relaxed);
        let done = work.await;
        // Not reset when the work is dropped: the tool has still done nothing.
        self.untouched.store(false, Ordering::Relaxed);
        done
    }

    /// Reports progress to the caller.
    pub fn progress(&self, message: impl Into<String>, fraction: Option<f64>) {
        let Some(sink) = &self.progress else { return };
        // A call that is over reports nothing more.
        if self.is_cancelled() {
            return;
        }
        let fraction =
            fraction.filter(|fraction| fraction.is_finite()).map(|fraction| fraction.clamp(0.0, 1.0));
        sink(Progress { message: message.into(), fraction });
    }
}
