//! What is known about a model before it is asked.

use serde::{Deserialize, Serialize};

use super::price::Price;

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
