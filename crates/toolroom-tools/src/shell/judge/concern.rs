//! Concerns about a command.

/// How serious a concern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConcernLevel {
    /// A program that needs approval. The allow-list may name it.
    Risk,
    /// A file or variable that needs approval, regardless of the program.
    Touch,
    /// What would run is unknown.
    Opaque,
    /// Always refused.
    Danger,
}

#[derive(Debug, Clone)]
pub(super) struct Concern {
    pub(super) weight: ConcernLevel,
    pub(super) why: String,
}

impl Concern {
    pub(super) fn new(weight: ConcernLevel, why: impl Into<String>) -> Self {
        Self { weight, why: why.into() }
    }

    pub(super) fn risk(why: impl Into<String>) -> Self {
        Self::new(ConcernLevel::Risk, why)
    }

    pub(super) fn touch(why: impl Into<String>) -> Self {
        Self::new(ConcernLevel::Touch, why)
    }

    pub(super) fn opaque(why: impl Into<String>) -> Self {
        Self::new(ConcernLevel::Opaque, why)
    }

    pub(super) fn danger(why: impl Into<String>) -> Self {
        Self::new(ConcernLevel::Danger, why)
    }
}
