//! Places among the requests that are worked on, and among those whose bodies are still on their way.
//!
//! Both kinds are bounded, and no caller takes more than half of either: a key that is lost or a program that runs wild
//! leaves room for the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::identity::{Caller, Who};

/// Shares that are kept without being used, before they are looked through.
const IDLE: usize = 1_000;

/// A bounded number of places.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    /// The most places of one caller.
    share: usize,
    shares: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place that is taken, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct TakenPlace {
    _of_all: OwnedSemaphorePermit,
    _of_share: Option<OwnedSemaphorePermit>,
}

/// Why no place was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// All are taken.
    Full,
    /// This caller has its share.
    ShareUsed,
}

impl Places {
    pub(crate) fn new(all: usize) -> Self {
        let share = all.div_ceil(2);
        Self { all: Arc::new(Semaphore::new(all)), share, shares: Mutex::default() }
    }

    /// Takes a place, in the share of the caller's key where there is one. A user of an app counts as the key that made
    /// their token.
    pub(crate) fn take(&self, caller: Option<&Caller>) -> Result<TakenPlace, NoPlace> {
        let key = caller.and_then(|caller| match &caller.who {
            Who::Owner => None,
            Who::Key(key) => Some(key.id.as_str()),
            Who::EndUser(user) => Some(user.key.as_str()),
        });
        let of_share = key.map(|key| self.share_of(key).try_acquire_owned()).transpose();
        let _of_share = of_share.map_err(|_| NoPlace::ShareUsed)?;
        let _of_all = Arc::clone(&self.all).try_acquire_owned().map_err(|_| NoPlace::Full)?;
        Ok(TakenPlace { _of_all, _of_share })
    }

    fn share_of(&self, key: &str) -> Arc<Semaphore> {
        // No code panics while it holds the lock.
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(key) {
            return Arc::clone(share);
        }
        if shares.len() >= IDLE {
            shares.retain(|_, share| share.available_permits() < self.share);
        }
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(key.to_owned(), Arc::clone(&share));
        share
    }
}
