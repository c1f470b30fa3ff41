//! Stops a model that repeats the same calls, before its tools run again.
//!
//! Compares whole batches: all calls of one answer in their order. Two calls are the same if they name the same tool and
//! have equal arguments; the order of keys, white space and number formats do not matter. Results do not matter either, so
//! polling with the same call is stopped too; a tool should wait by itself instead.
//!
//! | guard | stops before |
//! |---|---|
//! | `repeat` | the third of three equal batches in a row |
//! | `alternation` | the batch that completes a cycle of 2 to 4 batches for the second time: the second B of A-B-A-B |

use std::collections::VecDeque;

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use crate::schema::parse_object;

/// This many equal batches in a row stop the run.
const REPEATS: usize = 3;

/// The longest cycle that is detected. The iteration limit ends longer ones.
const LONGEST_CYCLE: usize = 4;

/// Tools named in the reason.
const NAMED_TOOLS: usize = 3;

/// The arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalledWith<'a> {
    /// Parsed arguments.
    Arguments(&'a Value),
    /// Text as the model wrote it. Compared as text if it is not JSON.
    Text(&'a str),
}

/// Why the guard stops a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// `repeat` or `alternation`, as the run's event names it.
    pub guard: &'static str,
    /// What was repeated.
    pub reason: String,
}

/// The newest batches of one run, as many as the longest cycle needs. A resumed run replays the batches of its thread and
/// ignores the verdicts on them.
#[derive(Debug, Clone, Default)]
pub struct RepeatGuard {
    /// The newest one last.
    seen: VecDeque<[u8; 32]>,
}

impl RepeatGuard {
    /// Judges the calls of one answer before any of them runs.
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

/// Hashes a value in a canonical form: each part with its kind and length. Uses its own stack, because a value may have any
/// depth.
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

/// `2`, `2.0` and `2e0` are the same.
fn plain_number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 => {
            // Drops the sign of `-0.0`.
            if float == 0.0 { "0".to_owned() } else { format!("{float:.0}") }
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
#[path = "repeat_tests.rs"]
mod tests;
