//! What tokens cost.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Usage;

/// US dollars for a million tokens, as vendors print them. Prices are those of short prompts: what a vendor adds for
/// very long ones is not in them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
    /// Read from the vendor's cache; as `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Put into the vendor's cache; as `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Nothing has to be paid.
    pub const FREE: Self = Self { input: 0.0, output: 0.0, cache_read: None, cache_write: None };

    /// What these tokens cost, in US dollars.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> f64 {
        // Prices are whole thousandths, so billionths of a dollar are whole for each token, and floats add them exactly.
        #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^53 tokens")]
        let billionths = |tokens: u64, price: f64| tokens as f64 * (price * 1e3);
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let sum = billionths(fresh, self.input)
            + billionths(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + billionths(usage.cache_write, self.cache_write.unwrap_or(self.input))
            + billionths(usage.output, self.output);
        sum.round() / 1e9
    }
}

/// An amount of US dollars as people read it: small ones keep the digits that say something.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dollars(pub f64);

impl fmt::Display for Dollars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => formatter.write_str("$0"),
            // What was paid is never shown as nothing.
            little if little > 0.0 && little < 0.01 => write!(formatter, "${:.6}", little.max(1e-6)),
            amount => write!(formatter, "${amount:.4}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "amounts of money are to be exact")]
    fn what_came_from_the_cache_is_paid_as_such_and_once() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 400_000,
            cache_write: 100_000,
            reasoning: 7,
        };
        assert_eq!(price.of(&usage), 1.5 + 1.5 + 0.12 + 0.3);
        let odd = Usage { input: 1, cache_read: 5, ..Usage::default() };
        assert_eq!(price.of(&odd), 0.000_001_5);
        assert_eq!(Price::FREE.of(&usage), 0.0);
    }

    #[test]
    fn money_is_written_so_that_small_amounts_are_seen() {
        for (amount, text) in [
            (0.0, "$0"),
            (1e-9, "$0.000001"),
            (0.000_123_6, "$0.000124"),
            (0.012_345_678, "$0.0123"),
            (1.234_567_89, "$1.2346"),
        ] {
            assert_eq!(Dollars(amount).to_string(), text);
        }
    }
}
