//! Calls of clients, as this server makes them: they can be stopped by their name, and are traced.

use tokio_util::sync::CancellationToken;
use toolroom::BoxFuture;
use toolroom::call::{CallReport, CallRequest, ResumeError, ResumeRequest};
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

use crate::http::server::Server;
use crate::mcp::{Calls, Undertakings};

impl Calls for Server {
    fn call(&self, request: CallRequest) -> BoxFuture<'_, CallReport> {
        Box::pin(async move {
            let running = request
                .id
                .clone()
                .map(|id| self.running.enter(id, request.scope.clone(), request.cancellation.clone()));
            let report = self.app.room.call(request).await;
            drop(running);
            self.trace_call(&report);
            report
        })
    }

    fn stop(&self, scope: &Scope, call: &CallId) -> bool {
        self.running.stop(scope, call)
    }

    fn is_running(&self, scope: &Scope, call: &CallId) -> bool {
        self.running.knows(scope, call)
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
