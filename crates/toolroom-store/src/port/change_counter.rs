//! Cross-process cache invalidation: a revision that changes whenever switches, keys, rules or secrets are committed.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

/// Cached settings are re-read after this time even if the revision is unchanged. Bounds the staleness when a process
/// dies between its commit and [`ChangeCounter::bump`].
pub(crate) const MAX_CACHE_AGE: Duration = Duration::from_secs(1);

/// An opaque revision. Only equality means anything.
pub type Revision = [u8; 16];

/// A revision shared by all processes of one database.
pub trait ChangeCounter: Debug + Send + Sync {
    /// The current revision, or `None` if it cannot be read: the caller must not use its cache.
    fn read(&self) -> Option<Revision>;

    /// Replaces the revision.
    ///
    /// # Errors
    /// If it cannot be written. Other processes then notice after a second, when their caches expire.
    fn bump(&self) -> io::Result<()>;
}

/// Invalidates the caches of all processes. When this returns, no process uses settings older than the commit before it.
pub(crate) async fn invalidate(counter: &dyn ChangeCounter) {
    if let Err(error) = counter.bump() {
        tracing::debug!("cannot bump the change counter, waiting for caches to expire: {error}");
        tokio::time::sleep(MAX_CACHE_AGE).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[derive(Debug)]
    struct FakeCounter {
        is_full: bool,
    }

    impl ChangeCounter for FakeCounter {
        fn read(&self) -> Option<Revision> {
            None
        }

        fn bump(&self) -> io::Result<()> {
            if self.is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn invalidate_waits_for_caches_to_expire_if_the_counter_cannot_be_written() {
        let began = Instant::now();
        invalidate(&FakeCounter { is_full: false }).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        invalidate(&FakeCounter { is_full: true }).await;
        assert!(began.elapsed() >= MAX_CACHE_AGE);
    }
}
