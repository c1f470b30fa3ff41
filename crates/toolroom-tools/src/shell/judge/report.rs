//! The result of the judge.

use serde::Serialize;
use toolroom::policy::Ruling;

/// The verdict about a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandVerdict {
    /// Allow, ask or deny.
    pub verdict: Ruling,
    /// Concerns, most serious first. Empty if the line just runs.
    pub reasons: Vec<Reason>,
    /// All commands that may run, in the order of the text.
    pub commands: Vec<PlannedCommand>,
    /// The line as it was judged, which has to run instead of the original. Absent if the line does not parse, and for a
    /// program with arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
}

/// A concern about a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The verdict that follows.
    pub verdict: Ruling,
    /// The command; `…` stands for unknown parts.
    pub command: String,
    /// Byte offset in the line.
    pub at: usize,
    /// The explanation.
    pub why: String,
}

/// A command that may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedCommand {
    /// The program, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Its arguments; `…` stands for unknown parts.
    pub arguments: Vec<String>,
    /// Byte offset in the line.
    pub at: usize,
    /// Started by another command of the list, not by the shell itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_wrapped: bool,
}

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
    pub(super) level: ConcernLevel,
    pub(super) why: String,
}

impl Concern {
    pub(super) fn new(level: ConcernLevel, why: impl Into<String>) -> Self {
        Self { level, why: why.into() }
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
