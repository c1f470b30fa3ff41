//! What the judge says.

use serde::Serialize;
use toolroom::policy::Ruling;

/// The verdict about a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Whether it runs, asks or is refused.
    pub verdict: Ruling,
    /// What speaks against it, the gravest first. Empty where it just runs.
    pub reasons: Vec<Reason>,
    /// Everything that may run, in the order of the text.
    pub commands: Vec<Run>,
    /// What was judged, and what has to run in place of the line. Absent if the line is not understood, and for a
    /// program with arguments, which runs as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<String>,
}

/// Something that speaks against a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What follows from it.
    pub verdict: Ruling,
    /// Which command it is about; `…` stands for what is not known before it runs.
    pub command: String,
    /// Where in the line, in bytes.
    pub at: usize,
    /// Why.
    pub why: String,
}

/// A command that may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The program as it is named, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Its arguments; `…` stands for what is not known before it runs.
    pub arguments: Vec<String>,
    /// Where in the line, in bytes.
    pub at: usize,
    /// Started by another command of this list, not by the shell itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_wrapped: bool,
}
