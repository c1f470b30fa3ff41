//! Station 6: the tool runs, fenced; what a client ran is taken from the client.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use super::admit::Place;
use super::context::CallContext;
use super::deliver;
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
    let (deadline, limit) = (place.deadline, place.limit);
    let (told, mut work) = match let_loose(room, entry, arguments, place, call)? {
        Loose::AtHand(output) => return Ok(output),
        Loose::AtWork(told, work) => (told, work),
    };
    let looked_at = poll_fn(|task| {
        let looked = Pin::new(&mut work).poll(task);
        if looked.is_pending() {
            call.say_begun();
        }
        looked
    });
    match until(deadline, told.token(), looked_at).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(call.failed(error)),
        Err(Stopped::Cancelled) => Err(call.cancelled()),
        Err(Stopped::Late) => Err(call.late(limit)),
    }
}

/// What came of letting a tool loose.
enum Loose<'a> {
    /// Nothing has to run.
    AtHand(ToolOutput),
    /// Whichever way the wait for it ends, a tool that is still at work somewhere is told.
    AtWork(DropGuard, Work<'a>),
}

/// Lets the tool loose, unless its answer is at hand or it was stopped meanwhile. Apart from the waiting, which so holds
/// nothing of what is only needed here.
fn let_loose<'a>(
    room: &Toolroom,
    entry: &'a Arc<Entry>,
    arguments: Arguments,
    place: Place,
    call: &mut OpenCall,
) -> Result<Loose<'a>, Exit> {
    if let Some(delivered) = call.resumed.as_mut().and_then(|resumed| resumed.delivered.take()) {
        return deliver::output(delivered).map(Loose::AtHand).map_err(|error| call.failed(error));
    }
    let Place { deadline, limit, permit, found } = place;
    if let Some(found) = found {
        return match call.request.cancellation.is_cancelled() {
            true => Err(call.cancelled()),
            false => found.map(Loose::AtHand).map_err(|error| call.failed(error)),
        };
    }
    // Before anything is let loose: who breaks off in between is a caller who went away.
    let told = call.request.cancellation.child_token().drop_guard();
    let id = call.record.id.clone();
    let progress = call.quiet_progress();
    let redactor = call.redactor.clone().unwrap_or_default();
    let clock = Arc::clone(&room.clock);
    let stop = told.token().clone();
    let context = CallContext::new(id, &mut call.request, deadline, stop, progress, redactor, clock);
    // Whoever is stopped now has not started: nothing can have happened.
    if call.request.cancellation.is_cancelled() {
        return Err(call.cancelled());
    }
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(call.late(limit));
    }
    call.started = true;
    call.untouched = context.untouched();
    let work = match entry.spec().pool {
        Pool::Inline => Work::Inline { run: start(entry, context, arguments), _permit: permit },
        Pool::Blocking => {
            let (entry, runtime) = (Arc::clone(entry), Handle::current());
            Work::Blocking(tokio::task::spawn_blocking(move || {
                // The thread takes the permit along: a place is free when the work has ended, not when the caller has
                // stopped waiting for it.
                let _permit = permit;
                // It may have waited for a thread until its call was over.
                if context.is_cancelled() {
                    return Err(ToolError::new(ErrorKind::Cancelled, "stopped before it began").by_kernel());
                }
                runtime.block_on(start(&entry, context, arguments))
            }))
        }
    };
    Ok(Loose::AtWork(told, work))
}

/// A tool at work. The kernel waits for every call, so what it waits for is kept small.
enum Work<'a> {
    /// On the task of the call.
    Inline { run: Fenced<'a, ToolOutput>, _permit: Option<OwnedSemaphorePermit> },
    /// On a thread of its own.
    Blocking(JoinHandle<Result<ToolOutput, ToolError>>),
}

impl Future for Work<'_> {
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

/// `run` itself may panic before it has made a future.
fn start(entry: &Entry, context: CallContext, arguments: Arguments) -> Fenced<'_, ToolOutput> {
    match caught(|| entry.tool.run(context, arguments)) {
        Ok(run) => Fenced::new(run),
        Err(crash) => Fenced::crashed(crash),
    }
}
