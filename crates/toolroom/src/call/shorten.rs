//! Shortens a result that is too large for a model to read, so that both its ends stay readable.
//!
//! Every cut leaves one marker saying how much is missing, and the first marker names the artifact that holds the
//! whole result. It does not store that artifact and does not redact anything.

use serde_json::{Map, Value};

use super::size::{chars_within, json_chars, quoted_chars};

/// The smallest cap that can be honoured; a smaller one counts as this.
pub(crate) const MIN_CAP: usize = 2 * LEAST;

/// Room in which every value has a form: the longest marker with its key and brackets needs 96 characters when all
/// its numbers have 20 digits.
const LEAST: usize = 100;

/// The least size of a large child. If not all children can have it, fewer are kept: a few readable pieces are more useful
/// to a model than many stumps.
const USEFUL: usize = 400;

/// In a small container the useful size gives way, so that about this many children are still seen.
const FEW: usize = 4;

/// Containers nested deeper are replaced by a marker: it bounds the recursion, and no reader follows further.
const MAX_LEVELS: usize = 64;

const CHARACTERS: &str = "characters";
const ITEMS: &str = "items";
const ENTRIES: &str = "entries";

/// Shortens `value` to at most `cap_chars` (see [`size_chars`](super::size::size_chars)), keeping its top-level type; `None` when it fits.
/// What nests deeper than a reader of JSON follows does not fit either.
///
/// `artifact` is left unnamed when naming it would take more than half of the cap.
pub(crate) fn shorten(value: &Value, cap_chars: usize, artifact: Option<&str>) -> Option<Value> {
    if let Value::String(text) = value {
        return shorten_text(text, cap_chars, artifact).map(Value::String);
    }
    let cap = cap_chars.max(MIN_CAP);
    if chars_within(value, cap, MAX_LEVELS).is_some() {
        return None;
    }
    let (mut shortening, budget) = Shortening::new(cap, artifact);
    Some(shortening.value(value, budget, MAX_LEVELS))
}

/// Shortens `text` to at most `cap_chars` characters; `None` when it fits.
pub(crate) fn shorten_text(text: &str, cap_chars: usize, artifact: Option<&str>) -> Option<String> {
    let cap = cap_chars.max(MIN_CAP);
    if text.chars().count() <= cap {
        return None;
    }
    let (mut shortening, budget) = Shortening::new(cap, artifact);
    Some(shortening.text(text, budget, plain))
}

/// Whether an object has a text of more than `cap_chars` characters.
pub(crate) fn has_longer_text(value: &Value, cap_chars: usize) -> bool {
    let is_longer = |text: &str| text.len() > cap_chars && text.chars().nth(cap_chars).is_some();
    value.as_object().is_some_and(|map| map.values().any(|item| item.as_str().is_some_and(is_longer)))
}

/// Shortens each text of an object to at most `cap_chars` characters; `None` when all fit.
pub(crate) fn shorten_texts(value: &Value, cap_chars: usize, artifact: Option<&str>) -> Option<Value> {
    let cap = cap_chars.max(MIN_CAP);
    let map = value.as_object().filter(|_| has_longer_text(value, cap))?;
    let (mut shortening, budget) = Shortening::new(cap, artifact);
    let shorter = |item: &Value| match item {
        Value::String(text) if text.chars().nth(cap).is_some() => {
            Value::String(shortening.text(text, budget, plain))
        }
        item => item.clone(),
    };
    Some(Value::Object(map.keys().cloned().zip(map.values().map(shorter)).collect()))
}

/// Drops a value of any depth. Left to itself each level would be a call inside the one above, and a stack that
/// overflows ends the process.
pub(crate) fn dismantle(value: Value) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(map) => waiting.extend(map.into_iter().map(|(_, item)| item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// One child of a container; array items have no key.
struct Part<'a> {
    key: Option<&'a str>,
    value: &'a Value,
    /// Key, colon and comma.
    frame: usize,
    /// `None` when the value cannot stay whole: too large for its container, or too deep.
    whole: Option<usize>,
}

/// The children of a container that stay, from both its ends.
struct Ends<'a> {
    head: Vec<Part<'a>>,
    tail: Vec<Part<'a>>,
}

struct Shortening<'a> {
    /// Named by the first marker and then taken: in every marker it would cost the room of the content.
    artifact: Option<&'a str>,
}

impl<'a> Shortening<'a> {
    /// Also gives the budget for everything but the name of the artifact, whose room is set aside.
    fn new(cap: usize, artifact: Option<&'a str>) -> (Self, usize) {
        let named = artifact
            .map(|id| (id, naming(id).chars().map(escaped).sum::<usize>()))
            .filter(|(_, cost)| *cost <= cap / 2);
        match named {
            Some((id, cost)) => (Self { artifact: Some(id) }, cap - cost),
            None => (Self { artifact: None }, cap),
        }
    }

    /// A form of `value` that costs at most `budget`, which is at least [`LEAST`].
    fn value(&mut self, value: &Value, budget: usize, levels: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, budget.saturating_sub(2), escaped)),
            Value::Array(_) | Value::Object(_) if levels == 0 => {
                Value::String(self.marker(&format!("nested deeper than {MAX_LEVELS} levels, left out")))
            }
            Value::Array(items) => {
                let all = items.iter().map(|item| (None, item));
                let kept = self.children(all, None, budget, levels);
                Value::Array(kept.into_iter().map(|(_, item)| item).collect())
            }
            Value::Object(map) => {
                let marker_key = unused_key(map);
                let all = map.iter().map(|(key, item)| (Some(key.as_str()), item));
                let kept = self.children(all, Some(&marker_key), budget, levels);
                Value::Object(
                    kept.into_iter().filter_map(|(key, item)| Some((key?.to_owned(), item))).collect(),
                )
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// The children that stay, whole or shortened, and the marker for the others where they were.
    fn children<'v, I>(
        &mut self,
        all: I,
        marker_key: Option<&'v str>,
        budget: usize,
        levels: usize,
    ) -> Vec<(Option<&'v str>, Value)>
    where
        I: DoubleEndedIterator<Item = (Option<&'v str>, &'v Value)> + ExactSizeIterator + Clone,
    {
        let total = all.len();
        let unit = if marker_key.is_some() { ENTRIES } else { ITEMS };
        let floor = (budget / FEW).clamp(LEAST, USEFUL);
        // Two brackets, less the comma that the first child does not have.
        let mut room = budget.saturating_sub(1);
        let mut ends = Ends::select(all.clone(), room, floor, levels - 1);
        if ends.len() < total {
            room = room.saturating_sub(frame(marker_key) + 2 + marker_cost(total, unit));
            ends = Ends::select(all, room, floor, levels - 1);
        }

        let left_out = total - ends.len();
        let share = ends.share(room);
        let mut spare = 0;
        let mut kept = Vec::with_capacity(ends.len() + 1);
        for part in ends.head {
            kept.push((part.key, self.part(&part, share, &mut spare, levels - 1)));
        }
        if left_out > 0 {
            kept.push((marker_key, Value::String(self.marker(&missing(left_out, total, unit)))));
        }
        for part in ends.tail {
            kept.push((part.key, self.part(&part, share, &mut spare, levels - 1)));
        }
        kept
    }

    /// `spare` is what earlier large siblings could not use of their share.
    fn part(&mut self, part: &Part<'_>, share: usize, spare: &mut usize, levels: usize) -> Value {
        if part.whole.is_some_and(|cost| cost <= share) {
            return part.value.clone();
        }
        let budget = share.saturating_add(*spare);
        let child = match part.whole {
            Some(cost) if cost <= budget => part.value.clone(),
            _ => self.value(part.value, budget, levels),
        };
        *spare = budget.saturating_sub(json_chars(&child));
        child
    }

    /// Head, marker and tail of a text that costs more than `budget`.
    fn text(&mut self, text: &str, budget: usize, cost: fn(char) -> usize) -> String {
        let total = text.chars().count();
        let room = budget.saturating_sub(marker_cost(total, CHARACTERS));
        let head_end =
            first_beyond(text.char_indices(), room - room / 2, cost).map_or(text.len(), |(at, _)| at);
        let (head, rest) = text.split_at_checked(head_end).unwrap_or((text, ""));
        let tail_start = first_beyond(rest.char_indices().rev(), room / 2, cost)
            .map_or(0, |(at, last)| at + last.len_utf8());
        let (middle, tail) = rest.split_at_checked(tail_start).unwrap_or((rest, ""));
        let marker = self.marker(&missing(middle.chars().count(), total, CHARACTERS));
        format!("{head}{marker}{tail}")
    }

    fn marker(&mut self, what: &str) -> String {
        let naming = self.artifact.take().map(naming).unwrap_or_default();
        format!("[… {what}{naming} …]")
    }
}

impl<'a> Ends<'a> {
    /// Takes children from the end that has less so far, while each can have `floor` or stay whole within `room`.
    fn select<I>(mut all: I, room: usize, floor: usize, levels: usize) -> Self
    where
        I: DoubleEndedIterator<Item = (Option<&'a str>, &'a Value)>,
    {
        let mut ends = Self { head: Vec::new(), tail: Vec::new() };
        let (mut head_used, mut tail_used) = (Some(0), Some(0));
        let mut left = room;
        // `None` closes an end: its next child did not fit.
        while let Some(at_head) = match (head_used, tail_used) {
            (Some(head), Some(tail)) => Some(head <= tail),
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        } {
            let Some((key, value)) = (if at_head { all.next() } else { all.next_back() }) else { break };
            let part = Part { key, value, frame: frame(key), whole: chars_within(value, room, levels) };
            let used = part.frame + part.whole.map_or(floor, |cost| cost.min(floor));
            let (end, end_used) =
                if at_head { (&mut ends.head, &mut head_used) } else { (&mut ends.tail, &mut tail_used) };
            match left.checked_sub(used) {
                Some(rest) => {
                    left = rest;
                    *end_used = end_used.map(|before| before + used);
                    end.push(part);
                }
                None => *end_used = None,
            }
        }
        ends.tail.reverse();
        ends
    }

    fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The share of each child that cannot stay whole, when all that need less than a share take only what they need.
    fn share(&self, room: usize) -> usize {
        let parts = || self.head.iter().chain(&self.tail);
        let mut left = room.saturating_sub(parts().map(|part| part.frame).sum());
        let mut wanted: Vec<usize> = parts().map(|part| part.whole.unwrap_or(usize::MAX)).collect();
        wanted.sort_unstable();
        for (waiting, cost) in (1..=wanted.len()).rev().zip(wanted) {
            let share = left / waiting;
            if cost > share {
                return share;
            }
            left -= cost;
        }
        usize::MAX
    }
}

fn naming(artifact: &str) -> String {
    format!("; whole result: result_read artifact={artifact}")
}

fn missing(left_out: usize, total: usize, unit: &str) -> String {
    format!("{left_out} of {total} {unit} left out")
}

/// The most that a marker costs before it is known how much is left out.
fn marker_cost(total: usize, unit: &str) -> usize {
    format!("[… {} …]", missing(total, total, unit)).chars().count()
}

/// A key for the marker that hides none of the object's own.
fn unused_key(map: &Map<String, Value>) -> String {
    let mut key = "…".to_owned();
    let mut number = 1_usize;
    while map.contains_key(&key) {
        number += 1;
        key = format!("… {number}");
    }
    key
}

/// The first character, in the order given, at which the costs exceed `room`.
fn first_beyond(
    mut chars: impl Iterator<Item = (usize, char)>,
    room: usize,
    cost: fn(char) -> usize,
) -> Option<(usize, char)> {
    let mut used = 0;
    chars.find(|(_, next)| {
        used += cost(*next);
        used > room
    })
}

/// What a character costs in a text that is read as it is.
fn plain(_: char) -> usize {
    1
}

/// What a character costs inside a JSON string.
fn escaped(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => 1,
    }
}

/// What a child costs besides its value: key and colon in an object, and the comma.
fn frame(key: Option<&str>) -> usize {
    key.map_or(1, |key| 2 + quoted_chars(key))
}

#[cfg(test)]
#[path = "shorten_tests.rs"]
mod tests;
