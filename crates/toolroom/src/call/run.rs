//! Station 6: the tool runs, fenced.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::admit::Place;
use super::context::CallContext;
use super::record::OpenCall;
use super::report::Exit;
use crate::catalog::Entry;
use crate::room::Toolroom;
use crate::tool::{Arguments, ErrorKind, Pool, ToolError, ToolOutput};

type RunResult = Result<ToolOutput, ToolError>;

/// A panic message of a tool, for the operator.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct Panic(String);

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
                let result = fenced(entry.tool.run(&context, arguments)).await;
                drop(permit);
                result
            }
            Pool::Blocking => {
                let (entry, context, runtime) = (Arc::clone(entry), context.clone(), Handle::current());
                // The thread takes the permit along: a place is free when the work has ended, not when the
                // caller has stopped waiting for it.
                let work = move || {
                    let _permit = permit;
                    runtime.block_on(fenced(entry.tool.run(&context, arguments)))
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
            let error = ToolError::new(ErrorKind::Timeout, format!("timed out after {limit:?}")).by_kernel();
            let error = match call.may_have_had_effect() {
                true => error.with_hint("the effect may have happened: check before calling again"),
                false => error,
            };
            Err(Exit::Failed(error))
        }
    }
}

/// Turns a panic of the tool into an error. The caller's own frames are not unwound.
async fn fenced(run: impl Future<Output = RunResult>) -> RunResult {
    let mut run = pin!(run);
    poll_fn(|task| {
        // The future is dropped, not polled again, after a panic: no broken state can be seen.
        catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(task))).unwrap_or_else(|payload| {
            let error =
                ToolError::new(ErrorKind::Crashed, "the tool crashed").caused_by(Panic(text_of(&*payload)));
            std::task::Poll::Ready(Err(error))
        })
    })
    .await
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
