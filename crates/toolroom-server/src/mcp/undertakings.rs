//! Work that was taken on, and goes on when whoever asked for it has left. There is only so much of it for each, and it is waited for before
//! everything ends.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::refusal::Refusal;
use super::tally::{Counted, Tally};

/// So much of it for one caller.
const MOST_OF_ONE: usize = 512;

/// How long what was stopped may take to end in order.
const LAST_STEPS: Duration = Duration::from_secs(2);

/// All of it.
#[derive(Debug)]
pub(crate) struct Undertakings {
    going_on: TaskTracker,
    tally: Tally,
}

/// Some work that goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct GoingOn {
    _tracked: TaskTrackerToken,
    _counted: Option<Counted>,
}

impl Default for Undertakings {
    fn default() -> Self {
        Self { going_on: TaskTracker::new(), tally: Tally::new(MOST_OF_ONE) }
    }
}

impl Undertakings {
    /// Work that may go on for as long as it takes.
    ///
    /// # Errors
    /// When too much is done for this caller.
    pub(crate) fn begin(&self, caller: &Arc<str>) -> Result<GoingOn, Refusal> {
        let counted = self.tally.count(caller).ok_or_else(Refusal::busy)?;
        Ok(GoingOn { _tracked: self.going_on.token(), _counted: Some(counted) })
    }

    /// Work that is stopped when nobody waits for it. It only takes its last steps alone.
    pub(crate) fn begin_attended(&self) -> GoingOn {
        GoingOn { _tracked: self.going_on.token(), _counted: None }
    }

    /// How much goes on.
    pub(crate) fn len(&self) -> usize {
        self.going_on.len()
    }

    /// Waits until nothing goes on any more. What still does when `closing` is cancelled is stopped by that, and has a
    /// moment to end in order.
    pub(crate) async fn end(&self, closing: &CancellationToken) {
        self.going_on.close();
        if closing.run_until_cancelled(self.going_on.wait()).await.is_some() {
            return;
        }
        if !self.going_on.is_empty() {
            tracing::warn!("{} calls are stopped: everything ends", self.going_on.len());
        }
        if tokio::time::timeout(LAST_STEPS, self.going_on.wait()).await.is_err() {
            tracing::warn!("{} calls did not end, and are left behind", self.going_on.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_goes_on_is_waited_for_then_stopped_and_ends_in_order() {
        let (undertakings, closing) = (Arc::new(Undertakings::default()), CancellationToken::new());
        let going_on = undertakings.begin(&"a".into()).unwrap();
        let stop = closing.clone();
        let work = tokio::spawn(async move {
            stop.cancelled().await;
            drop(going_on);
        });
        let (all, ending) = (Arc::clone(&undertakings), closing.clone());
        let end = tokio::spawn(async move { all.end(&ending).await });
        tokio::task::yield_now().await;
        assert!(!end.is_finished() && !work.is_finished());
        closing.cancel();
        end.await.unwrap();
        work.await.unwrap();
    }

    #[test]
    fn nobody_has_more_than_so_much_done_for_them() {
        let undertakings = Undertakings::default();
        let caller: Arc<str> = "a".into();
        let all: Vec<GoingOn> = (0..MOST_OF_ONE).map(|_| undertakings.begin(&caller).unwrap()).collect();
        assert!(undertakings.begin(&caller).is_err() && undertakings.begin(&"b".into()).is_ok());
        drop(all);
        assert!(undertakings.begin(&caller).is_ok());
    }
}
