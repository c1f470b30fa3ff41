//! What speaks against a command.

/// How much it weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// A program worth a question. An allow-list may name it.
    Risk,
    /// A file or a variable worth a question, whatever the program is.
    Touch,
    /// Nobody can tell what would run.
    Opaque,
    /// Never.
    Danger,
}

#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) weight: Weight,
    pub(super) why: String,
}

impl Finding {
    pub(super) fn new(weight: Weight, why: impl Into<String>) -> Self {
        Self { weight, why: why.into() }
    }

    pub(super) fn risk(why: impl Into<String>) -> Self {
        Self::new(Weight::Risk, why)
    }

    pub(super) fn touch(why: impl Into<String>) -> Self {
        Self::new(Weight::Touch, why)
    }

    pub(super) fn opaque(why: impl Into<String>) -> Self {
        Self::new(Weight::Opaque, why)
    }

    pub(super) fn danger(why: impl Into<String>) -> Self {
        Self::new(Weight::Danger, why)
    }
}
