//! A panic of a tool stays inside its call.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::tool::{ErrorKind, ToolError};

/// The message of a tool's panic, for the operator.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct Panic(String);

/// Calls into a tool. A panic becomes an error of kind *crashed*.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, ToolError> {
    // What the tool leaves half done is its own: nothing of ours is reachable from the closure but by reference.
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| crashed(&*payload))
}

/// Polls a tool's future. After a panic it is dropped, never polled again.
pub(super) async fn fenced<T>(run: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
    let mut run = pin!(run);
    poll_fn(|task| caught(|| run.as_mut().poll(task)).unwrap_or_else(|error| Poll::Ready(Err(error)))).await
}

fn crashed(payload: &(dyn Any + Send)) -> ToolError {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let panic = Panic(text.unwrap_or("without a message").to_owned());
    ToolError::new(ErrorKind::Crashed, "the tool crashed").caused_by(panic)
}
