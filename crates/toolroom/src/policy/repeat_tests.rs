use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::scale::cases;

fn guard_after(batches: &[&[(&str, &str)]]) -> Vec<Option<&'static str>> {
    let mut guard = RepeatGuard::default();
    let judge = |batch: &&[(&str, &str)]| {
        let batch: Vec<_> = batch.iter().map(|(tool, text)| (*tool, CalledWith::Text(text))).collect();
        guard.judge(&batch).map(|repetition| repetition.guard)
    };
    batches.iter().map(judge).collect()
}

/// One call per letter.
fn letters(text: &str) -> Option<(usize, &'static str)> {
    let mut guard = RepeatGuard::default();
    text.chars().enumerate().find_map(|(at, letter)| {
        let value = json!({ "letter": letter });
        guard.judge(&[("t", CalledWith::Arguments(&value))]).map(|repetition| (at + 1, repetition.guard))
    })
}

#[test]
fn the_third_of_three_equal_batches_is_stopped() {
    assert_eq!(letters("aaa"), Some((3, "repeat")));
    assert_eq!(letters("baaa"), Some((4, "repeat")));
    assert_eq!(letters("aabaac"), None);
}

#[test]
fn a_cycle_is_stopped_when_it_completes_for_the_second_time() {
    assert_eq!(letters("abab"), Some((4, "alternation")));
    assert_eq!(letters("xyzabcabc"), Some((9, "alternation")));
    assert_eq!(letters("abcdabcd"), Some((8, "alternation")));
    assert_eq!(letters("aabaab"), Some((6, "alternation")));
    // A step forward in between is no cycle, and a cycle of five is left to the bound on iterations.
    assert_eq!(letters("abcbadefg"), None);
    assert_eq!(letters("abcdeabcde"), None);
}

#[test]
fn neither_the_order_of_keys_nor_spaces_nor_the_form_of_a_number_hide_a_repetition() {
    let same: [&[(&str, &str)]; 3] = [
        &[("t", r#"{"a": 1, "b": {"x": [2.0], "y": null}}"#)],
        &[("t", r#"{"b":{"y":null,"x":[2]},"a":1.0}"#)],
        &[("t", "{ \"b\" : {\"x\": [2e0], \"y\": null}, \"a\": 10e-1 }")],
    ];
    assert_eq!(guard_after(&same), [None, None, Some("repeat")]);
}

#[test]
fn text_that_cannot_be_read_is_compared_as_it_is() {
    assert_eq!(guard_after(&[&[("t", "{oops")] as &[_]; 3]), [None, None, Some("repeat")]);
    assert_eq!(guard_after(&[&[("t", "{oops")], &[("t", "{oops ")], &[("t", "{oops")]]), [None; 3]);
    assert_eq!(guard_after(&[&[("t", "")], &[("t", "{}")], &[("t", "null")]]), [None, None, Some("repeat")]);
}

#[test]
fn batches_are_compared_whole_and_in_order() {
    let (x, y) = (("t", r#"{"x":1}"#), ("t", r#"{"y":1}"#));
    assert_eq!(guard_after(&[&[x, x], &[x]]), [None; 2]);
    assert_eq!(guard_after(&[&[x, y], &[y, x], &[x, y]]), [None; 3]);
    assert_eq!(guard_after(&[&[x, y] as &[_]; 3]), [None, None, Some("repeat")]);
    assert_eq!(guard_after(&[&[x], &[], &[x], &[], &[x]]), [None, None, None, None, Some("repeat")]);
}

#[test]
fn different_meanings_are_different() {
    let pairs = [
        (json!({"a": 1}), json!({"a": "1"})),
        (json!({"a": null}), json!({})),
        (json!({"a": [1, 2]}), json!({"a": [2, 1]})),
        (json!({"a": ["b"]}), json!({"a": {"b": 1}})),
        (json!({"a": "b", "c": "d"}), json!({"a": "bcd"})),
        (json!({"a": 9_007_199_254_740_993_u64}), json!({"a": 9_007_199_254_740_992_u64})),
        (json!({"a": 1.5}), json!({"a": 1})),
    ];
    for (one, other) in &pairs {
        let sign = |value| signature(&[("t", CalledWith::Arguments(value))]);
        assert_ne!(sign(one), sign(other), "{one} {other}");
    }
    let empty = json!({});
    assert_ne!(
        signature(&[("a", CalledWith::Arguments(&empty))]),
        signature(&[("b", CalledWith::Arguments(&empty))])
    );
}

#[test]
fn the_reason_names_the_tools() {
    let mut guard = RepeatGuard::default();
    let empty = json!({});
    let batch: Vec<_> =
        ["a", "b", "a", "c", "d"].iter().map(|tool| (*tool, CalledWith::Arguments(&empty))).collect();
    assert_eq!(guard.judge(&batch), None);
    assert_eq!(guard.judge(&batch), None);
    let stopped = guard.judge(&batch).unwrap();
    assert_eq!(stopped.reason, "the same calls 3 times in a row: `a`, `b`, `c` and 1 more");
}

#[test]
fn arguments_of_any_depth_are_compared() {
    let mut deep = json!(1);
    for _ in 0..100_000 {
        deep = Value::Array(vec![deep]);
    }
    let mut guard = RepeatGuard::default();
    assert_eq!(guard.judge(&[("t", CalledWith::Arguments(&deep))]), None);
    crate::call::dismantle(deep);
}

/// The rule as the table says it, over the whole history.
fn expected(history: &[u8]) -> Option<&'static str> {
    let n = history.len();
    if n >= 3 && history[n - 3..].iter().all(|letter| *letter == history[n - 1]) {
        return Some("repeat");
    }
    let cycle =
        |length: usize| n >= 2 * length && history[n - length..] == history[n - 2 * length..n - length];
    (2..=4).any(cycle).then_some("alternation")
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_history_is_judged_by_the_rule(history in prop::collection::vec(0_u8..3, 0..30)) {
        let mut guard = RepeatGuard::default();
        for at in 0..history.len() {
            let value = json!({ "n": history[at] });
            let judged = guard.judge(&[("t", CalledWith::Arguments(&value))]);
            prop_assert_eq!(judged.map(|repetition| repetition.guard), expected(&history[..=at]));
        }
    }

    #[test]
    fn a_value_that_is_written_and_read_again_is_the_same(text in "\\PC{0,40}", eighths in any::<i32>()) {
        let number = f64::from(eighths) / 8.0;
        let value = json!({ "text": text, "number": number, "list": [number, text] });
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(
            signature(&[("t", CalledWith::Arguments(&value))]),
            signature(&[("t", CalledWith::Text(&pretty))])
        );
    }
}
