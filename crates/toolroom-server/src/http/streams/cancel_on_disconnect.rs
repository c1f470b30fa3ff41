//! Work for a client that may disconnect.
//!
//! Dropping the future moves the work to a task of its own, where it ends in order: cancelled, or to its end. While the
//! client waits, no task is needed.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolroom::BoxFuture;

use crate::http::problem::Problem;
use crate::telemetry;

/// Work, and how to cancel it when the client disconnects.
pub(crate) struct CancelOnDisconnect<T: Send + 'static> {
    /// `None` once it is done.
    work: Option<BoxFuture<'static, T>>,
    /// `None` if it runs to its end without the client.
    stop: Option<CancellationToken>,
}

/// Work that panicked.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
struct WorkPanicked(String);

impl<T: Send + 'static> CancelOnDisconnect<T> {
    /// `stop` cancels the work.
    pub(crate) fn new(stop: CancellationToken, work: BoxFuture<'static, T>) -> Self {
        Self { work: Some(work), stop: Some(stop) }
    }

    /// Work that runs to its end without the client.
    pub(crate) fn detached(work: BoxFuture<'static, T>) -> Self {
        Self { work: Some(work), stop: None }
    }

    /// Spawns the work. Dropping the guard cancels it. `None` if it is done.
    pub(crate) fn spawn(mut self) -> Option<(JoinHandle<T>, Option<DropGuard>)> {
        let (work, stop) = (self.work.take()?, self.stop.take());
        Some((tokio::spawn(telemetry::in_current_request(work)), stop.map(CancellationToken::drop_guard)))
    }
}

impl<T: Send + 'static> Future for CancelOnDisconnect<T> {
    type Output = Result<T, Problem>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        // After a panic the work is not polled again.
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(done)) => {
                self.work = None;
                Poll::Ready(Ok(done))
            }
            Err(panic) => {
                self.work = None;
                Poll::Ready(Err(Problem::failure(&WorkPanicked(message(panic.as_ref())))))
            }
        }
    }
}

impl<T: Send + 'static> Drop for CancelOnDisconnect<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        if let Some(stop) = &self.stop {
            stop.cancel();
        }
        // Without a runtime the process is ending.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(telemetry::in_current_request(work));
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_is_cancelled_and_ends_in_order_when_its_client_disconnects() {
        let (stop, (ended, told)) = (CancellationToken::new(), oneshot::channel());
        let stopped = stop.clone();
        let mut work = Box::pin(CancelOnDisconnect::new(
            stop,
            Box::pin(async move {
                stopped.cancelled().await;
                ended.send("in order").unwrap();
            }),
        ));
        assert!(is_pending(work.as_mut()).await);
        drop(work);
        assert_eq!(told.await.unwrap(), "in order");
    }

    #[tokio::test]
    async fn detached_work_runs_to_its_end_without_its_client() {
        let ((go_on, waits), (ended, told)) = (oneshot::channel(), oneshot::channel());
        let mut work = Box::pin(CancelOnDisconnect::detached(Box::pin(async move {
            let word: &str = waits.await.unwrap();
            ended.send(word).unwrap();
        })));
        assert!(is_pending(work.as_mut()).await);
        drop(work);
        go_on.send("to the end").unwrap();
        assert_eq!(told.await.unwrap(), "to the end");
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_and_nothing_more() {
        let stop = CancellationToken::new();
        let broken =
            CancelOnDisconnect::<()>::new(stop.clone(), Box::pin(async { panic!("a mistake") })).await;
        assert_eq!(broken.unwrap_err().status.as_u16(), 500);
        assert!(!stop.is_cancelled(), "there is nothing left to stop");
    }

    async fn is_pending<T: Send + 'static>(mut work: Pin<&mut CancelOnDisconnect<T>>) -> bool {
        std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context).is_pending())).await
    }
}
