//! Limits, price and abilities of a model.

use serde::{Deserialize, Serialize};

use super::price::Price;

/// Limits, price and abilities of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The context window in tokens, including the answer.
    pub window: u64,
    /// The limit of output tokens; the vendor's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// The price, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it accepts images.
    pub images: bool,
    /// A small model on the device: it is offered few tools, and asked again without them if it fails.
    pub on_device: bool,
}

impl ModelFacts {
    /// Defaults for an unknown model, with a window that nearly every model has.
    pub const UNKNOWN: Self =
        Self { window: 32_000, max_output: None, price: None, tools: true, images: false, on_device: false };
}
