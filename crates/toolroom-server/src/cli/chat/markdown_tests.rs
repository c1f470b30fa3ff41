use proptest::collection;
use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy;

use super::*;
use crate::scale::cases;

fn whole(text: &str) -> String {
    let mut markdown = Markdown::default();
    let mut shown = markdown.push(text);
    shown.push_str(&markdown.end());
    shown
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(&whole(text)).to_string()
}

#[test]
fn marks_become_styles() {
    let check = |text: &str, shown: &str| assert_eq!(whole(text), shown, "{text:?}");
    check("plain", "plain");
    check("a **b** c", "a \u{1b}[1mb\u{1b}[0m c");
    check("an *i* and __b__", "an \u{1b}[3mi\u{1b}[0m and \u{1b}[1mb\u{1b}[0m");
    check("***both***", "\u{1b}[1m\u{1b}[3mboth\u{1b}[0m");
    check("`x * y`", "\u{1b}[36mx * y\u{1b}[0m");
    check("``a`b``", "\u{1b}[36ma`b\u{1b}[0m");
    check("## Title\ntext", "\u{1b}[1mTitle\u{1b}[0m\ntext");
    check("```\nlet x = 1;\n```\nend", "\u{1b}[36mlet x = 1;\u{1b}[0m\nend");
}

#[test]
fn text_without_marks_stays_unchanged() {
    for text in [
        "2 * 3 * 4 = 24",
        "snake_case_name",
        "a ** b",
        "#hashtag",
        "1. first\n2. second",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "#",
        "-5 degrees",
        "*",
        "C:\\path",
        "> ",
    ] {
        let shown = plain(text);
        let expected = if text == "> " { "│ " } else { text };
        assert_eq!(shown, expected, "{text:?}");
    }
    assert_eq!(plain("\\*literal\\*"), "*literal*");
}

#[test]
fn blocks_are_shown_as_blocks() {
    assert_eq!(plain("- one\n  - two\n* three"), "• one\n  • two\n• three");
    assert_eq!(plain("> said **so**\nend"), "│ said so\nend");
    assert_eq!(plain("above\n\n---\nbelow"), format!("above\n\n{RULE}\nbelow"));
    assert_eq!(plain("```rust\nfn **x**() {}\n``\n```\n**y**"), "rust\nfn **x**() {}\n``\ny");
    assert_eq!(plain("**bold\nover** lines"), "bold\nover lines");
    assert_eq!(plain("**never closed\n\nnext"), "never closed\n\nnext");
}

#[test]
fn control_characters_are_escaped() {
    let hostile = "\u{1b}[2J\u{1b}]8;;http://evil\u{7}link\u{1b}]52;c;AAAA\u{7}\u{9b}31m\u{202e}\r\u{8}";
    for text in
        [hostile.to_owned(), format!("```\n{hostile}\n```"), format!("# {hostile}"), format!("`{hostile}`")]
    {
        let shown = plain(&text);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
        assert!(shown.contains("\\u{1b}[2J"), "{shown:?}");
    }
}

#[test]
fn an_endless_line_is_printed_as_it_arrives() {
    let mut markdown = Markdown::default();
    for _ in 0..1_000 {
        assert_eq!(markdown.push(&"x".repeat(1_000)).len(), 1_000);
    }
    for mark in ["*", "`", "#", " ", "-", "_", ">", "~"] {
        let mut markdown = Markdown::default();
        let shown: usize = (0..100).map(|_| markdown.push(&mark.repeat(100)).len()).sum();
        assert!(shown > 9_000, "{mark}: {shown}");
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn chunking_does_not_change_the_output(
        parts in collection::vec(
            prop_oneof!["[a-z *_`#>|\\\\-]{0,12}", "[\n]{1,2}", "(```|~~~|\\*\\*|- |# |> |1\\. )"], 0..20,
        ).prop_map(|parts| parts.concat()),
        size in 1_usize..5,
    ) {
        let characters: Vec<char> = parts.chars().collect();
        let mut markdown = Markdown::default();
        let mut shown = String::new();
        for piece in characters.chunks(size) {
            shown.push_str(&markdown.push(&piece.iter().collect::<String>()));
        }
        shown.push_str(&markdown.end());
        prop_assert_eq!(shown, whole(&parts));
    }

    #[test]
    fn no_input_leaves_control_characters(text in any::<String>()) {
        let shown = plain(&text);
        prop_assert!(!shown.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
    }
}
