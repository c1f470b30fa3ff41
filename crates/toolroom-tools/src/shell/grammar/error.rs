//! Text that is not understood.

use std::error::Error;
use std::fmt;

/// Why a text has no tree, and where reading it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUnderstood {
    /// The byte at which it was noticed.
    pub at: usize,
    /// What is in the way.
    pub why: &'static str,
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at byte {})", self.why, self.at)
    }
}

impl Error for NotUnderstood {}
