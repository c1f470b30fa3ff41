//! The prompt shows exactly what is approved, at every width.

use proptest::collection;
use proptest::prelude::{any, prop_assert, prop_oneof, proptest};
use serde_json::json;

use super::*;
use crate::scale::cases;

fn view(columns: u16) -> QuestionView {
    QuestionView::new(Some(Size { columns, rows: 24 }))
}

/// The rows without colors.
fn rows(text: &str) -> Vec<String> {
    anstream::adapter::strip_str(text).to_string().lines().map(str::to_owned).collect()
}

fn rendered(columns: u16, arguments: &Value, detail: Detail) -> Vec<String> {
    rows(&view(columns).arguments(arguments.as_object(), detail))
}

#[test]
fn arguments_are_shown_exactly() {
    let check = |arguments: Value, expected: &[&str]| {
        assert_eq!(rendered(40, &arguments, Detail::Short), expected, "{arguments}");
    };
    check(json!({"to": "ann@example.com", "n": 5}), &["  to │ ann@example.com", "  n  │ 5"]);
    check(
        json!({"a": "5", "b": "", "c": " x", "d": "true"}),
        &["  a │ \"5\"", "  b │ \"\"", "  c │ \" x\"", "  d │ \"true\""],
    );
    check(json!({"a": "one\n  reason: because\n"}), &["  a │ one", "    │   reason: because", "    │ "]);
    check(json!({"a": "tab\there\u{1b}[2J\u{202e}"}), &["  a │ tab\\there\\u{1b}[2J\\u{202e}"]);
    check(json!({"a": {"b": [1, "x\ny"]}}), &["  a │ {\"b\":[1,\"x\\ny\"]}"]);
    check(json!({"a": 1, "odd name\n  y": 2}), &["  a │ 1", "    │ \"odd name\\n  y\":", "    │ 2"]);
    check(json!({}), &["  no arguments"]);
}

#[test]
fn shortened_arguments_are_marked_and_shown_in_full_on_demand() {
    let long = json!({"a": "x".repeat(500), "b": "1\n".repeat(10)});
    let short = rendered(80, &long, Detail::Short);
    assert_eq!(short.iter().filter(|row| row.contains("[v]iew")).count(), 2, "{short:?}");
    assert!(short[3].contains("… 500 characters, [v]iew"), "{short:?}");
    let whole = rendered(80, &long, Detail::Full);
    assert!(!whole.concat().contains('…') && whole.concat().matches('x').count() == 500, "{whole:?}");

    let many: Value = (0..30).map(|n| (format!("a{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(rendered(80, &many, Detail::Short).last().unwrap(), "  … 10 more arguments, [v]iew");
    assert_eq!(rendered(80, &many, Detail::Full).len(), 30);
}

#[test]
fn keys_never_change_and_fit_on_every_screen() {
    let letters = |columns| -> String {
        let text = rows(&view(columns).keys(Answerer::Caller, true)).concat();
        text.split('[').skip(1).filter_map(|part| part.chars().next()).collect()
    };
    for columns in [20, 40, 80, 200] {
        assert_eq!(letters(columns), "ysandexv");
    }
    let once_only = rows(&view(200).keys(Answerer::Caller, false)).concat();
    assert!(once_only.contains("[y] once  [n] no") && !once_only.contains("[s]"), "{once_only}");
    assert!(rows(&view(40).keys(Answerer::Operator, true)).iter().all(|row| row.chars().count() <= 40));
}

#[test]
fn a_paragraph_is_broken_between_words() {
    let lines = view(20).paragraph("  why asked: ", "it changes something\nand more");
    assert_eq!(lines, ["  why asked: it", "    changes", "    something\\nand", "    more"]);
    assert_eq!(view(20).paragraph("", &"x".repeat(30)), ["x".repeat(16), format!("    {}", "x".repeat(14))]);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn every_row_of_an_argument_stays_behind_the_bar(
        names in collection::vec(prop_oneof!["[a-z_]{1,30}", any::<String>()], 1..5),
        text in prop_oneof![any::<String>(), "[ -~\n\u{1b}\u{202e}\u{200b}]{0,600}", "(reason:|\\[y\\]| |\n|│){0,80}"],
        columns in 20_u16..130,
    ) {
        let arguments: Arguments = names.into_iter().map(|name| (name, json!(text))).collect();
        for detail in [Detail::Short, Detail::Full] {
            for row in rows(&view(columns).arguments(Some(&arguments), detail)) {
                prop_assert!(super::columns(&row.replace('│', "|")) <= usize::from(columns), "{row:?}");
                let (before, _) = row.split_once('│').unwrap();
                prop_assert!(before.trim().is_empty() || is_plain(before.trim(), NAME_CHARS), "{row:?}");
                prop_assert!(!row.contains(char::is_control), "{row:?}");
            }
        }
    }
}
