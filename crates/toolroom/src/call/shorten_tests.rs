use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::call::size::size_chars;
use crate::scale::cases;

const ARTIFACT: &str = "art_0190c1d2e3f4";

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn is_marker(text: &str, what: &str) -> bool {
    text == format!("[… {what} …]") || text == format!("[… {what}{} …]", naming(ARTIFACT))
}

/// The text is a head of the original, one marker with true numbers, and a tail of the original.
fn is_cut(original: &str, short: &str) -> bool {
    let total = original.chars().count();
    short.match_indices("[… ").any(|(start, _)| {
        let (head, rest) = short.split_at(start);
        rest.match_indices(" …]").any(|(at, end)| {
            let (marker, tail) = rest.split_at(at + end.len());
            let kept = head.chars().count() + tail.chars().count();
            kept < total
                && original.starts_with(head)
                && original.ends_with(tail)
                && is_marker(marker, &missing(total - kept, total, CHARACTERS))
        })
    })
}

fn faithful_ends<T>(
    original: &[T],
    short: &[T],
    unit: &str,
    marker: impl Fn(&T) -> Option<String>,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    let all = |left: &[T], right: &[T]| left.iter().zip(right).all(|(left, right)| same(left, right));
    if original.len() == short.len() && all(original, short) {
        return true;
    }
    let Some(left_out) = (original.len() + 1).checked_sub(short.len()) else { return false };
    (0..short.len()).any(|at| {
        let tail = &short[at + 1..];
        marker(&short[at]).is_some_and(|text| is_marker(&text, &missing(left_out, original.len(), unit)))
            && all(&original[..at], &short[..at])
            && all(&original[original.len() - tail.len()..], tail)
    })
}

fn faithful(original: &Value, short: &Value, level: usize) -> bool {
    match (original, short) {
        (Value::String(original), Value::String(short)) => original == short || is_cut(original, short),
        (Value::Array(_) | Value::Object(_), Value::String(text)) => {
            level == MAX_LEVELS && is_marker(text, "nested deeper than 64 levels, left out")
        }
        (Value::Array(original), Value::Array(short)) => faithful_ends(
            original,
            short,
            ITEMS,
            |item| item.as_str().map(str::to_owned),
            |original, short| faithful(original, short, level + 1),
        ),
        (Value::Object(original), Value::Object(short)) => faithful_ends(
            &original.iter().collect::<Vec<_>>(),
            &short.iter().collect::<Vec<_>>(),
            ENTRIES,
            |(key, item)| item.as_str().filter(|_| !original.contains_key(*key)).map(str::to_owned),
            |original, short| original.0 == short.0 && faithful(original.1, short.1, level + 1),
        ),
        _ => original == short,
    }
}

fn check(value: &Value, cap: usize, artifact: Option<&str>) {
    let Some(short) = shorten(value, cap, artifact) else {
        assert!(size_chars(value) <= cap);
        return;
    };
    assert!(size_chars(value) > cap || crate::schema::bounds(value).is_err(), "shortened although it fits");
    assert!(size_chars(&short) <= cap, "{} > {cap}: {short}", size_chars(&short));
    assert_eq!(kind(&short), kind(value));
    assert!(faithful(value, &short, 0), "cap {cap}: {short}");
    assert_eq!(shorten(&short, cap, artifact), None);
    assert_eq!(shorten(value, cap, artifact), Some(short.clone()));
    let text = serde_json::to_string(&short).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    assert_eq!(text.matches(&naming(ARTIFACT)).count(), usize::from(artifact == Some(ARTIFACT)));
}

fn text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        8 => any::<char>(),
        8 => proptest::char::range('a', 'z'),
        1 => Just('\0'),
        1 => Just('"'),
        1 => Just('\n'),
        1 => Just('\u{301}'),
        1 => Just('👩'),
        1 => Just('\u{200d}'),
        1 => Just('…'),
    ];
    // A short piece repeated is as good as a long one and much cheaper to generate.
    (proptest::collection::vec(letter, 0..16), prop_oneof![3 => 1..3_usize, 1 => 1..80_usize])
        .prop_map(|(letters, times)| letters.into_iter().collect::<String>().repeat(times))
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        (text(), 0..400_usize)
            .prop_map(|(text, times)| json!(vec![text.chars().take(9).collect::<String>(); times])),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        let key = prop_oneof![6 => "[a-z]{0,8}", 1 => "… ?[2-4]?", 1 => text()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..12)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn nested(value: Value, layers: &[bool]) -> Value {
    layers
        .iter()
        .fold(value, |inner, object| if *object { json!({ "in": inner, "": 1 }) } else { json!([0, inner]) })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_value_is_cut_to_the_cap(
        value in tree(),
        layers in prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec(any::<bool>(), 0..90)],
        cap in prop_oneof![MIN_CAP..MIN_CAP + 60, MIN_CAP..3_000],
        artifact in prop_oneof![Just(None), Just(Some(ARTIFACT))],
    ) {
        check(&nested(value, &layers), cap, artifact);
    }

    #[test]
    fn any_text_is_cut_to_the_cap(text in text(), cap in MIN_CAP..1_000_usize) {
        let short = shorten_text(&text, cap, Some(ARTIFACT));
        prop_assert_eq!(short.is_some(), text.chars().count() > cap);
        if let Some(short) = short {
            prop_assert!(short.chars().count() <= cap && is_cut(&text, &short), "{}", short);
        }
    }
}

#[test]
fn cuts_read_as_documented() {
    let letters: String = ('a'..='z').cycle().take(1_000).collect();
    let marker = "[… 880 of 1000 characters left out; whole result: result_read artifact=art_1 …]";
    let expected = format!("{}{marker}{}", letters.split_at(60).0, letters.split_at(940).1);
    assert_eq!(shorten_text(&letters, 200, Some("art_1")), Some(expected));

    let numbers: Vec<usize> = (0..1_000).collect();
    let mut expected: Vec<Value> = (0..37).map(Value::from).collect();
    expected.push(json!("[… 938 of 1000 items left out …]"));
    expected.extend((975..1_000).map(Value::from));
    assert_eq!(shorten(&json!(numbers), 240, None), Some(json!(expected)));

    let short = shorten(&json!({ "id": 7, "body": letters, "ok": true, "list": [1, 2] }), 300, None).unwrap();
    assert_eq!(short["id"], 7);
    assert_eq!(short["list"], json!([1, 2]));
    assert!(
        json_chars(&short) > 290 && short["body"].as_str().unwrap().contains(" of 1000 characters left out")
    );
}

#[test]
fn small_siblings_stay_whole_and_large_ones_share() {
    let value = json!([{ "title": "first", "text": "x".repeat(9_000) }, { "title": "second", "text": "y".repeat(9_000) }]);
    let short = shorten(&value, 4_000, Some(ARTIFACT)).unwrap();
    let lengths: Vec<usize> = (0..2).map(|at| short[at]["text"].as_str().unwrap().chars().count()).collect();
    assert_eq!((&short[0]["title"], &short[1]["title"]), (&json!("first"), &json!("second")));
    assert!(lengths[0].abs_diff(lengths[1]) < 100 && json_chars(&short) > 3_900, "{lengths:?}");
}

#[test]
fn extremes_still_have_a_form() {
    let most = missing(usize::MAX, usize::MAX, ENTRIES);
    let key = format!("… {}", usize::MAX);
    assert!(json_chars(&json!({ key: format!("[… {most} …]") })) <= LEAST);
    let key = "k".repeat(50_000);
    assert_eq!(
        shorten(&json!({ key.as_str(): 1 }), 200, None).unwrap(),
        json!({ "…": "[… 1 of 1 entries left out …]" })
    );
    let short = shorten(&json!({ key.as_str(): 1, "…": 2, "last": 3 }), 200, None).unwrap();
    assert_eq!(short, json!({ "… 2": "[… 1 of 3 entries left out …]", "…": 2, "last": 3 }));
    let deep = nested(json!("x".repeat(900)), &[true, false].repeat(500));
    check(&deep, 1_500, Some(ARTIFACT));
    // Too long to be named, and a cap below the least.
    let short = shorten_text(&"x".repeat(900), 10, Some(&"a".repeat(90))).unwrap();
    assert!(short.chars().count() <= MIN_CAP && !short.contains("artifact"), "{short}");
}
