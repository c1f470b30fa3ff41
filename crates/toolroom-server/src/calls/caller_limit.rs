//! A concurrency limit per caller.

use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;

/// Hands out up to `limit` permits to each caller.
#[derive(Debug)]
pub(crate) struct CallerLimit {
    limit: usize,
    counts: Arc<Counts>,
}

type Counts = Mutex<HashMap<Arc<str>, usize>>;

/// A permit; returned when it is dropped.
#[derive(Debug)]
pub(crate) struct CallerPermit {
    counts: Arc<Counts>,
    caller: Arc<str>,
}

impl CallerLimit {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, counts: Arc::default() }
    }

    /// A permit, or `None` if the caller holds as many as it may.
    pub(crate) fn try_acquire(&self, caller: &Arc<str>) -> Option<CallerPermit> {
        let mut counts = lock(&self.counts);
        let count = counts.entry(Arc::clone(caller)).or_insert(0);
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(CallerPermit { counts: Arc::clone(&self.counts), caller: Arc::clone(caller) })
    }
}

impl Drop for CallerPermit {
    fn drop(&mut self) {
        if let Entry::Occupied(mut count) = lock(&self.counts).entry(Arc::clone(&self.caller)) {
            match count.get().saturating_sub(1) {
                0 => drop(count.remove()),
                less => drop(count.insert(less)),
            }
        }
    }
}

fn lock(counts: &Counts) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_own_permits_and_none_beyond_the_limit() {
        let limit = CallerLimit::new(2);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let held = (limit.try_acquire(&a).unwrap(), limit.try_acquire(&a).unwrap());
        assert!(limit.try_acquire(&a).is_none() && limit.try_acquire(&b).is_some());
        drop(held.0);
        assert!(limit.try_acquire(&a).is_some());
        drop(held.1);
        assert!(lock(&limit.counts).is_empty(), "a caller without permits is not remembered");
    }
}
