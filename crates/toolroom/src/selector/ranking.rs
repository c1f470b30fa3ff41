//! What a selector answers.

use serde::Serialize;

/// A tool and how well it fits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// The id of its card.
    pub id: String,
    /// Larger fits better. Only scores of one ranking can be compared.
    pub score: f32,
}

/// The tools that fit a message, best first; equal scores are in the order of their ids.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ranking {
    /// Best first; empty when nothing fits.
    pub tools: Vec<Ranked>,
    /// Whether no tool fits well enough to be named.
    pub abstained: bool,
}
