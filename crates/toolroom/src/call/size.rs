//! How large JSON is, without making its text.

use serde_json::{Number, Value};

/// Initial capacity of the traversal stack, enough for most objects.
const STACK_CAPACITY: usize = 32;

/// The size a model reads: a string counts its own characters, anything else those of its compact JSON.
pub(crate) fn size_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => chars(text),
        other => json_chars(other),
    }
}

/// Characters of the compact JSON.
pub(super) fn json_chars(value: &Value) -> usize {
    chars_within(value, usize::MAX, usize::MAX).unwrap_or(usize::MAX)
}

/// Bytes of the compact JSON.
pub(crate) fn json_bytes(value: &Value) -> usize {
    within(value, usize::MAX, usize::MAX, quoted_bytes).unwrap_or(usize::MAX)
}

/// The characters of the compact JSON, or `None` once they exceed `limit` or `levels` of containers.
pub(super) fn chars_within(value: &Value, limit: usize, levels: usize) -> Option<usize> {
    within(value, limit, levels, quoted_chars)
}

/// Characters of a JSON string.
pub(super) fn quoted_chars(text: &str) -> usize {
    2 + chars(text) + escapes(text)
}

/// Most text is ASCII, which is seen sooner than its characters are counted.
fn chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

fn number_chars(number: &Number) -> usize {
    let digits = |number: u64| number.checked_ilog10().unwrap_or(0) as usize + 1;
    match (number.as_u64(), number.as_i64()) {
        (Some(whole), _) => digits(whole),
        (None, Some(negative)) => 1 + digits(negative.unsigned_abs()),
        (None, None) => number.to_string().len(),
    }
}

fn quoted_bytes(text: &str) -> usize {
    2 + text.len() + escapes(text)
}

/// What escaping adds to a text.
fn escapes(text: &str) -> usize {
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // Nearly every text needs none, and looking at all bytes at once is faster than stopping early.
    if !text.bytes().fold(false, |any, byte| any | is_escaped(byte)) {
        return 0;
    }
    let added = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x8 | 0xc => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.bytes().map(added).sum()
}

/// Walks with its own stack, as a value of any depth may come in, and reads little more than `limit`, as each level
/// of containers measures its children anew.
fn within(value: &Value, limit: usize, levels: usize, quoted: impl Fn(&str) -> usize) -> Option<usize> {
    // A character has at most four bytes: so much text is too large without being read.
    let text_cost = |text: &str| (text.len() / 4 <= limit).then(|| quoted(text));
    let mut cost = 0_usize;
    let mut waiting = Vec::with_capacity(STACK_CAPACITY);
    waiting.push((value, levels));
    while let Some((value, levels)) = waiting.pop() {
        cost += match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => number_chars(number),
            Value::String(text) => text_cost(text)?,
            Value::Array(items) => 2 + items.len().saturating_sub(1),
            Value::Object(map) => 2 + (2 * map.len()).saturating_sub(1),
        };
        if cost > limit {
            return None;
        }
        match value {
            Value::Array(items) => {
                let inner = levels.checked_sub(1)?;
                waiting.extend(items.iter().map(|item| (item, inner)));
            }
            Value::Object(map) => {
                let inner = levels.checked_sub(1)?;
                for (key, item) in map {
                    cost += text_cost(key)?;
                    if cost > limit {
                        return None;
                    }
                    waiting.push((item, inner));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Some(cost)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn a_string_counts_as_it_is_read_and_anything_else_as_json() {
        assert_eq!(size_chars(&json!("a\"ü")), 3);
        assert_eq!(size_chars(&json!(["a\"ü"])), 8);
        assert_eq!(json_bytes(&json!(["a\"ü"])), 9);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(cases(300))]
        #[test]
        fn it_is_the_size_of_the_text(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(json_bytes(&value), text.len());
            prop_assert_eq!(json_chars(&value), text.chars().count());
            prop_assert_eq!(chars_within(&value, text.chars().count(), 8), Some(text.chars().count()));
        }
    }
}
