//! Station 6: the tool runs, fenced.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::admit::Place;
use super::context::CallContext;
use super::fence::{caught, fenced};
use super::record::OpenCall;
use super::report::Exit;
use crate::catalog::Entry;
use crate::room::Toolroom;
use crate::tool::{Arguments, ErrorKind, Pool, ToolError, ToolOutput};

pub(super) async fn tool(
    room: &Toolroom,
    entry: &Arc<Entry>,
    arguments: Arguments,
    place: Place,
    call: &mut OpenCall,
) -> Result<ToolOutput, Exit> {
    let context =
        CallContext::new(call.record.id.clone(), &mut call.request, place.deadline, Arc::clone(&room.clock));
    let Place { deadline, limit, permit } = place;
    let run = async {
        match entry.spec().pool {
            Pool::Inline => {
                let result = start(entry, &context, arguments).await;
                drop(permit);
                result
            }
            Pool::Blocking => {
                let (entry, context, runtime) = (Arc::clone(entry), context.clone(), Handle::current());
                // The thread takes the permit along: a place is free when the work has ended, not when the
                // caller has stopped waiting for it.
                let work = move || {
                    let _permit = permit;
                    runtime.block_on(start(&entry, &context, arguments))
                };
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                    Err(ToolError::new(ErrorKind::Crashed, "the tool was stopped").caused_by(error))
                })
            }
        }
    };
    let in_time = async {
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, run).await.ok(),
            None => Some(run.await),
        }
    };
    let result = tokio::select! {
        biased;
        () = call.request.cancellation.cancelled() => return Err(call.cancelled()),
        result = in_time => result,
    };
    match result {
        Some(result) => result.map_err(Exit::Failed),
        None => {
            let limit = limit.unwrap_or_default();
            let error = ToolError::new(ErrorKind::Timeout, format!("timed out after {limit:?}"));
            Err(Exit::Failed(call.with_doubt(error.by_kernel())))
        }
    }
}

/// `run` itself may panic before it has made a future.
async fn start(entry: &Entry, context: &CallContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    fenced(caught(|| entry.tool.run(context, arguments))?).await
}
