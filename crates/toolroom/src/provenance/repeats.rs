//! Whether the arguments of a call repeat what is known of the user.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use serde_json::Value;

/// So many characters in a row are no coincidence.
const VERBATIM_CHARS: usize = 16;

/// A whole value of fewer characters stands in too many texts by chance.
const MIN_VALUE_CHARS: usize = 4;

/// Arguments with more text than this count as repeating a value: the search would take too long.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// Whether an argument repeats one of the values: 16 characters of it in a row, or all of it, in any case, also
/// percent-encoded or in base64.
pub(crate) fn repeats<'a>(arguments: &Value, values: impl IntoIterator<Item = &'a str>) -> bool {
    let (mut texts, mut bytes) = (Vec::new(), 0);
    leaves(arguments, Names::Count, &mut |text| {
        bytes += text.len();
        if bytes <= MAX_ARGUMENT_BYTES {
            texts.extend(readings(text));
        }
    });
    if bytes > MAX_ARGUMENT_BYTES {
        return true;
    }
    // Hashes of 16 characters in a row. Two that are equal by chance only cause a question.
    let hasher = RandomState::new();
    let mut windows = HashSet::new();
    for value in values {
        let value = folded(value.trim());
        let chars: Vec<char> = value.chars().collect();
        if chars.len() >= VERBATIM_CHARS {
            windows.extend(chars.windows(VERBATIM_CHARS).map(|window| hasher.hash_one(window)));
        } else if chars.len() >= MIN_VALUE_CHARS && texts.iter().any(|text| holds_word(text, &value)) {
            return true;
        }
    }
    !windows.is_empty()
        && texts.iter().any(|text| {
            let chars: Vec<char> = text.chars().collect();
            chars.windows(VERBATIM_CHARS).any(|window| windows.contains(&hasher.hash_one(window)))
        })
}

/// Whether the names of an object's members are texts like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Count,
    Ignore,
}

/// Every text and number in a value.
pub(crate) fn leaves(value: &Value, names: Names, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Number(number) => take(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, names, take)),
        Value::Object(members) => {
            for (name, member) in members {
                if names == Names::Count {
                    take(name);
                }
                leaves(member, names, take);
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

/// A text in all the ways in which it can be read.
fn readings(text: &str) -> Vec<String> {
    let decoded = percent_decoded(text);
    let mut readings = vec![folded(text)];
    readings.extend(base64_parts(text).map(|part| folded(&part)));
    if decoded != text {
        readings.extend(base64_parts(&decoded).map(|part| folded(&part)));
        readings.push(folded(&decoded));
    }
    readings
}

fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Whether a short value stands in the text as a word of its own: `Oslo` is not in `Osloer`.
fn holds_word(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + value.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4) | low),
            _ => None,
        };
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// What the parts of a text say that could be base64, in either alphabet.
fn base64_parts(text: &str) -> impl Iterator<Item = String> {
    let is_digit = |byte: &u8| sextet(*byte).is_some();
    let parts = text.as_bytes().split(move |byte| !is_digit(byte));
    // A value may begin in the middle of a part: a path and a value are one word.
    parts
        .filter(|part| part.len() >= MIN_VALUE_CHARS)
        .flat_map(|part| (0..4).filter_map(|skip| part.get(skip..)).map(decoded).collect::<Vec<_>>())
}

fn decoded(part: &[u8]) -> String {
    let (mut bytes, mut held, mut bits) = (Vec::with_capacity(part.len()), 0_u32, 0);
    for sextet in part.iter().filter_map(|byte| sextet(*byte)) {
        held = ((held << 6) | u32::from(sextet)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).unwrap_or_default());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_found_verbatim_and_encoded() {
        let known = ["Prefers black coffee, no sugar", "Tashkent", "41.2995", "it"];
        for arguments in [
            json!({"q": "he PREFERS BLACK COFFEE these days"}),
            json!({"url": "https://x.example/?d=prefers%20black%20coffee%2C"}),
            json!({"url": "https://x.example/?d=prefers+black+coffee"}),
            json!({"url": "https://x.example/a/UHJlZmVycyBibGFjayBjb2ZmZWUsIG5vIHN1Z2Fy"}),
            json!({"url": "https://x.example/?d=UHJlZmVycyBibGFjayBjb2ZmZWUsIG5vIHN1Z2Fy%3D"}),
            json!({"deep": [{"city": "tashkent"}]}),
            json!({"url": "https://x.example/VGFzaGtlbnQ="}),
            json!({"q": "weather in Tashkent tomorrow"}),
            json!({"tashkent": 1}),
            json!({"lat": 41.2995}),
        ] {
            assert!(repeats(&arguments, known), "{arguments}");
        }
        for arguments in [
            json!({"q": "coffee without sugar"}),
            json!({"q": "black coffee"}),
            json!({"q": "Tashkenter Strasse"}),
            json!({"q": "what is it"}),
            json!({}),
        ] {
            assert!(!repeats(&arguments, known), "{arguments}");
        }
        let long = json!({"url": format!("https://x.example/{}", "ab".repeat(MAX_ARGUMENT_BYTES))});
        assert!(repeats(&long, known), "too long to be searched");
    }
}
