//! What was read and sent: the three facts that together let a secret be carried out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Capabilities, Capability};

/// What was done so far in a conversation, or by the source of direct calls.
///
/// A model that has read private data and what strangers wrote can be talked into sending the data away. So an outward
/// call that finds both asks a person. Where the facts of a call come from is told in [`crate::provenance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Provenance {
    /// Has read data of the user that others must not see.
    pub private: bool,
    /// Has read content that somebody else wrote.
    pub untrusted: bool,
    /// Has sent something outward.
    pub outward: bool,
    /// Has read memories, or what the client says about its user. Counts as private only for a call that sends a message, or
    /// that repeats them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mildly_private: bool,
}

impl Provenance {
    /// Nothing was done yet.
    pub const NONE: Self = Self { private: false, untrusted: false, outward: false, mildly_private: false };

    /// Results that are not known here were read: they may hold anything.
    pub const UNKNOWN_RESULTS: Self = Self { private: true, untrusted: true, ..Self::NONE };

    /// Memories, or what the client says about its user, were read.
    pub const MILDLY_PRIVATE: Self = Self { mildly_private: true, ..Self::NONE };

    /// What a call of a tool with these capabilities does.
    #[must_use]
    pub const fn of(capabilities: Capabilities) -> Self {
        Self {
            private: capabilities.has(Capability::ReadsPrivate),
            untrusted: capabilities.has(Capability::ReadsUntrusted),
            outward: capabilities.has(Capability::Egress),
            mildly_private: false,
        }
    }

    /// Everything that holds here or there.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            private: self.private || other.private,
            untrusted: self.untrusted || other.untrusted,
            outward: self.outward || other.outward,
            mildly_private: self.mildly_private || other.mildly_private,
        }
    }

    /// Whether everything that holds there holds here, too.
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// Whether nothing holds.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        !(self.private || self.untrusted || self.outward || self.mildly_private)
    }

    /// Whether a call of a tool with these capabilities has to be seen by a person: it sends outward, and private data and
    /// untrusted content were read before it. A call that only reads never asks.
    #[must_use]
    pub const fn asks_before(self, capabilities: Capabilities) -> bool {
        capabilities.has(Capability::Egress) && self.private && self.untrusted
    }
}
