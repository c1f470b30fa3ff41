//! What was read and sent before a call: the three facts that together let private data leak.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Capabilities, Capability};

/// What was done so far in a conversation, or by the source of direct calls.
///
/// Untrusted content can talk a model into sending out private data it has read. So an outward call after both asks a
/// person. [`crate::provenance`] says where the facts of a call come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Provenance {
    /// Has read private data of the user.
    pub private: bool,
    /// Has read content from an untrusted source.
    pub untrusted: bool,
    /// Has sent something outward.
    pub outward: bool,
    /// Has read memories, or what the client says about its user. Counts as private only for a call that sends a message, or
    /// that repeats them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mildly_private: bool,
    /// Has got results from the client: of its own tools, or in a history that it brings. They may be private and untrusted,
    /// but sending them back to the client reveals nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_client: bool,
}

impl Provenance {
    /// Nothing was read or sent.
    pub const NONE: Self =
        Self { private: false, untrusted: false, outward: false, mildly_private: false, from_client: false };

    /// Read results whose content is unknown, which may hold anything.
    pub const UNKNOWN_RESULTS: Self = Self { private: true, untrusted: true, ..Self::NONE };

    /// Memories, or what the client says about its user, were read.
    pub const MILDLY_PRIVATE: Self = Self { mildly_private: true, ..Self::NONE };

    /// Results of the client's tools were read.
    pub const FROM_CLIENT: Self = Self { from_client: true, ..Self::NONE };

    /// What a call of a tool with these capabilities does.
    #[must_use]
    pub const fn from_capabilities(capabilities: Capabilities) -> Self {
        Self {
            private: capabilities.has(Capability::ReadsPrivate),
            untrusted: capabilities.has(Capability::ReadsUntrusted),
            outward: capabilities.has(Capability::Egress),
            ..Self::NONE
        }
    }

    /// The union of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            private: self.private || other.private,
            untrusted: self.untrusted || other.untrusted,
            outward: self.outward || other.outward,
            mildly_private: self.mildly_private || other.mildly_private,
            from_client: self.from_client || other.from_client,
        }
    }

    /// For a call that does not send to the client: client results may hold anything.
    #[must_use]
    pub const fn with_client_results(self) -> Self {
        if self.from_client { self.and(Self::UNKNOWN_RESULTS) } else { self }
    }

    /// Whether every fact of `other` holds here too.
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// Whether no fact holds.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        !(self.private || self.untrusted || self.outward || self.mildly_private || self.from_client)
    }

    /// Whether a call of a tool with these capabilities has to be seen by a person: it sends outward, and private data and
    /// untrusted content were read before it. A call that only reads never asks.
    #[must_use]
    pub const fn asks_before(self, capabilities: Capabilities) -> bool {
        capabilities.has(Capability::Egress) && self.private && self.untrusted
    }
}
