//! The edited text with a cursor.

use unicode_width::UnicodeWidthChar;

/// Maximum length of a text. Longer input should come through a pipe.
pub(super) const MAX_BYTES: usize = 256 * 1_024;

/// Joins characters to one glyph.
const JOINER: char = '\u{200d}';

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    before: String,
    after: String,
}

impl Text {
    pub(super) fn before(&self) -> &str {
        &self.before
    }

    pub(super) fn after(&self) -> &str {
        &self.after
    }

    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Replaces the text; the cursor is at its end.
    pub(super) fn replace(&mut self, text: &str) {
        self.before.clear();
        self.after.clear();
        self.insert(text);
    }

    /// Inserts a text. Line breaks are normalized; control characters and what exceeds the maximum are dropped.
    pub(super) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        for c in text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
            if self.before.len() + self.after.len() + c.len_utf8() > MAX_BYTES {
                return;
            }
            self.before.push(c);
        }
    }

    /// Replaces a backslash at the end by a line break.
    pub(super) fn continue_line(&mut self) -> bool {
        let asks = self.after.is_empty() && self.before.ends_with('\\');
        if asks {
            self.before.pop();
            self.before.push('\n');
        }
        asks
    }

    pub(super) fn left(&mut self) {
        let taken = self.take_before();
        self.after.insert_str(0, &taken);
    }

    pub(super) fn right(&mut self) {
        let taken = self.take_after();
        self.before.push_str(&taken);
    }

    pub(super) fn backspace(&mut self) {
        self.take_before();
    }

    pub(super) fn delete(&mut self) {
        self.take_after();
    }

    pub(super) fn word_left(&mut self) {
        let word = self.take_word();
        self.after.insert_str(0, &word);
    }

    pub(super) fn word_right(&mut self) {
        let is_word = |c: char| c.is_alphanumeric();
        while self.after.chars().next().is_some_and(|c| !is_word(c)) {
            self.right();
        }
        while self.after.chars().next().is_some_and(is_word) {
            self.right();
        }
    }

    /// Deletes the word before the cursor, with the space after it.
    pub(super) fn take_word(&mut self) -> String {
        let kept = self.before.trim_end();
        let kept = kept.trim_end_matches(|c: char| !c.is_whitespace());
        self.before.split_off(kept.len())
    }

    pub(super) fn line_start(&mut self) {
        let taken = self.take_to_start();
        self.after.insert_str(0, &taken);
    }

    pub(super) fn line_end(&mut self) {
        let taken = self.take_to_end();
        self.before.push_str(&taken);
    }

    pub(super) fn take_to_start(&mut self) -> String {
        let start = self.before.rfind('\n').map_or(0, |end| end + 1);
        self.before.split_off(start)
    }

    pub(super) fn take_to_end(&mut self) -> String {
        let end = self.after.find('\n').unwrap_or(self.after.len());
        let rest = self.after.split_off(end);
        std::mem::replace(&mut self.after, rest)
    }

    /// Moves up a line; returns whether there is one.
    pub(super) fn up(&mut self) -> bool {
        let column = self.column();
        if !self.before.contains('\n') {
            return false;
        }
        self.line_start();
        self.left();
        self.line_start();
        self.go(column);
        true
    }

    /// Moves down a line; returns whether there is one.
    pub(super) fn down(&mut self) -> bool {
        let column = self.column();
        if !self.after.contains('\n') {
            return false;
        }
        self.line_end();
        self.right();
        self.go(column);
        true
    }

    fn column(&self) -> usize {
        self.before.chars().rev().take_while(|c| *c != '\n').count()
    }

    fn go(&mut self, column: usize) {
        while self.column() < column && !self.after.is_empty() && !self.after.starts_with('\n') {
            self.right();
        }
    }

    /// Removes the last character with its combining marks.
    fn take_before(&mut self) -> String {
        let mut start = self.before.len();
        let mut characters = self.before.char_indices().rev().peekable();
        while let Some((at, c)) = characters.next() {
            start = at;
            let is_joined = characters.peek().is_some_and(|(_, before)| *before == JOINER);
            if !is_mark(c) && !is_joined {
                break;
            }
        }
        self.before.split_off(start)
    }

    fn take_after(&mut self) -> String {
        let mut end = self.after.len();
        let mut joined = true;
        for (at, c) in self.after.char_indices() {
            if !joined && !is_mark(c) {
                end = at;
                break;
            }
            joined = c == JOINER;
        }
        let rest = self.after.split_off(end);
        std::mem::replace(&mut self.after, rest)
    }
}

/// Whether a character is a combining mark.
fn is_mark(c: char) -> bool {
    c != '\n' && c != '\t' && c.width() == Some(0)
}

#[cfg(test)]
mod tests {
    use proptest::collection;
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;
    use crate::scale::cases;

    fn text(before: &str, after: &str) -> Text {
        Text { before: before.to_owned(), after: after.to_owned() }
    }

    #[test]
    fn keys_move_the_cursor_and_delete() {
        let check = |start: Text, does: fn(&mut Text), end: Text| {
            let mut changed = start.clone();
            does(&mut changed);
            assert_eq!(changed, end, "{start:?}");
        };
        check(text("one two", ""), |text| drop(text.take_word()), text("one ", ""));
        check(text("one two  ", "x"), |text| drop(text.take_word()), text("one ", "x"));
        check(text("a\nbc", "d\ne"), |text| drop(text.take_to_start()), text("a\n", "d\ne"));
        check(text("a\nbc", "d\ne"), |text| drop(text.take_to_end()), text("a\nbc", "\ne"));
        check(text("one", " two, three"), Text::word_right, text("one two", ", three"));
        check(text("one two", ""), Text::word_left, text("one ", "two"));
        check(text("abc\nde", "f"), |text| assert!(text.up()), text("ab", "c\ndef"));
        check(text("ab", "c\nd"), |text| assert!(text.down()), text("abc\nd", ""));
        check(text("ab", "c"), |text| assert!(!text.up() && !text.down()), text("ab", "c"));
        check(text("say this\\", ""), |text| assert!(text.continue_line()), text("say this\n", ""));
        check(text("a", ""), |text| text.insert("\x1b[31m\u{7}b\r\nc\rd"), text("a[31mb\nc\nd", ""));
    }

    #[test]
    fn a_glyph_is_deleted_as_a_whole() {
        for one in ["e\u{301}", "👩\u{200d}🔬", "日", "🇺"] {
            let mut changed = text(&format!("a{one}"), "");
            changed.left();
            assert_eq!(changed, text("a", one), "{one}");
            changed.delete();
            assert_eq!(changed, text("a", ""), "{one}");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn moving_does_not_change_the_text(written in any::<String>(), steps in collection::vec(0..8, 0..40)) {
            let mut changed = Text::default();
            changed.insert(&written);
            let whole = changed.whole();
            for step in steps {
                match step {
                    0 => changed.left(),
                    1 => changed.right(),
                    2 => changed.word_left(),
                    3 => changed.word_right(),
                    4 => changed.line_start(),
                    5 => changed.line_end(),
                    6 => drop(changed.up()),
                    _ => drop(changed.down()),
                }
                prop_assert!(changed.whole() == whole);
            }
        }
    }
}
