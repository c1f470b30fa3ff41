//! Makes and resumes calls for all interfaces.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolroom::Toolroom;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest};

use super::{DetachedCalls, RunningCalls};
use crate::telemetry::{self, Tracer};

/// Makes calls, and keeps track of those that run.
pub(crate) struct CallService {
    room: Toolroom,
    /// Exports traces, if a collector is configured.
    tracer: Option<Arc<Tracer>>,
    running: Arc<RunningCalls>,
    detached: DetachedCalls,
    /// Cancelled shortly before the process ends: stops the calls that still run.
    closing: CancellationToken,
}

impl CallService {
    pub(crate) fn new(room: Toolroom, tracer: Option<Arc<Tracer>>) -> Self {
        Self {
            room,
            tracer,
            running: Arc::default(),
            detached: DetachedCalls::default(),
            closing: CancellationToken::new(),
        }
    }

    /// Makes a call. Until it ends, a request with an id can be cancelled through [`Self::running`].
    pub(crate) fn call(&self, request: CallRequest) -> impl Future<Output = CallReport> + Send {
        let registered = request.id.clone().map(|id| {
            RunningCalls::register(&self.running, id, request.scope.clone(), request.cancellation.clone())
        });
        // Boxed, because the block below would hold it twice: as captured and as awaited.
        let call = Box::pin(self.room.call(request));
        async move {
            let report = call.await;
            drop(registered);
            self.trace(&report);
            report
        }
    }

    /// Runs a parked call.
    ///
    /// # Errors
    /// When there is nothing to run.
    pub(crate) async fn resume(&self, request: ResumeRequest) -> Result<CallReport, ResumeError> {
        let (call, stop) = (request.call.clone(), request.cancellation.clone());
        let registered = RunningCalls::register(&self.running, call, request.scope.clone(), stop);
        let resumed = self.room.resume(request).await;
        drop(registered);
        resumed.inspect(|report| self.trace(report))
    }

    /// The calls that run in this process.
    pub(crate) fn running(&self) -> &RunningCalls {
        &self.running
    }

    /// The calls that outlive their request.
    pub(crate) const fn detached(&self) -> &DetachedCalls {
        &self.detached
    }

    /// Cancelled when the process shuts down.
    pub(crate) const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Waits for detached calls to end. Those that still run when [`Self::closing`] is cancelled are stopped.
    pub(crate) async fn shut_down(&self) {
        self.detached.shut_down(&self.closing).await;
    }

    fn trace(&self, report: &CallReport) {
        let span = self.tracer.as_ref().zip(telemetry::current_request().and_then(|request| request.span));
        if let Some((tracer, span)) = span {
            tracer.call(span, report);
        }
    }
}
