//! What a tool does to the world: effect class, capabilities, risk.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect class of a tool, which decides what may be repeated after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Computes from its arguments alone.
    Pure,
    /// Reads and changes nothing.
    Read,
    /// Changes something; running it twice is the same as once.
    IdempotentWrite,
    /// Changes something, and again each time it runs.
    OnceOnlyWrite,
    /// May destroy data irrecoverably.
    Destructive,
}

impl Effect {
    /// Every class, from harmless to dangerous.
    pub const ALL: [Self; 5] =
        [Self::Pure, Self::Read, Self::IdempotentWrite, Self::OnceOnlyWrite, Self::Destructive];

    /// Whether it changes anything. Its rows must then survive power loss.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::IdempotentWrite | Self::OnceOnlyWrite | Self::Destructive)
    }

    /// Whether a call that may have happened can be repeated safely.
    #[must_use]
    pub const fn may_repeat(self) -> bool {
        matches!(self, Self::Pure | Self::Read | Self::IdempotentWrite)
    }

    /// The name used in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Read => "read",
            Self::IdempotentWrite => "idempotent_write",
            Self::OnceOnlyWrite => "once_only_write",
            Self::Destructive => "destructive",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == name)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One thing a tool is able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Reads private data of the user.
    ReadsPrivate,
    /// Reads content from an untrusted source.
    ReadsUntrusted,
    /// Changes something.
    Writes,
    /// Sends something outward. A GET with a chosen address does.
    Egress,
    /// Starts programs.
    Exec,
    /// May destroy something.
    Destructive,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 6] =
        [Self::ReadsPrivate, Self::ReadsUntrusted, Self::Writes, Self::Egress, Self::Exec, Self::Destructive];

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The name used in specs and rules.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadsPrivate => "reads-private",
            Self::ReadsUntrusted => "reads-untrusted",
            Self::Writes => "writes",
            Self::Egress => "egress",
            Self::Exec => "exec",
            Self::Destructive => "destructive",
        }
    }
}

/// A set of [`Capability`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Vec<Capability>", into = "Vec<Capability>")]
#[schemars(with = "Vec<Capability>")]
pub struct Capabilities(u8);

impl Capabilities {
    /// No capabilities.
    pub const NONE: Self = Self(0);

    /// All capabilities: the default of a tool that declares none.
    pub const ALL: Self = Self(0b11_1111);

    /// These capabilities.
    #[must_use]
    pub fn of(list: &[Capability]) -> Self {
        Self(list.iter().fold(0, |bits, capability| bits | capability.bit()))
    }

    /// Whether `capability` is in the set.
    #[must_use]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// The set as a list.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.has(*capability))
    }
}

impl From<Vec<Capability>> for Capabilities {
    fn from(list: Vec<Capability>) -> Self {
        Self::of(&list)
    }
}

impl From<Capabilities> for Vec<Capability> {
    fn from(set: Capabilities) -> Self {
        set.iter().collect()
    }
}

/// How much harm a wrong call can do, as the tool's author judges it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Little.
    #[default]
    Low,
    /// Some; can be undone.
    Medium,
    /// Much, or cannot be undone.
    High,
}

impl Risk {
    /// The name used in specs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
