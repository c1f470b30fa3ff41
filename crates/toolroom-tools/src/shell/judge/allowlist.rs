//! The allow-list: programs with patterns for their arguments.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::call::Call;
use super::value::Value;
use crate::shell::grammar::{Body, Piece, parse};

/// An entry: a program and a pattern for each argument. `*` and `?` stand for characters of one argument; a `*` that is
/// a whole word at the end stands for any further arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    program: String,
    patterns: Vec<String>,
    open_end: bool,
}

/// A text that is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryError {
    why: &'static str,
}

impl fmt::Display for EntryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; write a program and patterns for its arguments, as in `git log *`", self.why)
    }
}

impl Error for EntryError {}

impl FromStr for Entry {
    type Err = EntryError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |why| Err(EntryError { why });
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

impl Entry {
    /// Whether a call is one that this entry names.
    pub(super) fn names(&self, call: &Call) -> bool {
        if call.program().known() != Some(self.program.as_str()) {
            return false;
        }
        let arguments = call.arguments();
        if call.has_more && !self.open_end {
            return false;
        }
        let enough = match self.open_end {
            true => arguments.len() >= self.patterns.len(),
            false => arguments.len() == self.patterns.len(),
        };
        enough && arguments.iter().zip(&self.patterns).all(|(value, pattern)| fits(value, pattern))
    }
}

/// A word that is not known fits nothing but a `*` of its own, and that only if it is one word.
fn fits(value: &Value, pattern: &str) -> bool {
    match value.known() {
        Some(text) if !value.is_glob => matches(pattern.as_bytes(), text.as_bytes()),
        _ => pattern == "*" && !value.splits && !value.is_glob,
    }
}

/// `*` and `?`, in time that grows with the product of the lengths at worst.
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
