//! The request that is being worked on. Every line of log that is written meanwhile says which one it was.

use std::fmt;
use std::sync::{Arc, OnceLock};

use toolroom::scope::ProjectId;

use super::traces::SpanContext;
use crate::identity::{Caller, Who};

tokio::task_local! {
    static VISIT: Arc<Visit>;
}

/// One request.
#[derive(Debug)]
pub(crate) struct Visit {
    /// What it is called, here and by whoever sent it.
    pub(crate) request_id: Box<str>,
    /// What it is in its trace, if there are traces.
    pub(crate) span: Option<SpanContext>,
    caller: OnceLock<KnownCaller>,
}

/// Who sent it. Told of it is what a log may know: never the key itself, and nothing about a person.
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
    /// The id of the key, if it came with one.
    pub(super) fn key(&self) -> Option<&str> {
        match &self.who {
            Who::Owner => None,
            Who::Key(key) => Some(&key.id),
            Who::EndUser(user) => Some(&user.key),
        }
    }
}

impl Visit {
    pub(crate) fn new(request_id: String, span: Option<SpanContext>) -> Arc<Self> {
        Arc::new(Self { request_id: request_id.into(), span, caller: OnceLock::new() })
    }

    fn is_of(&self, caller: &Caller) {
        // A request has one sender, so whoever was there first is the same.
        self.caller
            .get_or_init(|| KnownCaller { project: caller.scope.project.clone(), who: caller.who.clone() });
    }

    pub(super) fn caller(&self) -> Option<&KnownCaller> {
        self.caller.get()
    }

    /// The same request, as part of the trace that it names itself (`traceparent`). Nothing, where there are no traces or
    /// that is none.
    pub(crate) fn within(&self, traceparent: &str) -> Option<Arc<Self>> {
        self.span?;
        let span = Some(SpanContext::read(traceparent)?);
        Some(Arc::new(Self { request_id: self.request_id.clone(), span, caller: self.caller.clone() }))
    }

    /// Does some work for this request.
    pub(crate) fn during<T>(self: Arc<Self>, work: impl Future<Output = T>) -> impl Future<Output = T> {
        VISIT.scope(self, work)
    }
}

/// Somebody was recognised as the sender of the request that is being worked on here.
pub(crate) fn is_of(caller: &Caller) {
    // Without a request there is nobody to be told of.
    let _told = VISIT.try_with(|visit| visit.is_of(caller));
}

/// The request that is being worked on here.
pub(crate) fn current() -> Option<Arc<Visit>> {
    VISIT.try_with(Arc::clone).ok()
}

/// Work that goes on in a task of its own, for the same request.
pub(crate) fn carried<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let visit = current();
    async move {
        match visit {
            Some(visit) => visit.during(work).await,
            None => work.await,
        }
    }
}
