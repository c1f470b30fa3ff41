//! How often somebody may come: so many times a minute, all at once if they like.
//!
//! Each visit costs a minute divided by the limit. Who owes more than a minute waits. What is remembered of a visitor
//! is one instant, and of those who owe nothing, nothing.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// In which the limit is counted.
const WINDOW: Duration = Duration::from_mins(1);

/// Visitors that are told apart. Those that come beyond share one account, so that nobody is forgotten and memory is
/// bounded.
const VISITORS: usize = 20_000;

/// Counts the visits of many, each known by a `K`.
#[derive(Debug)]
pub(crate) struct Pace<K> {
    limit: u32,
    cost: Duration,
    /// When each of them owes nothing any more.
    debts: HashMap<K, Duration>,
    /// The same, for all that are not told apart.
    others: Duration,
}

/// A visit that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visit {
    /// So many in a minute.
    pub(crate) limit: u32,
    /// So many more at once.
    pub(crate) remaining: u32,
}

/// A visit that comes too soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooSoon {
    /// So many in a minute.
    pub(crate) limit: u32,
    /// When to come again.
    pub(crate) retry_after: Duration,
}

impl<K: Hash + Eq> Pace<K> {
    pub(crate) fn new(limit: u32) -> Self {
        let limit = limit.max(1);
        Self { limit, cost: WINDOW / limit, debts: HashMap::new(), others: Duration::ZERO }
    }

    /// Another limit from now on. What somebody owes, they owe.
    pub(crate) fn change(&mut self, limit: u32) {
        self.limit = limit.max(1);
        self.cost = WINDOW / self.limit;
    }

    /// Counts a visit at `now`, on any clock. Visits may be told a little out of order: who comes late to be counted owes
    /// no less. One that is refused costs nothing.
    pub(crate) fn visit<Q>(&mut self, who: &Q, now: Duration) -> Result<Visit, TooSoon>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let (limit, cost) = (self.limit, self.cost);
        let debt_free = self.account(who, now);
        let owed = debt_free.saturating_sub(now) + cost;
        // Rounding may make the costs of all visits a little less than the window.
        if owed > WINDOW {
            return Err(TooSoon { limit, retry_after: owed - WINDOW });
        }
        *debt_free = now + owed;
        let left = (WINDOW - owed).as_nanos() / cost.as_nanos().max(1);
        Ok(Visit { limit, remaining: u32::try_from(left).unwrap_or(limit).min(limit.saturating_sub(1)) })
    }

    fn account<Q>(&mut self, who: &Q, now: Duration) -> &mut Duration
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        // Most have been here before, and need no name of their own again.
        if !self.debts.contains_key(who) {
            if self.debts.len() >= VISITORS {
                self.debts.retain(|_, debt_free| *debt_free > now);
            }
            if self.debts.len() < VISITORS {
                self.debts.insert(who.to_owned(), Duration::ZERO);
            }
        }
        self.debts.get_mut(who).unwrap_or(&mut self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_minutes_worth_may_come_at_once_and_then_one_by_one() {
        let mut pace = Pace::<String>::new(6);
        for left in (0..6).rev() {
            assert_eq!(pace.visit("ann", at(100)), Ok(Visit { limit: 6, remaining: left }));
        }
        let refused = TooSoon { limit: 6, retry_after: at(10) };
        assert_eq!(pace.visit("ann", at(100)), Err(refused));
        assert_eq!(pace.visit("ann", at(100)), Err(refused), "a refusal costs nothing");
        assert!(pace.visit("bob", at(100)).is_ok(), "each has an account");
        assert!(pace.visit("ann", at(109)).is_err());
        assert_eq!(pace.visit("ann", at(110)), Ok(Visit { limit: 6, remaining: 0 }));
        assert_eq!(pace.visit("ann", at(1_000)), Ok(Visit { limit: 6, remaining: 5 }));
        assert_eq!(
            pace.visit("ann", at(999)),
            Ok(Visit { limit: 6, remaining: 3 }),
            "a second is rounded up"
        );
    }

    #[test]
    fn every_limit_is_met_exactly() {
        for limit in [1, 7, 600, 6_000, 999_983, 1_000_000] {
            let mut pace = Pace::<String>::new(limit);
            let taken = (0..=limit).take_while(|_| pace.visit("ann", at(5)).is_ok()).count();
            // What a division leaves over may let a few more through, never fewer.
            let more = u32::try_from(taken).unwrap() - limit;
            assert!(more <= limit / 10_000 + 1, "{limit}: {taken}");
        }
    }

    #[test]
    fn memory_is_bounded_and_nobody_is_forgotten() {
        let mut pace = Pace::<String>::new(1);
        for visitor in 0..VISITORS {
            assert!(pace.visit(&visitor.to_string(), at(0)).is_ok());
        }
        assert!(pace.visit("late", at(1)).is_ok());
        assert!(pace.visit("later", at(1)).is_err(), "the account of the others is used up");
        assert!(pace.visit("0", at(1)).is_err(), "who was there is still known");
        assert_eq!(pace.debts.len(), VISITORS);
        assert!(pace.visit("much later", at(61)).is_ok());
        assert_eq!(pace.debts.len(), 1, "who owes nothing is forgotten");
    }
}
