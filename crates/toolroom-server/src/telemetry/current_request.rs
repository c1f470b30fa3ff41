//! The request that the current task works on. Every log line of the task carries its id.

use std::fmt;
use std::sync::{Arc, OnceLock};

use toolroom::scope::ProjectId;

use super::traces::SpanContext;
use crate::identity::{Caller, Who};

tokio::task_local! {
    static CURRENT: Arc<CurrentRequest>;
}

#[derive(Debug)]
pub(crate) struct CurrentRequest {
    /// The request id, from the client or made here.
    pub(crate) request_id: Box<str>,
    /// Its span, if traces are exported.
    pub(crate) span: Option<SpanContext>,
    caller: OnceLock<KnownCaller>,
}

/// The sender, as far as a log may know it: never the key itself, nothing about a person.
#[derive(Clone)]
pub(super) struct KnownCaller {
    pub(super) project: ProjectId,
    who: Who,
}

impl fmt::Debug for KnownCaller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KnownCaller")
            .field("project", &self.project)
            .field("key", &self.key())
            .finish()
    }
}

impl KnownCaller {
    /// The id of the API key, if there is one.
    pub(super) fn key(&self) -> Option<&str> {
        match &self.who {
            Who::Owner => None,
            Who::Key(key) => Some(&key.id),
            Who::EndUser(user) => Some(&user.key),
        }
    }
}

impl CurrentRequest {
    pub(crate) fn new(request_id: String, span: Option<SpanContext>) -> Arc<Self> {
        Arc::new(Self { request_id: request_id.into(), span, caller: OnceLock::new() })
    }

    fn set_caller(&self, caller: &Caller) {
        // A request has one sender, so a second call has the same.
        self.caller
            .get_or_init(|| KnownCaller { project: caller.scope.project.clone(), who: caller.who.clone() });
    }

    pub(super) fn caller(&self) -> Option<&KnownCaller> {
        self.caller.get()
    }

    /// The same request, as part of the trace that its `traceparent` names. `None` without traces, or if it is invalid.
    pub(crate) fn with_traceparent(&self, traceparent: &str) -> Option<Arc<Self>> {
        self.span?;
        let span = Some(SpanContext::read(traceparent)?);
        Some(Arc::new(Self { request_id: self.request_id.clone(), span, caller: self.caller.clone() }))
    }

    /// Runs work as part of this request.
    pub(crate) fn scope<T>(self: Arc<Self>, work: impl Future<Output = T>) -> impl Future<Output = T> {
        CURRENT.scope(self, work)
    }
}

/// Records the authenticated sender of the current request.
pub(crate) fn set_caller(caller: &Caller) {
    // Outside of a request there is nothing to record.
    let _is_request = CURRENT.try_with(|request| request.set_caller(caller));
}

/// The current request, if any.
pub(crate) fn current_request() -> Option<Arc<CurrentRequest>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Work for another task that belongs to the current request.
pub(crate) fn in_current_request<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let request = current_request();
    async move {
        match request {
            Some(request) => request.scope(work).await,
            None => work.await,
        }
    }
}
