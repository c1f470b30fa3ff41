//! How many calls of one tool run at a time, and how many wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many calls of one tool may wait for a place. Who comes later is told to come back.
const QUEUE_PER_TOOL: usize = 256;

/// The places of a tool that limits how many of its calls run at a time in this process.
pub(crate) struct Places {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Places {
    pub(super) fn new(places: usize) -> Option<Self> {
        (1..=Semaphore::MAX_PERMITS)
            .contains(&places)
            .then(|| Self { free: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0) })
    }

    /// Takes a place if one is free.
    pub(crate) fn try_take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Waits for a place. `None` when too many wait already.
    pub(crate) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        let _in_queue = InQueue::join(&self.waiting)?;
        // Nobody closes the semaphore, so this always ends in a place.
        Arc::clone(&self.free).acquire_owned().await.ok()
    }
}

/// Counts one waiter; leaving the queue, also by giving up, gives the count back.
struct InQueue<'a>(&'a AtomicUsize);

impl<'a> InQueue<'a> {
    fn join(waiting: &'a AtomicUsize) -> Option<Self> {
        let room = |count: usize| (count < QUEUE_PER_TOOL).then_some(count.saturating_add(1));
        waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok().map(|_| Self(waiting))
    }
}

impl Drop for InQueue<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
