//! Calls of clients, as this server makes them: they can be stopped by their name, and are traced.

use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest};

use crate::http::server::Server;
use crate::mcp::{Calls, Undertakings};
use crate::running_calls::RunningCalls;

impl Calls for Server {
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport> {
        let running = request
            .id
            .clone()
            .map(|id| self.running.enter(id, request.scope.clone(), request.cancellation.clone()));
        // In a box of its own: the other one would keep it twice, as what it was given and as what it waits for.
        let call = Box::pin(self.app.room.call(request));
        Box::pin(async move {
            let report = call.await;
            drop(running);
            self.trace_call(&report);
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
            let running = self.running.enter(call, request.scope.clone(), stop);
            let resumed = self.app.room.resume(request).await;
            drop(running);
            resumed.inspect(|report| self.trace_call(report))
        })
    }
}
