//! Where the person sits whom a call is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the person sits whom a call is for. Set by the entrance, never by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    /// At this machine: what a tool opens is opened on its desktop.
    Here,
    /// Elsewhere: what is to be opened or saved is [offered](crate::tool::Offer) to their client.
    #[default]
    Away,
}

impl Seat {
    /// Whether it goes without saying.
    #[must_use]
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Away)
    }
}
