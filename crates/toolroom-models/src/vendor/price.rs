//! What tokens cost.

use std::fmt;

use toolroom::model::Usage;

/// Prices in thousandths of a dollar per million tokens, which is the same as billionths of a dollar per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Price {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Put into a cache.
    pub cache_write: u64,
}

/// An amount of money, in billionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(pub u64);

impl Price {
    /// What these tokens cost. Prices are those of short prompts: what a vendor adds for very long ones is not in them.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Cost {
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let parts = [
            (fresh, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        Cost(parts.iter().fold(0, |sum, (tokens, price)| sum.saturating_add(tokens.saturating_mul(*price))))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        // Cents are enough where there are dollars; below, two digits that say something.
        match (whole, rest) {
            (0, 0) => formatter.write_str("$0"),
            (0, rest) if rest < 10_000_000 => write!(formatter, "$0.{:06}", rest.div_ceil(1_000)),
            (whole, rest) => write!(formatter, "${whole}.{:04}", rest / 100_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_a_cache_is_not_paid_twice() {
        let price = Price { input: 3_000, output: 15_000, cache_read: 300, cache_write: 3_750 };
        let usage = Usage {
            input: 1_000_000,
            output: 1_000_000,
            cache_read: 400_000,
            cache_write: 100_000,
            reasoning: 7,
        };
        assert_eq!(price.cost(&usage), Cost(1_500_000_000 + 15_000_000_000 + 120_000_000 + 375_000_000));
        let odd = Usage { input: 1, cache_read: 5, ..Usage::default() };
        assert_eq!(price.cost(&odd), Cost(1_500));
        assert_eq!(price.cost(&Usage { input: u64::MAX, ..Usage::default() }), Cost(u64::MAX));
    }

    #[test]
    fn money_is_written_so_that_small_amounts_are_seen() {
        for (cost, text) in [
            (0, "$0"),
            (1, "$0.000001"),
            (123_456, "$0.000124"),
            (12_345_678, "$0.0123"),
            (1_234_567_890, "$1.2345"),
        ] {
            assert_eq!(Cost(cost).to_string(), text);
        }
    }
}
