//! Answers that leave together.
//!
//! Most of what an answer costs is to wake whoever waits for it, and whoever hears many at once is woken once. So one that
//! is ready lets everybody run who is ready to work before it leaves. Where nobody is, nothing is gained by that: whoever
//! was alone for a while leaves at once, and only looks around now and then.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

/// Whoever was alone so often in a row does not look around.
const ALONE: u32 = 8;

/// After so many who did not, one looks around again.
const LOOK_EVERY: u32 = 64;

/// Knows whether there is company.
#[derive(Debug, Default)]
pub(super) struct Company {
    /// How many came so far.
    came: AtomicU32,
    /// How many of them look around.
    looking: AtomicU32,
    /// How many in a row were alone, or did not look.
    alone: AtomicU32,
}

impl Company {
    /// Waits for others, if there are any. The counts are no more than hints, so nothing holds them together.
    pub(super) async fn gather(&self) {
        let place = self.came.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let alone = self.alone.load(Ordering::Relaxed);
        let others_look = self.looking.load(Ordering::Relaxed) > 0;
        if !others_look && (ALONE..ALONE + LOOK_EVERY).contains(&alone) {
            self.alone.store(alone + 1, Ordering::Relaxed);
            return;
        }
        let looking = Looking::new(&self.looking);
        let_others_run().await;
        drop(looking);
        let is_alone = !others_look && self.came.load(Ordering::Relaxed) == place;
        let alone = match (is_alone, alone >= ALONE) {
            (true, true) => ALONE,
            (true, false) => alone + 1,
            (false, _) => 0,
        };
        self.alone.store(alone, Ordering::Relaxed);
    }
}

/// Somebody who looks around, until this is dropped.
struct Looking<'a>(&'a AtomicU32);

impl<'a> Looking<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `tokio::task::yield_now` also looks for new work first, and whoever is alone would wait for that.
async fn let_others_run() {
    let mut is_back = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_back, true) {
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

    /// Whether somebody looks around.
    async fn looks(company: &Company) -> bool {
        let mut gathered = std::pin::pin!(company.gather());
        let first = poll_fn(|context| Poll::Ready(gathered.as_mut().poll(context).is_pending())).await;
        if first {
            gathered.await;
        }
        first
    }

    #[tokio::test]
    async fn whoever_is_alone_leaves_at_once_and_looks_now_and_then() {
        let company = Company::default();
        for _ in 0..ALONE {
            assert!(looks(&company).await);
        }
        for _ in 0..3 {
            for _ in 0..LOOK_EVERY {
                assert!(!looks(&company).await);
            }
            assert!(looks(&company).await);
        }
    }

    #[tokio::test]
    async fn those_who_come_together_leave_together() {
        let company = Arc::new(Company::default());
        while company.alone.load(Ordering::Relaxed) < ALONE {
            company.gather().await;
        }
        for _ in 0..=LOOK_EVERY {
            // All of them are ready before the first one runs.
            let crowd: Vec<_> = (0..4)
                .map(|_| {
                    let company = Arc::clone(&company);
                    tokio::spawn(async move { company.gather().await })
                })
                .collect();
            for one in crowd {
                one.await.unwrap();
            }
        }
        assert_eq!(company.alone.load(Ordering::Relaxed), 0, "they have found each other");
        assert!(looks(&company).await);
    }
}
