//! Responses of the last minutes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolroom::clock::{Clock, Timestamp};
use toolroom::scope::ProjectId;

use super::engine::{EngineKind, SearchHit};

const LIFETIME: Duration = Duration::from_secs(15 * 60);

const MAX_ENTRIES: usize = 50;

/// Identifies a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheKey {
    project: ProjectId,
    query: String,
    count: usize,
}

impl CacheKey {
    /// Case and spacing do not matter.
    pub(super) fn new(project: &ProjectId, query: &str, count: usize) -> Self {
        let query = query.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        Self { project: project.clone(), query, count }
    }
}

/// The results, and the engine they came from.
#[derive(Debug, Clone)]
pub(super) struct CachedAnswer {
    pub(super) engine: EngineKind,
    pub(super) hits: Arc<[SearchHit]>,
}

struct CacheEntry {
    key: CacheKey,
    answer: CachedAnswer,
    stored_at: Timestamp,
}

/// The cached responses, oldest first.
pub(super) struct SearchCache {
    clock: Arc<dyn Clock>,
    entries: Mutex<Vec<CacheEntry>>,
}

impl SearchCache {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, entries: Mutex::new(Vec::new()) }
    }

    pub(super) fn get(&self, key: &CacheKey) -> Option<CachedAnswer> {
        let now = self.clock.now();
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.key == *key)?;
        is_fresh(entry, now).then(|| entry.answer.clone())
    }

    pub(super) fn insert(&self, key: CacheKey, answer: CachedAnswer) {
        let now = self.clock.now();
        let mut entries = self.entries();
        entries.retain(|entry| entry.key != key && is_fresh(entry, now));
        if entries.len() >= MAX_ENTRIES {
            entries.remove(0);
        }
        entries.push(CacheEntry { key, answer, stored_at: now });
    }

    /// A panic never leaves the entries in an invalid state.
    fn entries(&self) -> MutexGuard<'_, Vec<CacheEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An entry from the future is stale: the clock was set back.
fn is_fresh(entry: &CacheEntry, now: Timestamp) -> bool {
    entry.stored_at <= now && now.since(entry.stored_at) < LIFETIME
}

#[cfg(test)]
mod tests {
    use toolroom::testing::ManualClock;

    use super::*;

    fn answer() -> CachedAnswer {
        CachedAnswer { engine: EngineKind::Brave, hits: Arc::new([]) }
    }

    #[test]
    fn an_entry_is_valid_for_15_minutes_and_for_its_project() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let cache = SearchCache::new(Arc::clone(&clock) as _);
        let (own, other) = (ProjectId::default(), ProjectId::new("other"));
        cache.insert(CacheKey::new(&own, "Rust  Crabs", 5), answer());
        let asks = |project, query, count| cache.get(&CacheKey::new(project, query, count)).is_some();
        assert!(asks(&own, "rust crabs", 5));
        assert!(!asks(&own, "rust crabs", 6) && !asks(&other, "rust crabs", 5) && !asks(&own, "rust", 5));
        clock.advance(LIFETIME - Duration::from_secs(1));
        assert!(asks(&own, "rust crabs", 5));
        clock.advance(Duration::from_secs(1));
        assert!(!asks(&own, "rust crabs", 5));
    }

    #[test]
    fn the_cache_holds_50_entries_and_drops_the_oldest() {
        let cache = SearchCache::new(Arc::new(ManualClock::at(Timestamp::from_micros(0))));
        let key = |number: usize| CacheKey::new(&ProjectId::default(), &number.to_string(), 5);
        (0..=MAX_ENTRIES).for_each(|number| cache.insert(key(number), answer()));
        assert!(cache.get(&key(0)).is_none());
        assert!((1..=MAX_ENTRIES).all(|number| cache.get(&key(number)).is_some()));
    }
}
