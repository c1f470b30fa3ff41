//! Where a run has been: the three facts that together let a secret be carried out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Capabilities, Capability};

/// What one run has done so far. Whoever makes the calls of a run keeps it and adds each call that ran.
///
/// A run that has read private data, has read what strangers wrote and can send outward can be talked into
/// giving the data away. Two of the three are harmless, so the call that completes them asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Provenance {
    /// Has read data of the user that others must not see.
    pub private: bool,
    /// Has read content that somebody else wrote.
    pub untrusted: bool,
    /// Has sent something outward.
    pub outward: bool,
}

impl Provenance {
    /// A run that has done nothing yet.
    pub const NONE: Self = Self { private: false, untrusted: false, outward: false };

    /// What a call of a tool with these capabilities does.
    #[must_use]
    pub const fn of(capabilities: Capabilities) -> Self {
        Self {
            private: capabilities.has(Capability::ReadsPrivate),
            untrusted: capabilities.has(Capability::ReadsUntrusted),
            outward: capabilities.has(Capability::Egress),
        }
    }

    /// This run after a call of a tool with these capabilities.
    #[must_use]
    pub const fn after(self, capabilities: Capabilities) -> Self {
        let call = Self::of(capabilities);
        Self {
            private: self.private || call.private,
            untrusted: self.untrusted || call.untrusted,
            outward: self.outward || call.outward,
        }
    }

    /// Whether none of the three holds.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        !(self.private || self.untrusted || self.outward)
    }

    /// Whether all three hold.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        self.private && self.untrusted && self.outward
    }

    /// Whether a call of a tool with these capabilities has to be seen by a person: it completes the three, or
    /// it sends outward in a run that has already read both.
    #[must_use]
    pub const fn asks_before(self, capabilities: Capabilities) -> bool {
        let sends = Self::of(capabilities).outward;
        self.after(capabilities).is_complete() && (sends || !self.is_complete())
    }
}
