//! What a running tool knows about its call.

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
    /// Set while the tool has said that it has done nothing yet.
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

    /// Where the tool says that it has done nothing yet.
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

    /// Where the person sits whom it is for.
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

    /// What the client said about its user and situation. Never trusted for rights.
    #[must_use]
    pub fn client_context(&self) -> &Map<String, Value> {
        &self.context
    }

    /// The embedder's own facts about the call.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// What was read and sent before the call. A tool that writes something down which is read later keeps it with that.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// When the call has to be finished.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The error of a tool that ends its work shortly before the deadline, so as to tell what it has so far. It counts as
    /// the deadline being reached.
    #[must_use]
    pub fn out_of_time(&self, for_model: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Timeout, for_model).by_kernel()
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A file to give back beside the result. A media type that is none becomes `application/octet-stream`.
    #[must_use]
    pub fn attachment(&self, media_type: &str, bytes: impl Into<Bytes>) -> Attachment {
        Attachment::new(self.clock.as_ref(), media_type, bytes)
    }

    /// The text without secrets; the text itself if it holds none. Results and signs of life are hidden on their way out
    /// anyway: this is for a tool that keeps something to be shown later.
    #[must_use]
    pub fn without_secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact_text(text)
    }

    /// Whether the call is over: stopped by its caller, past its deadline, or given up. A tool on the blocking
    /// pool has to look now and then, since nobody can take its thread away.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Waits until the call is over.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// Does what comes before the effect of a tool: waits for its turn, reads what is to be sent. A call that is stopped or
    /// runs out of time meanwhile has certainly changed nothing, and says so. Not for a tool that has done something already.
    pub async fn before_effect<T>(&self, work: impl Future<Output = T>) -> T {
        self.untouched.store(true, Ordering::Relaxed);
        let done = work.await;
        // Only at its end: what is dropped in the middle has still done nothing.
        self.untouched.store(false, Ordering::Relaxed);
        done
    }

    /// Tells whoever waits what is going on.
    pub fn progress(&self, message: impl Into<String>, fraction: Option<f64>) {
        let Some(sink) = &self.progress else { return };
        // Nobody expects a sign of life from a call that is over.
        if self.is_cancelled() {
            return;
        }
        let fraction =
            fraction.filter(|fraction| fraction.is_finite()).map(|fraction| fraction.clamp(0.0, 1.0));
        sink(Progress { message: message.into(), fraction });
    }
}
