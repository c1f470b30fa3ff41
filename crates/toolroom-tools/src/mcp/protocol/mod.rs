//! The MCP wire format: JSON-RPC messages, protocol eras, headers and errors.

pub(crate) mod error;
pub(crate) mod message;
pub(crate) mod param_header;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version without sessions, which is the newest supported.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Versions with sessions, newest first.
pub(crate) const WITH_SESSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The two kinds of protocol versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// Each request is self-contained (2026-07-28).
    Stateless,
    /// A handshake opens a session (2025-11-25 and before).
    Session,
}

impl Era {
    /// The era of a protocol version.
    #[must_use]
    pub fn for_version(version: &str) -> Option<Self> {
        match version {
            STATELESS => Some(Self::Stateless),
            older if WITH_SESSIONS.contains(&older) => Some(Self::Session),
            _ => None,
        }
    }

    /// The era with this [name](fmt::Display).
    pub(crate) fn from_name(name: &str) -> Option<Self> {
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
