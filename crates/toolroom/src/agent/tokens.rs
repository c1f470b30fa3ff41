//! Token estimates.
//!
//! Every vendor has its own tokenizer, and they report counts only afterwards, so this is a guess by script: a
//! token is about four letters of English, three characters of JSON or code, two letters of Cyrillic or Arabic, and less
//! than one character of Chinese. Each message is estimated once. [`Estimator`] corrects the guess per model by the counts
//! that vendors report.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::model::{Block, Message, OfferedTool, Opaque};

/// Estimates are added up in hundredths of a token.
const TOKEN: u64 = 100;

/// What each message costs besides its text: role and delimiters.
const FRAME: u64 = 4 * TOKEN;

/// What a call or a result costs besides its text: id and delimiters.
const CALL_FRAME: u64 = 12 * TOKEN;

/// What a tool on offer costs besides its text.
const TOOL_FRAME: u64 = 12 * TOKEN;

/// A picture: what the most expensive vendor counts for a large one.
const IMAGE: u64 = 1_600 * TOKEN;

/// Bytes of opaque vendor data per token.
const OPAQUE_BYTES: u64 = 4;

/// Tokens of a text.
#[must_use]
pub(super) fn text(text: &str) -> u64 {
    whole(text_cost(text))
}

/// Tokens of a message with everything in it.
#[must_use]
pub(super) fn message(message: &Message) -> u64 {
    whole(FRAME + message.blocks.iter().map(block_cost).sum::<u64>())
}

/// Tokens of one block of a message.
#[must_use]
pub(super) fn block(block: &Block) -> u64 {
    whole(block_cost(block))
}

/// Tokens of a tool on offer, its schema included.
#[must_use]
pub(super) fn offered(tool: &OfferedTool) -> u64 {
    let cost = text_cost(&tool.name) + text_cost(&tool.description) + value_cost(&tool.parameters);
    whole(TOOL_FRAME + cost)
}

fn whole(cost: u64) -> u64 {
    cost.div_ceil(TOKEN)
}

fn block_cost(block: &Block) -> u64 {
    match block {
        Block::Text { text, opaque } | Block::Reasoning { text, opaque } => {
            text_cost(text) + opaque.as_ref().map_or(0, opaque_cost)
        }
        Block::Image(_) => IMAGE,
        Block::Call { name, arguments, opaque, .. } => {
            let opaque = opaque.as_ref().map_or(0, opaque_cost);
            CALL_FRAME + text_cost(name) + text_cost(arguments) + opaque
        }
        Block::Result { name, content, .. } => CALL_FRAME + text_cost(name) + value_cost(content),
        Block::Opaque(opaque) => opaque_cost(opaque),
    }
}

/// Signatures and encrypted reasoning are estimated by length.
fn opaque_cost(opaque: &Opaque) -> u64 {
    let mut bytes = 0;
    walk(&opaque.part, |text| bytes += length(text));
    bytes * TOKEN / OPAQUE_BYTES
}

/// A value as compact JSON; a text alone as it is.
fn value_cost(value: &Value) -> u64 {
    let mut cost = 0;
    walk(value, |text| cost += text_cost(text));
    let marks = match value {
        Value::String(_) => 0,
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => marks(value),
    };
    cost + marks
}

/// What quotes, colons, commas, brackets and plain words of JSON cost.
fn marks(value: &Value) -> u64 {
    let mut cost = 0;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        cost += match value {
            Value::Null | Value::Bool(_) => TOKEN,
            Value::Number(number) if number.is_f64() => 4 * TOKEN,
            Value::Number(number) => {
                let digits = number.as_i64().map_or(20, |number| number.unsigned_abs().max(1).ilog10() + 1);
                u64::from(digits) * DIGIT + MARK
            }
            Value::String(_) => 2 * MARK,
            Value::Array(items) => {
                waiting.extend(items);
                2 * MARK + length_of(items.len()) * MARK
            }
            Value::Object(map) => {
                waiting.extend(map.values());
                2 * MARK + length_of(map.len()) * 3 * MARK
            }
        };
    }
    cost
}

/// Visits every string of a value, keys included. Not recursive, as a value may have any depth.
fn walk(value: &Value, mut seen: impl FnMut(&str)) {
    if let Value::String(text) = value {
        return seen(text);
    }
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => seen(text),
            Value::Array(items) => waiting.extend(items),
            Value::Object(map) => {
                for (key, value) in map {
                    seen(key);
                    waiting.push(value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn length(text: &str) -> u64 {
    length_of(text.len())
}

fn length_of(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

const LETTER: u64 = 25;
const DIGIT: u64 = 45;
const MARK: u64 = 45;

/// Extra cost of a capital after a small letter, or a letter after a digit: tokens mostly begin there.
const SEAM: u64 = 30;

/// Adds up the characters in one pass.
fn text_cost(text: &str) -> u64 {
    let mut cost = 0;
    let mut before = ' ';
    for character in text.chars() {
        cost += match character {
            'a'..='z' if before.is_ascii_digit() => LETTER + SEAM,
            'a'..='z' => LETTER,
            'A'..='Z' if before.is_ascii_lowercase() || before.is_ascii_digit() => LETTER + SEAM,
            'A'..='Z' => LETTER + 10,
            '0'..='9' => DIGIT,
            // Spaces merge with words, and with each other.
            ' ' if before == ' ' => 4,
            ' ' => 10,
            '\n' if before == '\n' => 10,
            '\n' | '\t' => 40,
            '!'..='~' => MARK,
            _ => foreign(character),
        };
        before = character;
    }
    cost
}

/// What a character beyond ASCII costs, by its script.
fn foreign(character: char) -> u64 {
    match u32::from(character) {
        // Control characters.
        0..0xa0 => TOKEN,
        // Latin with accents.
        0xa0..0x250 => 60,
        // Greek.
        0x370..0x400 => 60,
        // Cyrillic.
        0x400..0x530 => 45,
        // Armenian, Hebrew, Arabic.
        0x530..0x780 => 55,
        // Quotation marks, dashes, dots.
        0x2000..0x2070 => 70,
        // Kana and the marks between Chinese characters.
        0x3000..0x3100 => 110,
        // Chinese characters and Korean syllables.
        0x3400..0x4dc0 | 0x4e00..0xa000 | 0xac00..0xd7b0 | 0xf900..0xfb00 => 120,
        // Marks as wide as a Chinese character.
        0xff00..0xffef => 110,
        // The scripts of India, Thailand, Georgia, Ethiopia and many more.
        0x780..0x2000 | 0xa000..0xac00 => 80,
        // Arrows, mathematics, frames.
        0x2070..0x3000 => 130,
        // Emoji, rare Chinese characters, old scripts.
        0x1_0000.. => 250,
        _ => 150,
    }
}

/// A correction in thousandths.
const PLAIN: u64 = 1_000;

/// The correction before a vendor has reported: rather too high.
const UNKNOWN: u64 = 1_150;

const LEAST: u64 = 500;
const MOST: u64 = 3_000;

/// Smaller estimates are not learned from: the frames dominate.
const MIN_ESTIMATE: u64 = 200;

/// The correction of estimates for each model that was asked. Errs on the side of too many tokens until a model has reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Estimator {
    by_model: BTreeMap<Arc<str>, u64>,
}

impl Estimator {
    /// An estimate, corrected by what is known about the model.
    #[must_use]
    pub(super) fn corrected(&self, model: &str, estimate: u64) -> u64 {
        scale(estimate, self.factor(model), PLAIN)
    }

    /// The estimate that corresponds to so many tokens of the model: what a window is in the measure of this file.
    #[must_use]
    pub(super) fn estimate_for(&self, model: &str, tokens: u64) -> u64 {
        tokens.saturating_mul(PLAIN) / self.factor(model)
    }

    /// Learns from the count a model reported for a request of this estimate. Later reports count for a third, so that one odd
    /// request does not change much.
    pub(super) fn learn(&mut self, model: &str, estimate: u64, reported: u64) {
        if estimate < MIN_ESTIMATE || reported == 0 {
            return;
        }
        let seen = (reported.saturating_mul(PLAIN) / estimate).clamp(LEAST, MOST);
        let factor = self.by_model.get(model).map_or(seen, |known| (2 * known + seen) / 3);
        self.set(model, factor);
    }

    /// Learns that a model refused a request of this estimate as longer than its window.
    pub(super) fn refused(&mut self, model: &str, estimate: u64, window: u64) {
        let least = scale(window, PLAIN, estimate.max(1));
        self.set(model, least.max(scale(self.factor(model), 5, 4)));
    }

    fn factor(&self, model: &str) -> u64 {
        self.by_model.get(model).copied().unwrap_or(UNKNOWN)
    }

    fn set(&mut self, model: &str, factor: u64) {
        let factor = factor.clamp(LEAST, MOST);
        match self.by_model.get_mut(model) {
            Some(known) => *known = factor,
            None => drop(self.by_model.insert(model.into(), factor)),
        }
    }
}

/// Never too little.
fn scale(amount: u64, times: u64, by: u64) -> u64 {
    amount.saturating_mul(times).div_ceil(by)
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
