//! Station 6: the tool runs, fenced.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::admit::Place;
use super::context::CallContext;
use super::fence::{Fenced, caught};
use super::record::OpenCall;
use super::report::Exit;
use super::wait::{Stopped, until};
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
    let Place { deadline, limit, permit } = place;
    // Whichever way this function ends, a tool that is still at work somewhere is told.
    let stop = call.request.cancellation.child_token();
    let _told = stop.clone().drop_guard();
    let id = call.record.id.clone();
    let progress = call.quiet_progress();
    let context = CallContext::new(id, &mut call.request, deadline, stop, progress, Arc::clone(&room.clock));
    let run = async {
        match entry.spec().pool {
            Pool::Inline => {
                let result = start(entry, context, arguments).await;
                drop(permit);
                result
            }
            Pool::Blocking => {
                let (entry, runtime) = (Arc::clone(entry), Handle::current());
                // The thread takes the permit along: a place is free when the work has ended, not when the
                // caller has stopped waiting for it.
                let work = move || {
                    let _permit = permit;
                    // It may have waited for a thread until its call was over.
                    if context.is_cancelled() {
                        return Err(
                            ToolError::new(ErrorKind::Cancelled, "stopped before it began").by_kernel()
                        );
                    }
                    runtime.block_on(start(&entry, context, arguments))
                };
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                    Err(ToolError::new(ErrorKind::Crashed, "the tool was stopped")
                        .caused_by(error)
                        .by_kernel())
                })
            }
        }
    };
    // Whoever is stopped now has not started: nothing can have happened.
    if call.request.cancellation.is_cancelled() {
        return Err(call.cancelled());
    }
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(call.late(limit));
    }
    call.started = true;
    match until(deadline, &call.request.cancellation, run).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(call.failed(error)),
        Err(Stopped::Cancelled) => Err(call.cancelled()),
        Err(Stopped::Late) => Err(call.late(limit)),
    }
}

/// `run` itself may panic before it has made a future.
async fn start(entry: &Entry, context: CallContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    Fenced::new(caught(|| entry.tool.run(context, arguments))?).await
}
