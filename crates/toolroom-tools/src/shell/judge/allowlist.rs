//! The allow-list: programs with patterns for their arguments.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::invocation::Invocation;
use super::value::Value;
use crate::shell::grammar::{Body, Piece, parse};

/// A program and a pattern for each argument. `*` and `?` match characters within one argument; a `*` that is the whole
/// last word matches any further arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowlistEntry {
    program: String,
    patterns: Vec<String>,
    open_end: bool,
}

/// An invalid allow-list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowlistEntryError {
    why: &'static str,
}

impl fmt::Display for AllowlistEntryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; write a program and patterns for its arguments, as in `git log *`", self.why)
    }
}

impl Error for AllowlistEntryError {}

impl FromStr for AllowlistEntry {
    type Err = AllowlistEntryError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |why| Err(AllowlistEntryError { why });
        let Ok(script) = parse(text) else { return refused("it is no command") };
        let [item] = script.items.as_slice() else { return refused("it is not one command") };
        let ([command], []) = (item.chain.first.commands.as_slice(), item.chain.rest.as_slice()) else {
            return refused("it is not one command");
        };
        let Body::Simple(simple) = &command.body else { return refused("it is not one command") };
        if !simple.assignments.is_empty() || !command.redirections.is_empty() || item.background {
            return refused("it has more than words");
        }
        let mut words = Vec::new();
        for word in &simple.words {
            let mut pattern = String::new();
            for piece in &word.pieces {
                match piece {
                    Piece::Bare(text) | Piece::Single(text) => pattern.push_str(text),
                    Piece::Escaped(character) => pattern.push(*character),
                    Piece::Double(inner) => match inner.as_slice() {
                        [] => {}
                        [Piece::Bare(text)] => pattern.push_str(text),
                        _ => return refused("a word of it is not plain text"),
                    },
                    _ => return refused("a word of it is not plain text"),
                }
            }
            words.push(pattern);
        }
        let program = words.remove(0);
        if program.contains(['*', '?']) {
            return refused("the program has to be named");
        }
        let open_end = words.last().is_some_and(|last| last == "*");
        if open_end {
            words.pop();
        }
        Ok(Self { program, patterns: words, open_end })
    }
}

impl AllowlistEntry {
    /// Whether the entry matches the invocation.
    pub(super) fn names(&self, invocation: &Invocation) -> bool {
        if invocation.program().known() != Some(self.program.as_str()) {
            return false;
        }
        let arguments = invocation.arguments();
        if invocation.has_more && !self.open_end {
            return false;
        }
        let enough = match self.open_end {
            true => arguments.len() >= self.patterns.len(),
            false => arguments.len() == self.patterns.len(),
        };
        enough && arguments.iter().zip(&self.patterns).all(|(value, pattern)| fits(value, pattern))
    }
}

/// An unknown word only matches a `*` of its own, and only if it cannot become several words.
fn fits(value: &Value, pattern: &str) -> bool {
    match value.known() {
        Some(text) if !value.is_glob => matches(pattern.as_bytes(), text.as_bytes()),
        _ => pattern == "*" && !value.splits && !value.is_glob,
    }
}

/// Matches `*` and `?`. Worst case: product of the lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(byte) if *byte == b'?' || text.get(read) == Some(byte) => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((back, from)) => {
                    star = Some((back, from + 1));
                    at = back + 1;
                    read = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}
