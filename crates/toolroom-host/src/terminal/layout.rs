//! Computes the screen position of each character.

use unicode_width::UnicodeWidthChar;

const TAB: &str = "    ";

/// Rows that fit the screen, and the cursor position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) rows: Vec<LayoutRow>,
    /// Row and column, counted from 0.
    pub(super) cursor: (usize, usize),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LayoutRow {
    pub(super) shown: String,
    pub(super) width: usize,
}

impl LayoutRow {
    fn indented(width: usize) -> Self {
        Self { shown: " ".repeat(width), width }
    }

    fn push(&mut self, shown: &str, width: usize) {
        self.shown.push_str(shown);
        self.width += width;
    }
}

impl Layout {
    /// Lays out a text after a prompt. Further rows are indented to the first character.
    pub(super) fn new(prompt: &str, before: &str, after: &str, columns: usize) -> Self {
        let indent = prompt.chars().map(|c| c.width().unwrap_or(0)).sum();
        // One column stays free: terminals differ in the cursor position after the last one.
        let room = columns.saturating_sub(1).max(indent + 4);
        let mut rows = vec![LayoutRow { shown: prompt.to_owned(), width: indent }];
        write(&mut rows, before, indent, room);
        let cursor = (rows.len() - 1, rows.last().map_or(0, |row| row.width));
        write(&mut rows, after, indent, room);
        Self { rows, cursor }
    }

    /// Number of rows above the cursor after the screen was resized to `columns`.
    pub(super) fn above(&self, columns: usize) -> usize {
        let rows = |row: &LayoutRow| row.width.div_ceil(columns.max(1)).max(1);
        let (row, column) = self.cursor;
        self.rows.iter().take(row).map(rows).sum::<usize>() + column / columns.max(1)
    }

    /// At most `height` rows, including that of the cursor.
    pub(super) fn window(mut self, height: usize) -> Self {
        let height = height.max(1);
        if self.rows.len() > height {
            let first = (self.cursor.0 + 1).saturating_sub(height);
            self.rows = self.rows.into_iter().skip(first).take(height).collect();
            self.cursor.0 -= first;
        }
        self
    }
}

fn write(rows: &mut Vec<LayoutRow>, text: &str, indent: usize, room: usize) {
    for c in text.chars() {
        if c == '\n' {
            rows.push(LayoutRow::indented(indent));
            continue;
        }
        let mut buffer = [0; 4];
        let (shown, width) = match c {
            '\t' => (TAB, TAB.len()),
            // Characters that reorder text are replaced.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                ("\u{fffd}", 1)
            }
            c => (&*c.encode_utf8(&mut buffer), c.width().unwrap_or(0)),
        };
        if rows.last().is_none_or(|row| row.width + width > room) {
            rows.push(LayoutRow::indented(indent));
        }
        if let Some(row) = rows.last_mut() {
            row.push(shown, width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(layout: &Layout) -> Vec<&str> {
        layout.rows.iter().map(|row| row.shown.as_str()).collect()
    }

    #[test]
    fn rows_are_broken_at_the_screen_width() {
        let layout = Layout::new("> ", "abcdefg", "h", 10);
        assert_eq!(rows(&layout), ["> abcdefg", "  h"]);
        assert_eq!(layout.cursor, (0, 9));
        let layout = Layout::new("> ", "日本語日本語", "", 10);
        assert_eq!(rows(&layout), ["> 日本語", "  日本語"]);
        assert_eq!(layout.cursor, (1, 8));
        let layout = Layout::new("> ", "a\n\tb", "\n", 80);
        assert_eq!(rows(&layout), ["> a", "      b", "  "]);
        assert_eq!(layout.cursor, (1, 7));
        assert_eq!(rows(&Layout::new("> ", "a\u{202e}b", "", 80)), ["> a\u{fffd}b"]);
    }

    #[test]
    fn a_narrower_screen_has_more_rows_above_the_cursor() {
        let layout = Layout::new("> ", &"x".repeat(30), "", 20);
        assert_eq!(layout.cursor.0, 1);
        assert_eq!(layout.above(20), 1);
        assert_eq!(layout.above(10), 3);
    }

    #[test]
    fn a_long_text_is_shown_around_the_cursor() {
        let layout = Layout::new("> ", "1\n2\n3\n4", "\n5\n6", 80).window(3);
        assert_eq!(rows(&layout), ["  2", "  3", "  4"]);
        assert_eq!(layout.cursor, (2, 3));
    }
}
