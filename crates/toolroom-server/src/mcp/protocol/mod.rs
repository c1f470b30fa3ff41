//! JSON-RPC and MCP messages, versions and errors.

mod id;
pub(super) mod message;
pub(super) mod params;
pub(super) mod reply;
pub(super) mod rpc_error;

/// The first version without sessions.
pub(crate) const MODERN: &str = "2026-07-28";

/// Versions with sessions, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A version with sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version(&'static str);

impl Version {
    /// The version to use with a client: the requested one if it is supported, else the newest.
    pub(crate) fn agreed(requested: &str) -> Self {
        Self::known(requested).unwrap_or(Self("2025-11-25"))
    }

    /// The version with this name.
    pub(crate) fn known(name: &str) -> Option<Self> {
        LEGACY.into_iter().find(|known| *known == name).map(Self)
    }

    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }
}

/// The era of a request: with a session, or modern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy(Version),
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
    fn an_unknown_version_is_answered_with_the_newest() {
        assert_eq!(Version::agreed("2025-06-18").as_str(), "2025-06-18");
        assert_eq!(Version::agreed("2031-01-01").as_str(), "2025-11-25");
        assert_eq!(Version::agreed(MODERN).as_str(), "2025-11-25");
        assert!(Version::known(MODERN).is_none());
    }
}
