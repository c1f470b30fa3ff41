//! What is wrong with a configuration, all of it at once.

use std::fmt;

use serde::Serialize;

use super::Origin;

/// Problems told at once: more are not read, and a hostile file could make any number.
const MAX_PROBLEMS: usize = 100;

/// Enough of a name or value to recognise it.
const MAX_SHOWN_CHARS: usize = 60;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which layer it is in.
    pub origin: Origin,
    /// The line, if it is in a file.
    pub line: Option<usize>,
    /// The whole path of the key; empty if it is about no single key.
    pub key: String,
    /// What is wrong; continues a sentence that begins with the key, if there is one.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.origin.place(self.line))?;
        if !self.key.is_empty() {
            write!(formatter, "`{}` ", self.key)?;
        }
        formatter.write_str(&self.message)
    }
}

/// A configuration that cannot be used, with everything that is wrong in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The problems, weakest layer first, then by line. Never empty.
    pub problems: Vec<Problem>,
    /// Whether there were more than are listed.
    pub cut: bool,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.problems.iter().map(ToString::to_string);
        formatter.write_str(&lines.next().unwrap_or_default())?;
        for line in lines {
            write!(formatter, "\n{line}")?;
        }
        if self.cut { formatter.write_str("\nand more, told when these are mended") } else { Ok(()) }
    }
}

impl std::error::Error for ConfigError {}

/// Collects problems up to a bound, and one more to know that there are more.
#[derive(Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
}

impl Problems {
    pub(super) fn push(&mut self, problem: Problem) {
        if !self.is_full() {
            self.found.push(problem);
        }
    }

    /// Whether looking further would tell nobody anything.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() > MAX_PROBLEMS
    }

    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Puts the problems from this one on into the order of their lines.
    pub(super) fn sort_from(&mut self, start: usize) {
        if let Some(last) = self.found.get_mut(start..) {
            last.sort_by_key(|problem| problem.line);
        }
    }

    pub(super) fn into_result(mut self) -> Result<(), ConfigError> {
        if self.found.is_empty() {
            return Ok(());
        }
        let cut = self.is_full();
        self.found.truncate(MAX_PROBLEMS);
        Err(ConfigError { problems: self.found, cut })
    }
}

/// Text of a file as it stands in a sentence: on one line, no longer than needed, without anything that a terminal
/// would obey.
pub(super) fn shown(text: &str) -> String {
    let mut shown = escaped(shortened(text));
    if shortened(text).len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Enough of a text to recognise it.
pub(super) fn shortened(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_SHOWN_CHARS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Text on one line, without anything that a terminal would obey.
pub(super) fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    text.chars().map(escape).collect()
}
