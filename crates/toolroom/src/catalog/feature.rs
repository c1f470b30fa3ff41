//! Features: switches that gate several tools at once.

use serde::Serialize;

/// A switch that tools can hang on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// What is behind it, for people.
    pub description: &'static str,
    /// Whether it is on until somebody switches it off.
    pub on_by_default: bool,
}

/// The features of the built-in tools, by name.
pub const FEATURES: &[Feature] = &[
    Feature {
        name: "email",
        description: "read and write mail through configured accounts",
        on_by_default: true,
    },
    Feature { name: "memory", description: "remember things between conversations", on_by_default: true },
    Feature { name: "scheduling", description: "timed tasks and the heartbeat", on_by_default: true },
];
