//! Versions of the protocol, and the two eras they belong to.

/// The first version in which every request stands for itself.
pub(crate) const MODERN: &str = "2026-07-28";

/// The versions with a handshake, the newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A version with a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version(&'static str);

impl Version {
    /// The one that is spoken with a client that wants `requested`: that one if it is known, ours otherwise.
    pub(crate) fn agreed(requested: &str) -> Self {
        Self::known(requested).unwrap_or(Self("2025-11-25"))
    }

    /// The version of that name.
    pub(crate) fn known(name: &str) -> Option<Self> {
        LEGACY.into_iter().find(|known| *known == name).map(Self)
    }

    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }
}

/// How a request is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// After a handshake.
    Legacy(Version),
    /// On its own.
    Modern,
}

impl Era {
    pub(crate) const fn is_modern(self) -> bool {
        matches!(self, Self::Modern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_nobody_knows_is_answered_with_ours() {
        assert_eq!(Version::agreed("2025-06-18").as_str(), "2025-06-18");
        assert_eq!(Version::agreed("2031-01-01").as_str(), "2025-11-25");
        assert_eq!(Version::agreed(MODERN).as_str(), "2025-11-25");
        assert!(Version::known(MODERN).is_none());
    }
}
