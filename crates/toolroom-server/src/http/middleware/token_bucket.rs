//! A token bucket per key: so many requests a minute, all at once if the client likes.
//!
//! Each request costs a minute divided by the limit. A bucket is one instant, the time when it is full again; full
//! buckets are not stored.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// In which the limit is counted.
const WINDOW: Duration = Duration::from_mins(1);

/// Keys with a bucket of their own. Further keys share one, which bounds the memory and loses no count.
const MAX_BUCKETS: usize = 20_000;

/// The buckets of many keys.
#[derive(Debug)]
pub(crate) struct TokenBuckets<K> {
    limit: u32,
    cost: Duration,
    /// When each bucket is full again.
    full_at: HashMap<K, Duration>,
    /// The same for the keys that share a bucket.
    shared_full_at: Duration,
}

/// What is left after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    /// Requests a minute.
    pub(crate) limit: u32,
    /// Requests that could follow at once.
    pub(crate) remaining: u32,
}

/// The bucket is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitExceeded {
    /// Requests a minute.
    pub(crate) limit: u32,
    /// When the next request is possible.
    pub(crate) retry_after: Duration,
}

impl<K: Hash + Eq> TokenBuckets<K> {
    pub(crate) fn new(limit: u32) -> Self {
        let limit = limit.max(1);
        Self { limit, cost: WINDOW / limit, full_at: HashMap::new(), shared_full_at: Duration::ZERO }
    }

    /// Applies a new limit. Buckets keep their fill.
    pub(crate) fn change(&mut self, limit: u32) {
        self.limit = limit.max(1);
        self.cost = WINDOW / self.limit;
    }

    /// Takes a token at `now`, on any clock. Calls may come slightly out of order: a late one costs no less. A refused
    /// request costs nothing.
    pub(crate) fn take<Q>(&mut self, key: &Q, now: Duration) -> Result<Quota, LimitExceeded>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let (limit, cost) = (self.limit, self.cost);
        let full_at = self.bucket(key, now);
        let used = full_at.saturating_sub(now) + cost;
        // Rounding may make the costs of all requests a little less than the window.
        if used > WINDOW {
            return Err(LimitExceeded { limit, retry_after: used - WINDOW });
        }
        *full_at = now + used;
        let left = (WINDOW - used).as_nanos() / cost.as_nanos().max(1);
        Ok(Quota { limit, remaining: u32::try_from(left).unwrap_or(limit).min(limit.saturating_sub(1)) })
    }

    fn bucket<Q>(&mut self, key: &Q, now: Duration) -> &mut Duration
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        // Most keys are known, and their name is not copied.
        if !self.full_at.contains_key(key) {
            if self.full_at.len() >= MAX_BUCKETS {
                self.full_at.retain(|_, full_at| *full_at > now);
            }
            if self.full_at.len() < MAX_BUCKETS {
                self.full_at.insert(key.to_owned(), Duration::ZERO);
            }
        }
        self.full_at.get_mut(key).unwrap_or(&mut self.shared_full_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_minutes_worth_is_allowed_at_once_and_then_one_by_one() {
        let mut buckets = TokenBuckets::<String>::new(6);
        for left in (0..6).rev() {
            assert_eq!(buckets.take("ann", at(100)), Ok(Quota { limit: 6, remaining: left }));
        }
        let refused = LimitExceeded { limit: 6, retry_after: at(10) };
        assert_eq!(buckets.take("ann", at(100)), Err(refused));
        assert_eq!(buckets.take("ann", at(100)), Err(refused), "a refusal costs nothing");
        assert!(buckets.take("bob", at(100)).is_ok(), "each key has a bucket");
        assert!(buckets.take("ann", at(109)).is_err());
        assert_eq!(buckets.take("ann", at(110)), Ok(Quota { limit: 6, remaining: 0 }));
        assert_eq!(buckets.take("ann", at(1_000)), Ok(Quota { limit: 6, remaining: 5 }));
        assert_eq!(
            buckets.take("ann", at(999)),
            Ok(Quota { limit: 6, remaining: 3 }),
            "a second is rounded up"
        );
    }

    #[test]
    fn every_limit_is_met_exactly() {
        for limit in [1, 7, 600, 6_000, 999_983, 1_000_000] {
            let mut buckets = TokenBuckets::<String>::new(limit);
            let taken = (0..=limit).take_while(|_| buckets.take("ann", at(5)).is_ok()).count();
            // What a division leaves over may let a few more through, never fewer.
            let more = u32::try_from(taken).unwrap() - limit;
            assert!(more <= limit / 10_000 + 1, "{limit}: {taken}");
        }
    }

    #[test]
    fn memory_is_bounded_and_no_count_is_lost() {
        let mut buckets = TokenBuckets::<String>::new(1);
        for key in 0..MAX_BUCKETS {
            assert!(buckets.take(&key.to_string(), at(0)).is_ok());
        }
        assert!(buckets.take("late", at(1)).is_ok());
        assert!(buckets.take("later", at(1)).is_err(), "the shared bucket is empty");
        assert!(buckets.take("0", at(1)).is_err(), "known keys keep their buckets");
        assert_eq!(buckets.full_at.len(), MAX_BUCKETS);
        assert!(buckets.take("much later", at(61)).is_ok());
        assert_eq!(buckets.full_at.len(), 1, "full buckets are dropped");
    }
}
