//! How much is done for each caller at once.

use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;

/// Counts by caller.
#[derive(Debug)]
pub(crate) struct Tally {
    most: usize,
    counts: Arc<Counts>,
}

type Counts = Mutex<HashMap<Arc<str>, usize>>;

/// One that is counted, until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: Arc<Counts>,
    caller: Arc<str>,
}

impl Tally {
    /// Up to `most` for each.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    /// Counts one more. Nothing, if there are as many as there may be.
    pub(crate) fn count(&self, caller: &Arc<str>) -> Option<Counted> {
        let mut counts = lock(&self.counts);
        let count = counts.entry(Arc::clone(caller)).or_insert(0);
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Counted { counts: Arc::clone(&self.counts), caller: Arc::clone(caller) })
    }
}

impl Drop for Counted {
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
    fn everybody_has_as_many_as_everybody_else_and_nobody_more() {
        let tally = Tally::new(2);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let held = (tally.count(&a).unwrap(), tally.count(&a).unwrap());
        assert!(tally.count(&a).is_none() && tally.count(&b).is_some());
        drop(held.0);
        assert!(tally.count(&a).is_some());
        drop(held.1);
        assert!(lock(&tally.counts).is_empty(), "whoever has none is not remembered");
    }
}
