//! Detects arguments that repeat a user's own data.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Ignores padding and unused bits, because parts may be cut anywhere.
const LENIENT_BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Consecutive equal characters that count as a repetition.
const VERBATIM_CHARS: usize = 16;

/// Shorter values occur in too many texts by chance.
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
            texts.extend(decodings(text));
        }
    });
    if bytes > MAX_ARGUMENT_BYTES {
        return true;
    }
    // Hashes of windows. A collision only causes a question.
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

/// Whether the names of an object's members count as texts.
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

/// A text in all its decodings.
fn decodings(text: &str) -> Vec<String> {
    // In a query `+` is a space; elsewhere it is itself.
    let mut forms = vec![text.to_owned(), percent_decoded(text), percent_decoded(&text.replace('+', " "))];
    forms.dedup();
    let encoded: Vec<String> = forms.iter().flat_map(|form| base64_parts(form)).collect();
    forms.iter().chain(&encoded).map(|form| folded(form)).collect()
}

/// A text in one case: in upper case first, so that `ß` is `ss`.
fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether the text contains the value as a whole word: `Oslo` is not in `Osloer`.
fn holds_word(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + value.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// What the parts of a text say that could be base64, in either alphabet.
fn base64_parts(text: &str) -> Vec<String> {
    let standard = text.replace('-', "+").replace('_', "/");
    standard
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '/'))
        // A value may begin in the middle of a part: a path and a value are one word.
        .flat_map(|part| (0..4).filter_map(|skip| part.get(skip..)))
        .filter(|part| part.len() >= MIN_VALUE_CHARS)
        .filter_map(base64_decoded)
        .collect()
}

fn base64_decoded(part: &str) -> Option<String> {
    // One character more than a multiple of four holds no whole byte.
    let whole = part.len() - usize::from(part.len() % 4 == 1);
    let bytes = LENIENT_BASE64.decode(part.get(..whole)?).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_found_verbatim_and_encoded() {
        let known = [
            "Prefers black coffee, no sugar",
            "Tashkent",
            "41.2995",
            "it",
            "a+b@x.example",
            "Große Straße 44",
        ];
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
            json!({"url": "https://x.example/?m=a+b%40x.example"}),
            json!({"q": "GROSSE STRASSE 44"}),
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
