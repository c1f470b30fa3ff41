//! What is known about a model before it is asked.

use serde::{Deserialize, Serialize};

use super::answer::Usage;

/// What a model can take and what it costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// How many tokens a conversation may have, the answer included.
    pub window: u64,
    /// How many tokens an answer may have; the vendor's own bound if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// What tokens cost; absent where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it can look at pictures.
    pub images: bool,
    /// A small model on the device: it is offered few tools, and asked again without them when it fails.
    pub on_device: bool,
}

impl ModelFacts {
    /// What is taken for true of a model nobody has described: few enough tokens that hardly any model refuses them.
    pub const UNKNOWN: Self =
        Self { window: 32_000, max_output: None, price: None, tools: true, images: false, on_device: false };
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
    /// What these tokens cost, in US dollars.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^53 tokens")]
        let cost = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let plain = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        cost(plain, self.input)
            + cost(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + cost(usage.cache_write, self.cache_write.unwrap_or(self.input))
            + cost(usage.output, self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_the_cache_is_paid_as_such() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 500_000, ..Usage::default() };
        assert!((price.of(&usage) - (1.5 + 0.15 + 1.5)).abs() < 1e-9);
    }
}
