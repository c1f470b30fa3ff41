//! Limits that the operator sets in place of, or on top of, a tool's own.

use std::time::Duration;

use crate::ledger::RateLimit;

/// Limits for some tools. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// How often it may be called.
    pub rates: Option<Vec<RateLimit>>,
    /// How many calls of it one process runs at a time.
    pub concurrency: Option<usize>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How many characters of its result a caller gets.
    pub result_cap: Option<usize>,
}

/// Whether [`Limits`] may also widen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitMode {
    /// They take the place of the tool's own.
    Replace,
    /// They hold beside the ones there are: the stricter one counts.
    Narrow,
}
