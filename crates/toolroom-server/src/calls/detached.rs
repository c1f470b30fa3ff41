//! Calls that keep running after their client disconnects. Each caller may have a limited number of them, and shutdown
//! waits for them.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{CallerLimit, CallerPermit};

/// Detached calls of one caller.
const MAX_PER_CALLER: usize = 512;

/// How long stopped calls may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// All calls that shutdown waits for.
#[derive(Debug)]
pub(crate) struct DetachedCalls {
    tracker: TaskTracker,
    limit: CallerLimit,
}

/// Shutdown waits until this is dropped.
#[derive(Debug)]
pub(crate) struct TrackedCall {
    _tracked: TaskTrackerToken,
    _permit: Option<CallerPermit>,
}

impl Default for DetachedCalls {
    fn default() -> Self {
        Self { tracker: TaskTracker::new(), limit: CallerLimit::new(MAX_PER_CALLER) }
    }
}

impl DetachedCalls {
    /// Tracks a call that may outlive its request. `None` if the caller has too many of them.
    pub(crate) fn detach(&self, caller: &Arc<str>) -> Option<TrackedCall> {
        let permit = self.limit.try_acquire(caller)?;
        Some(TrackedCall { _tracked: self.tracker.token(), _permit: Some(permit) })
    }

    /// Tracks a call that is cancelled when its client disconnects. It only needs time to end.
    pub(crate) fn track(&self) -> TrackedCall {
        TrackedCall { _tracked: self.tracker.token(), _permit: None }
    }

    /// The number of tracked calls.
    pub(crate) fn len(&self) -> usize {
        self.tracker.len()
    }

    /// Waits for all calls. Those that still run when `closing` is cancelled are stopped by it, and have
    /// [`STOP_TIMEOUT`] to end.
    pub(super) async fn shut_down(&self, closing: &CancellationToken) {
        self.tracker.close();
        if closing.run_until_cancelled(self.tracker.wait()).await.is_some() {
            return;
        }
        if !self.tracker.is_empty() {
            tracing::warn!("stopping {} calls: shutting down", self.tracker.len());
        }
        if tokio::time::timeout(STOP_TIMEOUT, self.tracker.wait()).await.is_err() {
            tracing::warn!("{} calls did not end in time and are abandoned", self.tracker.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn shutdown_waits_for_detached_calls_then_stops_them() {
        let (calls, closing) = (Arc::new(DetachedCalls::default()), CancellationToken::new());
        let tracked = calls.detach(&"a".into()).unwrap();
        let stop = closing.clone();
        let work = tokio::spawn(async move {
            stop.cancelled().await;
            drop(tracked);
        });
        let (all, ending) = (Arc::clone(&calls), closing.clone());
        let end = tokio::spawn(async move { all.shut_down(&ending).await });
        tokio::task::yield_now().await;
        assert!(!end.is_finished() && !work.is_finished());
        closing.cancel();
        end.await.unwrap();
        work.await.unwrap();
    }

    #[test]
    fn a_caller_has_a_limited_number_of_detached_calls() {
        let calls = DetachedCalls::default();
        let caller: Arc<str> = "a".into();
        let all: Vec<TrackedCall> = (0..MAX_PER_CALLER).map(|_| calls.detach(&caller).unwrap()).collect();
        assert!(calls.detach(&caller).is_none() && calls.detach(&"b".into()).is_some());
        drop(all);
        assert!(calls.detach(&caller).is_some());
    }
}
