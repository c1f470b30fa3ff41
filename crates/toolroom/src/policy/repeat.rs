//! A model that goes in circles is stopped before its tools run once more.
//!
//! What is compared are whole batches, that is all calls of one answer in their order; never single calls taken out of
//! them. Two calls are the same when they name the same tool and mean the same arguments: the order of keys, spaces and
//! the way a number is written do not count. What the tools answered does not count either, so asking for news with the
//! very same call over and over is going in circles too; a tool that waits by itself is the way to do that.
//!
//! | guard | stops before |
//! |---|---|
//! | `repeat` | the third of three equal batches in a row |
//! | `alternation` | the batch that completes a cycle of 2 to 4 batches for the second time: the second B of A-B-A-B |

use std::collections::VecDeque;

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use crate::schema::parse_object;

/// So many equal batches in a row are one too many.
const REPEATS: usize = 3;

/// The longest cycle that is looked for. Longer ones end with the bound on iterations.
const LONGEST_CYCLE: usize = 4;

/// Whoever reads the reason wants to know which tools, not all forty of them.
const NAMED_TOOLS: usize = 3;

/// What a call was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalledWith<'a> {
    /// Arguments that were read.
    Arguments(&'a Value),
    /// Text as the model wrote it. It is read if it can be, and otherwise compared as it is.
    Text(&'a str),
}

/// Why a run does not go on calling tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// `repeat` or `alternation`, as the run's event names it.
    pub guard: &'static str,
    /// What was seen.
    pub reason: String,
}

/// The batches of one run, as far back as a cycle can reach. For a run that goes on after it was broken off, the batches
/// of its thread are judged again, and what is said of them is left alone.
#[derive(Debug, Clone, Default)]
pub struct RepeatGuard {
    /// The newest one last.
    seen: VecDeque<[u8; 32]>,
}

impl RepeatGuard {
    /// Looks at the calls of one answer, each a tool and what it is given, before any of them runs.
    pub fn judge(&mut self, batch: &[(&str, CalledWith<'_>)]) -> Option<Repetition> {
        if batch.is_empty() {
            return None;
        }
        while self.seen.len() >= 2 * LONGEST_CYCLE {
            self.seen.pop_front();
        }
        self.seen.push_back(signature(batch));
        let newest = |back: usize| self.seen.iter().rev().nth(back);
        if self.seen.len() >= REPEATS && (1..REPEATS).all(|back| newest(back) == newest(0)) {
            let reason = format!("the same calls {REPEATS} times in a row: {}", named(batch));
            return Some(Repetition { guard: "repeat", reason });
        }
        let length = (2..=LONGEST_CYCLE).find(|length| {
            self.seen.len() >= 2 * length && (0..*length).all(|back| newest(back) == newest(back + length))
        })?;
        let reason = format!("a cycle of {length} steps for the second time, ending with {}", named(batch));
        Some(Repetition { guard: "alternation", reason })
    }
}

fn named(batch: &[(&str, CalledWith<'_>)]) -> String {
    let mut tools: Vec<String> = Vec::new();
    for (tool, _) in batch {
        let tool = format!("`{tool}`");
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    let more = tools.len().saturating_sub(NAMED_TOOLS);
    tools.truncate(NAMED_TOOLS);
    let tools = tools.join(", ");
    if more == 0 { tools } else { format!("{tools} and {more} more") }
}

fn signature(batch: &[(&str, CalledWith<'_>)]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for (tool, given) in batch {
        hash_text(&mut hash, b't', tool);
        match given {
            CalledWith::Arguments(value) => hash_value(&mut hash, value),
            CalledWith::Text(text) => match parse_object(text) {
                Ok(arguments) => hash_value(&mut hash, &Value::Object(arguments)),
                Err(_) => hash_text(&mut hash, b'?', text),
            },
        }
    }
    hash.finalize().into()
}

/// Feeds a value in a form that is the same for all ways to write it: each part with its kind and its length. With its
/// own stack, as a value of any depth may come in.
fn hash_value(hash: &mut Sha256, value: &Value) {
    let mut waiting: Vec<(Option<&str>, &Value)> = vec![(None, value)];
    while let Some((key, value)) = waiting.pop() {
        if let Some(key) = key {
            hash_text(hash, b'k', key);
        }
        match value {
            Value::Null => hash.update(b"z"),
            Value::Bool(true) => hash.update(b"y"),
            Value::Bool(false) => hash.update(b"n"),
            Value::Number(number) => hash_text(hash, b'd', &plain_number(number)),
            Value::String(text) => hash_text(hash, b's', text),
            Value::Array(items) => {
                hash_length(hash, b'a', items.len());
                waiting.extend(items.iter().rev().map(|item| (None, item)));
            }
            Value::Object(map) => {
                hash_length(hash, b'o', map.len());
                let first = waiting.len();
                waiting.extend(map.iter().map(|(key, item)| (Some(key.as_str()), item)));
                if let Some(members) = waiting.get_mut(first..) {
                    members.sort_unstable_by_key(|(key, _)| *key);
                }
            }
        }
    }
}

fn hash_text(hash: &mut Sha256, kind: u8, text: &str) {
    hash_length(hash, kind, text.len());
    hash.update(text);
}

fn hash_length(hash: &mut Sha256, kind: u8, length: usize) {
    hash.update([kind]);
    hash.update(length.to_be_bytes());
}

/// Whole numbers are whole however they are written.
fn plain_number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 => {
            // Zero has a sign here, and nobody means it.
            if float == 0.0 { "0".to_owned() } else { format!("{float:.0}") }
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
#[path = "repeat_tests.rs"]
mod tests;
