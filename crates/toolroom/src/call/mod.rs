//! The one path of a call.
//!
//! Every tool of every kind, from every entrance, runs through [`Toolroom::call`], which reads as a table of
//! contents: a station is a file. Each station either hands on what the next one needs or ends the call; in
//! both cases `record` closes it. Nothing here waits for a person or for a client: a call that asks, or that the
//! client has to run, is parked and reported as [`Outcome::Pending`].

mod admit;
mod approve;
mod context;
mod deliver;
mod explain;
mod fence;
mod files;
mod hide;
mod history;
mod permit;
mod progress;
mod record;
mod report;
mod request;
mod resolve;
mod resume;
mod run;
mod seat;
mod shape;
mod shorten;
mod size;
mod validate;
mod wait;

pub use context::CallContext;
pub use deliver::{DeliverError, Delivery};
pub use explain::Explanation;
pub(crate) use history::adds_of_call;
pub(crate) use permit::described;
pub use report::{CallReport, ClientResult, Denial, Done, Outcome, Pending};
pub use request::{CallRequest, GivenArguments, Progress, ProgressSink};
pub use resume::{ResumeError, ResumeRequest};
pub use seat::Seat;
#[cfg(test)]
pub(crate) use shorten::dismantle;
pub(crate) use shorten::{shorten, shorten_text};
pub(crate) use size::{json_bytes, size_chars};
pub use tokio_util::sync::CancellationToken;

use record::OpenCall;
use report::Exit;

use crate::ledger::Answerer;
use crate::room::Toolroom;
use crate::tool::Yields;

impl Toolroom {
    /// Makes a call and reports how it ended. It arrives, and its time begins to count, when this is called. Whatever
    /// happens, the journal has a row for it: who drops the future, even before it was polled, is a caller who went away.
    pub fn call(&self, request: CallRequest) -> impl Future<Output = CallReport> + Send {
        // Before anybody waits, so that who waits holds no copy of the request.
        self.finish(OpenCall::new(self, request))
    }

    async fn finish(&self, mut call: Box<OpenCall>) -> CallReport {
        call.open(self).await;
        let outcome = match self.walk(&mut call).await {
            Ok(done) => Outcome::Done(done),
            Err(exit) => exit.into(),
        };
        let report = record::close(call, outcome).await;
        if let Some(witness) = &self.witness {
            witness(&report);
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
            // Progress may tell what the tool has read before its result is there.
            Ok(_) => entry.spec().yields == Yields::AsCapable,
        };
        if counts_now {
            history::add(self, None, call).await?;
        }
        let place = admit::begin(&entry, &arguments, passed?, call).await?;
        let ran = run::tool(self, &entry, arguments, place, call).await;
        history::add(self, ran.as_ref().ok(), call).await?;
        let mut output = ran?;
        if !output.attachments.is_empty() {
            // On the heap: most calls have none.
            Box::pin(files::keep(self, std::mem::take(&mut output.attachments), call)).await;
        }
        Ok(shape::result(self, &entry, output, call))
    }
}
