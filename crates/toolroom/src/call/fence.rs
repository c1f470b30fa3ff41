//! The panic fence: a panic of a tool stays inside its call.

use std::any::Any;
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::BoxFuture;
use crate::tool::{ErrorKind, ToolError};

/// The message of a tool's panic, for the operator.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct Panic(String);

/// Calls into a tool. A panic becomes an error of kind *crashed*.
pub(super) fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, ToolError> {
    // The closure reaches our state by shared reference only.
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let text = crashed(&*payload);
        // Dropping the payload may panic again; then it is leaked.
        drop(catch_unwind(AssertUnwindSafe(|| drop(payload))));
        text
    })
}

fn crashed(payload: &(dyn Any + Send)) -> ToolError {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let panic = Panic(text.unwrap_or("without a message").to_owned());
    ToolError::new(ErrorKind::Crashed, "the tool crashed").caused_by(panic).by_kernel()
}

/// A tool's future, polled and dropped behind the fence.
pub(super) struct Fenced<'a, T>(Option<BoxFuture<'a, Result<T, ToolError>>>);

impl<'a, T> Fenced<'a, T> {
    pub(super) fn new(run: BoxFuture<'a, Result<T, ToolError>>) -> Self {
        Self(Some(run))
    }

    /// A future for a tool that panicked before it returned one.
    pub(super) fn crashed(crash: ToolError) -> Self
    where
        T: Send + 'a,
    {
        Self::new(Box::pin(ready(Err(crash))))
    }

    fn drop_run(&mut self) -> Result<(), ToolError> {
        let run = self.0.take();
        catch_panic(|| drop(run))
    }
}

impl<T> Future for Fenced<'_, T> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(run) = self.0.as_mut() else {
            return Poll::Ready(Err(ToolError::new(ErrorKind::Crashed, "the tool has ended already")));
        };
        let result = match catch_panic(|| run.as_mut().poll(task)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => result,
            Err(crash) => Err(crash),
        };
        Poll::Ready(self.drop_run().and(result))
    }
}

impl<T> Drop for Fenced<'_, T> {
    fn drop(&mut self) {
        if self.drop_run().is_err() {
            // Without the cause: the tool's text is not redacted.
            tracing::error!("a tool crashed while it was being stopped");
        }
    }
}
