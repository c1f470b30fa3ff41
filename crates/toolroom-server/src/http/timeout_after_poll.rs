//! Waiting, but not for ever.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;

/// What comes of some work within that time; nothing, if it takes longer. Most work here is done at the first look, and
/// then nobody looks at the clock.
pub(super) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => timeout(limit, work).await.ok(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_given_up() {
        let limit = Duration::from_secs(1);
        let began = Instant::now();
        assert_eq!(within(limit, async { 1 }).await, Some(1));
        assert_eq!(within(limit, async { sleep(limit / 2).await }).await, Some(()));
        assert_eq!(within(limit, std::future::pending::<()>()).await, None);
        assert_eq!(began.elapsed().as_millis() / 100, 15);
    }
}
