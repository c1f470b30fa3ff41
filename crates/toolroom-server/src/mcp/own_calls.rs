//! The calls of the one client that started us.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest, Seat};

use super::desk::Calls;
use super::undertakings::Undertakings;
use crate::app::App;
use crate::running_calls::RunningCalls;

/// Makes them, and knows which ones run.
pub(super) struct OwnCalls {
    app: Arc<App>,
    /// Those that run, to be stopped by their name.
    running: Arc<RunningCalls>,
    undertakings: Undertakings,
    closing: CancellationToken,
}

impl OwnCalls {
    /// `closing` stops what still runs.
    pub(super) fn new(app: Arc<App>, closing: CancellationToken) -> Self {
        Self { app, running: Arc::default(), undertakings: Undertakings::default(), closing }
    }
}

impl Calls for OwnCalls {
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport> {
        let id = request.id.clone();
        let enter = |id| self.running.enter(id, request.scope.clone(), request.cancellation.clone());
        let running = id.map(enter);
        // Whoever starts us sits at this machine.
        // In a box of its own: the other one would keep it twice, as what it was given and as what it waits for.
        let call = Box::pin(self.app.room.call(request.seat(Seat::Here)));
        Box::pin(async move {
            let report = call.await;
            drop(running);
            report
        })
    }

    fn running(&self) -> &RunningCalls {
        &self.running
    }

    fn undertakings(&self) -> &Undertakings {
        &self.undertakings
    }

    fn closing(&self) -> CancellationToken {
        self.closing.child_token()
    }

    fn resume(&self, request: ResumeRequest) -> BoxFuture<'_, Result<CallReport, ResumeError>> {
        Box::pin(async move {
            let (call, stop) = (request.call.clone(), request.cancellation.clone());
            let _running = self.running.enter(call, request.scope.clone(), stop);
            self.app.room.resume(request).await
        })
    }
}
