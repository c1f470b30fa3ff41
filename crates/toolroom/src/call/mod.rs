//! The one path of a call.
//!
//! Every tool of every kind, from every entrance, runs through [`Toolroom::call`], which reads as a table of
//! contents: a station is a file. Each station either hands on what the next one needs or ends the call; in
//! both cases `record` closes it. Nothing here waits for a person or for a client: a call that asks, or that the
//! client has to run, is parked and reported as [`Outcome::Pending`].

mod admit;
mod approve;
mod attachments;
mod context;
mod deadline;
mod deliver;
mod explain;
mod fence;
mod history;
mod open_call;
mod permit;
mod record;
mod redaction;
mod report;
mod request;
mod resolve;
mod resume;
mod run;
mod shape;
mod shorten;
mod size;
mod validate;

pub use context::CallContext;
pub use deliver::{DeliverError, Delivery};
pub use explain::Explanation;
pub(crate) use history::adds_of_call;
pub(crate) use permit::described;
pub use report::{CallReport, ClientResult, Denial, Done, Outcome, Pending};
pub use request::{CallRequest, GivenArguments, MAX_CONTEXT_BYTES, Progress, ProgressSink, UserLocation};
pub use resume::{ResumeError, ResumeRequest};
#[cfg(test)]
pub(crate) use shorten::dismantle;
pub(crate) use shorten::{shorten, shorten_text};
pub(crate) use size::{json_bytes, size_chars};
pub use tokio_util::sync::CancellationToken;

use open_call::OpenCall;
use report::Exit;

use crate::ledger::Answerer;
use crate::tool::Yields;
use crate::toolroom::Toolroom;

impl Toolroom {
    /// Makes a call and reports how it ended. Its time starts when this is called. The journal always gets a row for it: a
    /// future that is dropped, even before it was polled, counts as a caller that went away.
    pub fn call(&self, request: CallRequest) -> impl Future<Output = CallReport> + Send {
        // Outside the future, so that it holds no copy of the request.
        self.finish(OpenCall::new(self, request))
    }

    async fn finish(&self, mut call: Box<OpenCall>) -> CallReport {
        call.open(self).await;
        let outcome = match self.walk(&mut call).await {
            Ok(done) => Outcome::Done(done),
            Err(exit) => exit.into(),
        };
        let report = record::close(call, outcome).await;
        if let Some(observer) = &self.observer {
            observer(&report);
        }
        report
    }

    async fn walk(&self, call: &mut OpenCall) -> Result<Done, Exit> {
        let entry = resolve::tool(&self.catalog, call)?;
        let arguments = validate::arguments(&entry, call)?;
        history::look_back(self, &entry, &arguments, call).await.map_err(Exit::Denied)?;
        let verdict = permit::verdict(self, &entry, &arguments, call)?;
        let passed = approve::pass(self, &entry, &arguments, verdict, call).await;
        let counts_now = match &passed {
            // The client already has the arguments, so the call counts as sent.
            Err(Exit::Pending(pending)) => pending.by == Answerer::Client,
            Err(_) => false,
            // Progress may reveal what the tool has read before its result does.
            Ok(_) => entry.spec().yields == Yields::AsCapable,
        };
        if counts_now {
            history::add(self, None, call).await?;
        }
        let admission = admit::begin(&entry, &arguments, passed?, call).await?;
        let ran = run::tool(self, &entry, arguments, admission, call).await;
        history::add(self, ran.as_ref().ok(), call).await?;
        let mut output = ran?;
        if !output.attachments.is_empty() {
            // On the heap: most calls have none.
            Box::pin(attachments::store(self, std::mem::take(&mut output.attachments), call)).await;
        }
        Ok(shape::result(self, &entry, output, call))
    }
}
