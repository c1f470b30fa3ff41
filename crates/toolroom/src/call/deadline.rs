//! Waits for a result until the deadline or cancellation.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a wait ended without its result.
pub(super) enum WaitError {
    /// The caller stopped the call.
    Cancelled,
    /// The deadline was reached.
    DeadlineReached,
}

pub(super) async fn until<T>(
    deadline: Option<Instant>,
    cancellation: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, WaitError> {
    // A ready result wins below, so check the deadline first.
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(WaitError::DeadlineReached);
    }
    let mut work = pin!(work);
    let mut cancelled = pin!(cancellation.cancelled());
    let mut late = pin!(None);
    // Most work is ready at the first poll, which then registers neither a waiter nor a timer.
    poll_fn(|task| {
        if cancellation.is_cancelled() {
            return Poll::Ready(Err(WaitError::Cancelled));
        }
        if let Poll::Ready(result) = work.as_mut().poll(task) {
            return Poll::Ready(Ok(result));
        }
        if cancelled.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(WaitError::Cancelled));
        }
        if late.is_none() {
            late.set(deadline.map(tokio::time::sleep_until));
        }
        match late.as_mut().as_pin_mut() {
            Some(late) => late.poll(task).map(|()| Err(WaitError::DeadlineReached)),
            None => Poll::Pending,
        }
    })
    .await
}
