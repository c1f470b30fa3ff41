//! Station 6: the tool runs behind the panic fence. For a client tool, takes the result that the client delivered.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use super::admit::Admission;
use super::context::CallContext;
use super::deadline::{WaitError, until};
use super::deliver;
use super::fence::{Fenced, catch_panic};
use super::open_call::OpenCall;
use super::report::Exit;
use crate::catalog::Entry;
use crate::tool::{Arguments, ErrorKind, Pool, ToolError, ToolOutput};
use crate::toolroom::Toolroom;

pub(super) async fn tool(
    room: &Toolroom,
    entry: &Arc<Entry>,
    arguments: Arguments,
    admission: Admission,
    call: &mut OpenCall,
) -> Result<ToolOutput, Exit> {
    let (deadline, limit) = (admission.deadline, admission.limit);
    let (stop, mut tool) = match start(room, entry, arguments, admission, call)? {
        Started::Finished(output) => return Ok(output),
        Started::Running(stop, tool) => (stop, tool),
    };
    let polled = poll_fn(|task| {
        let polled = Pin::new(&mut tool).poll(task);
        if polled.is_pending() {
            call.write_begun();
        }
        polled
    });
    match until(deadline, stop.token(), polled).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(call.failed(error)),
        Err(WaitError::Cancelled) => Err(call.cancelled()),
        Err(WaitError::DeadlineReached) => Err(call.late(limit)),
    }
}

enum Started<'a> {
    /// The result is there already.
    Finished(ToolOutput),
    /// The tool runs. Dropping the guard tells it to stop, whichever way the wait for it ends.
    Running(DropGuard, RunningTool<'a>),
}

/// Starts the tool, unless its result is at hand or the call was stopped meanwhile. Not part of the waiting future, which
/// therefore holds nothing that only the start needs.
fn start<'a>(
    room: &Toolroom,
    entry: &'a Arc<Entry>,
    arguments: Arguments,
    admission: Admission,
    call: &mut OpenCall,
) -> Result<Started<'a>, Exit> {
    if let Some(delivered) = call.resumed.as_mut().and_then(|resumed| resumed.delivered.take()) {
        return deliver::output(delivered).map(Started::Finished).map_err(|error| call.failed(error));
    }
    let Admission { deadline, limit, permit, at_hand } = admission;
    if let Some(at_hand) = at_hand {
        return match call.request.cancellation.is_cancelled() {
            true => Err(call.cancelled()),
            false => at_hand.map(Started::Finished).map_err(|error| call.failed(error)),
        };
    }
    // Made first: a caller that goes away from here on stops the tool.
    let guard = call.request.cancellation.child_token().drop_guard();
    let id = call.record.id.clone();
    let progress = call.redacted_progress();
    let redactor = call.redactor.clone().unwrap_or_default();
    let clock = Arc::clone(&room.clock);
    let stop = guard.token().clone();
    let context = CallContext::new(id, &mut call.request, deadline, stop, progress, redactor, clock);
    // A call stopped here has not started, so it had no effect.
    if call.request.cancellation.is_cancelled() {
        return Err(call.cancelled());
    }
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(call.late(limit));
    }
    call.started = true;
    call.untouched = context.untouched();
    let tool = match entry.spec().pool {
        Pool::Inline => RunningTool::Inline { run: run(entry, context, arguments), _permit: permit },
        Pool::Blocking => {
            let (entry, runtime) = (Arc::clone(entry), Handle::current());
            RunningTool::Blocking(tokio::task::spawn_blocking(move || {
                // The thread holds the permit until the tool has ended, not until the caller stops waiting.
                let _permit = permit;
                // The call may have ended while it waited for a thread.
                if context.is_cancelled() {
                    return Err(ToolError::new(ErrorKind::Cancelled, "stopped before it began").by_kernel());
                }
                runtime.block_on(run(&entry, context, arguments))
            }))
        }
    };
    Ok(Started::Running(guard, tool))
}

/// A running tool. Small, as every call's future holds it.
enum RunningTool<'a> {
    /// On the task of the call.
    Inline { run: Fenced<'a, ToolOutput>, _permit: Option<OwnedSemaphorePermit> },
    /// On a thread of its own.
    Blocking(JoinHandle<Result<ToolOutput, ToolError>>),
}

impl Future for RunningTool<'_> {
    type Output = Result<ToolOutput, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Inline { run, .. } => Pin::new(run).poll(task),
            Self::Blocking(thread) => Pin::new(thread).poll(task).map(|ended| {
                ended.unwrap_or_else(|error| {
                    let stopped = ToolError::new(ErrorKind::Crashed, "the tool was stopped");
                    Err(stopped.caused_by(error).by_kernel())
                })
            }),
        }
    }
}

/// `Tool::run` may panic before it returns a future.
fn run(entry: &Entry, context: CallContext, arguments: Arguments) -> Fenced<'_, ToolOutput> {
    match catch_panic(|| entry.tool.run(context, arguments)) {
        Ok(run) => Fenced::new(run),
        Err(crash) => Fenced::crashed(crash),
    }
}
