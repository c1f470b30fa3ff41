//! One thing that is wrong with the arguments of a call.

use std::fmt;

use super::text;

/// What is wrong, where, and what would be right, written for the model that has to mend its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the arguments; empty for the arguments as a whole.
    pub path: String,
    /// Continues a sentence that begins with the path: `must be an integer, got the string "x"`.
    pub message: String,
}

impl Problem {
    /// A problem at `path`. The message continues a sentence whose subject is the path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(formatter, "the arguments {}", self.message)
        } else {
            write!(formatter, "`{}` {}", text::shown_path(&self.path), self.message)
        }
    }
}
