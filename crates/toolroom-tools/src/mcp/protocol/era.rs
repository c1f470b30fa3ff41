//! Which words a server understands.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version without sessions, which is the newest we speak.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Versions with sessions, newest first.
pub(crate) const WITH_SESSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// How a connection to a server begins. Found once, and then known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// Each request stands for itself (2026-07-28).
    Stateless,
    /// There is a handshake first (2025-11-25 and before).
    Session,
}

impl Era {
    /// The era that a version belongs to.
    #[must_use]
    pub fn of(version: &str) -> Option<Self> {
        match version {
            STATELESS => Some(Self::Stateless),
            older if WITH_SESSIONS.contains(&older) => Some(Self::Session),
            _ => None,
        }
    }
}

impl Era {
    /// The era of that [name](fmt::Display).
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Stateless, Self::Session].into_iter().find(|era| era.to_string() == name)
    }
}

impl fmt::Display for Era {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stateless => "stateless",
            Self::Session => "session",
        })
    }
}
