//! Frequency of use, decaying over time.

use std::cmp::Ordering;
use std::time::Duration;

/// Half of the weight is gone after a week without use.
const DECAY_PER_DAY: f64 = 0.1;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Frequency and recency in one number: `uses · e^(−0.1 · days since the last use)`. Zero without uses, never negative,
/// always finite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Frecency(f64);

impl Frecency {
    /// Never used.
    pub const NEVER: Self = Self(0.0);

    /// For a number of uses and the time since the last one.
    #[must_use]
    pub fn new(uses: u64, unused_for: Duration) -> Self {
        Self(uses as f64 * (-DECAY_PER_DAY * unused_for.as_secs_f64() / SECONDS_PER_DAY).exp())
    }

    /// The number.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Frecency {}

impl PartialOrd for Frecency {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Frecency {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_count_and_fade() {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        let check = |uses, unused_for, expected: f64| {
            let value = Frecency::new(uses, unused_for).value();
            assert!((value - expected).abs() < 0.001, "{uses} uses, {unused_for:?} ago: {value}");
        };
        check(0, days(0), 0.0);
        check(3, days(0), 3.0);
        check(10, days(10), 3.679);
        check(1, days(1), 0.905);
        check(5, Duration::MAX, 0.0);
        assert!(Frecency::new(u64::MAX, days(0)).value().is_finite());
        assert!(Frecency::new(2, days(7)) < Frecency::new(1, days(0)), "a week halves");
    }
}
