//! Work that somebody waits for.
//!
//! When they go away it ends in order, on a task of its own: soon, if they stop it by going. As long as they wait it needs
//! none.

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

/// Some work, and how to stop it.
pub(crate) struct CancelOnDisconnect<T: Send + 'static> {
    /// None once it is over.
    work: Option<BoxFuture<'static, T>>,
    /// None, if it goes on whoever leaves.
    stop: Option<CancellationToken>,
}

/// Work that broke in the middle.
#[derive(Debug, thiserror::Error)]
#[error("it broke off: {0}")]
struct Broken(String);

impl<T: Send + 'static> CancelOnDisconnect<T> {
    /// `stop` makes the work end soon.
    pub(crate) fn new(stop: CancellationToken, work: BoxFuture<'static, T>) -> Self {
        Self { work: Some(work), stop: Some(stop) }
    }

    /// Work that is done to its end, whoever leaves.
    pub(crate) fn lasting(work: BoxFuture<'static, T>) -> Self {
        Self { work: Some(work), stop: None }
    }

    /// Lets it go on by itself, for somebody who does other things meanwhile. Whoever drops the guard has left. Nothing,
    /// if it is over.
    pub(crate) fn apart(mut self) -> Option<(JoinHandle<T>, Option<DropGuard>)> {
        let (work, stop) = (self.work.take()?, self.stop.take());
        Some((tokio::spawn(telemetry::carried(work)), stop.map(CancellationToken::drop_guard)))
    }
}

impl<T: Send + 'static> Future for CancelOnDisconnect<T> {
    type Output = Result<T, Problem>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        // What broke is never looked at again.
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(done)) => {
                self.work = None;
                Poll::Ready(Ok(done))
            }
            Err(panic) => {
                self.work = None;
                Poll::Ready(Err(Problem::failure(&Broken(words(panic.as_ref())))))
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
        // Without a runtime everything ends here.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(telemetry::carried(work));
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_whose_sender_goes_away_is_stopped_and_ends_in_order() {
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
    async fn work_that_lasts_goes_on_without_its_sender() {
        let ((go_on, waits), (ended, told)) = (oneshot::channel(), oneshot::channel());
        let mut work = Box::pin(CancelOnDisconnect::lasting(Box::pin(async move {
            let word: &str = waits.await.unwrap();
            ended.send(word).unwrap();
        })));
        assert!(is_pending(work.as_mut()).await);
        drop(work);
        go_on.send("to the end").unwrap();
        assert_eq!(told.await.unwrap(), "to the end");
    }

    #[tokio::test]
    async fn work_that_breaks_is_a_problem_and_nothing_more() {
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
