//! Prices of tokens.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Usage;

/// US dollars per million tokens for short prompts. Surcharges for very long prompts are not included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Read from the vendor's cache; as `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Put into the vendor's cache; as `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Free of charge.
    pub const FREE: Self = Self { input: 0.0, output: 0.0, cache_read: None, cache_write: None };

    /// The cost of these tokens in US dollars.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> f64 {
        // Prices are whole thousandths, so billionths of a dollar are whole for each token, and floats add them exactly.
        #[expect(clippy::cast_precision_loss, reason = "no bill has 2^53 tokens")]
        let billionths = |tokens: u64, price: f64| tokens as f64 * (price * 1e3);
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let sum = billionths(fresh, self.input)
            + billionths(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + billionths(usage.cache_write, self.cache_write.unwrap_or(self.input))
            + billionths(usage.output, self.output);
        sum.round() / 1e9
    }
}

/// Displays an amount of US dollars; small amounts keep their significant digits.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dollars(pub f64);

impl fmt::Display for Dollars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.0 => formatter.write_str("$0"),
            // A cost above zero is never shown as zero.
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
    fn cached_tokens_are_charged_at_the_cache_price_once() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 400_000,
            cache_write: 100_000,
            reasoning: 7,
        };
        assert_eq!(price.cost(&usage), 1.5 + 1.5 + 0.12 + 0.3);
        let odd = Usage { input: 1, cache_read: 5, ..Usage::default() };
        assert_eq!(price.cost(&odd), 0.000_001_5);
        assert_eq!(Price::FREE.cost(&usage), 0.0);
    }

    #[test]
    fn small_amounts_keep_significant_digits() {
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
