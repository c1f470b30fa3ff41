//! Coalesces responses under load.
//!
//! Waking the client is most of the cost of a response, and a client that receives several at once is woken once. So a
//! response yields once before it is written, and other tasks get their responses ready. Without other tasks this costs
//! time and gains nothing: then responses skip the yield, and probe again from time to time.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

/// Responses skip the yield after this many uncontended ones in a row.
const UNCONTENDED_LIMIT: u32 = 8;

/// After this many skipped yields one response probes again.
const PROBE_INTERVAL: u32 = 64;

/// Yields before a response if other responses are about to be ready.
#[derive(Debug, Default)]
pub(super) struct AdaptiveYield {
    /// Responses so far.
    responses: AtomicU32,
    /// Responses that are yielding.
    yielding: AtomicU32,
    /// Responses in a row that were uncontended or skipped the yield.
    uncontended: AtomicU32,
}

impl AdaptiveYield {
    /// The counters are hints, so nothing keeps them consistent with each other.
    pub(super) async fn yield_if_contended(&self) {
        let response = self.responses.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let uncontended = self.uncontended.load(Ordering::Relaxed);
        let others_yield = self.yielding.load(Ordering::Relaxed) > 0;
        let skipping = UNCONTENDED_LIMIT..UNCONTENDED_LIMIT + PROBE_INTERVAL;
        if !others_yield && skipping.contains(&uncontended) {
            self.uncontended.store(uncontended + 1, Ordering::Relaxed);
            return;
        }
        let guard = YieldGuard::new(&self.yielding);
        yield_once().await;
        drop(guard);
        let was_alone = !others_yield && self.responses.load(Ordering::Relaxed) == response;
        let uncontended = match (was_alone, uncontended >= UNCONTENDED_LIMIT) {
            (true, true) => UNCONTENDED_LIMIT,
            (true, false) => uncontended + 1,
            (false, _) => 0,
        };
        self.uncontended.store(uncontended, Ordering::Relaxed);
    }
}

/// Counts a response as yielding until it is dropped.
struct YieldGuard<'a>(&'a AtomicU32);

impl<'a> YieldGuard<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for YieldGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `tokio::task::yield_now` also polls for new I/O first, which a response without contention would wait for.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Whether a response yields.
    async fn yields(adaptive: &AdaptiveYield) -> bool {
        let mut response = std::pin::pin!(adaptive.yield_if_contended());
        let first = poll_fn(|context| Poll::Ready(response.as_mut().poll(context).is_pending())).await;
        if first {
            response.await;
        }
        first
    }

    #[tokio::test]
    async fn uncontended_responses_skip_the_yield_and_probe_from_time_to_time() {
        let adaptive = AdaptiveYield::default();
        for _ in 0..UNCONTENDED_LIMIT {
            assert!(yields(&adaptive).await);
        }
        for _ in 0..3 {
            for _ in 0..PROBE_INTERVAL {
                assert!(!yields(&adaptive).await);
            }
            assert!(yields(&adaptive).await);
        }
    }

    #[tokio::test]
    async fn responses_that_are_ready_together_yield() {
        let adaptive = Arc::new(AdaptiveYield::default());
        while adaptive.uncontended.load(Ordering::Relaxed) < UNCONTENDED_LIMIT {
            adaptive.yield_if_contended().await;
        }
        for _ in 0..=PROBE_INTERVAL {
            // All are ready before the first one runs.
            let responses: Vec<_> = (0..4)
                .map(|_| {
                    let adaptive = Arc::clone(&adaptive);
                    tokio::spawn(async move { adaptive.yield_if_contended().await })
                })
                .collect();
            for response in responses {
                response.await.unwrap();
            }
        }
        assert_eq!(adaptive.uncontended.load(Ordering::Relaxed), 0, "contention is noticed");
        assert!(yields(&adaptive).await);
    }
}
