//! Problems of a configuration, reported all at once.

use std::fmt;

use serde::Serialize;

use crate::config::Origin;

/// Limit of reported problems: a hostile file could cause any number.
const MAX_PROBLEMS: usize = 100;

/// Length at which names and values are shortened.
const MAX_SHOWN_CHARS: usize = 60;

/// A problem with its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its layer.
    pub origin: Origin,
    /// The line in a file.
    pub line: Option<usize>,
    /// The full key; empty if it concerns no single key.
    pub key: String,
    /// Continues a sentence that starts with the key, if there is one.
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

/// An invalid configuration with all its problems.
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
        if self.cut { formatter.write_str("\nthere are more problems; fix these first") } else { Ok(()) }
    }
}

impl std::error::Error for ConfigError {}

/// Collects problems up to the limit, and one more to know that there are more.
#[derive(Default)]
pub(in crate::config) struct Problems {
    found: Vec<Problem>,
}

impl Problems {
    pub(in crate::config) fn push(&mut self, problem: Problem) {
        if !self.is_full() {
            self.found.push(problem);
        }
    }

    /// Whether the limit is exceeded.
    pub(in crate::config) fn is_full(&self) -> bool {
        self.found.len() > MAX_PROBLEMS
    }

    pub(in crate::config) fn len(&self) -> usize {
        self.found.len()
    }

    /// Sorts the problems from `start` on by line.
    pub(in crate::config) fn sort_from(&mut self, start: usize) {
        if let Some(last) = self.found.get_mut(start..) {
            last.sort_by_key(|problem| problem.line);
        }
    }

    pub(in crate::config) fn into_result(mut self) -> Result<(), ConfigError> {
        if self.found.is_empty() {
            return Ok(());
        }
        let cut = self.is_full();
        self.found.truncate(MAX_PROBLEMS);
        Err(ConfigError { problems: self.found, cut })
    }
}

/// Shortens and escapes text of a file for an error message.
pub(in crate::config) fn shown(text: &str) -> String {
    let mut shown = escaped(shortened(text));
    if shortened(text).len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Shortens a text.
pub(in crate::config) fn shortened(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_SHOWN_CHARS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Escapes line ends and control characters.
pub(in crate::config) fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    text.chars().map(escape).collect()
}
