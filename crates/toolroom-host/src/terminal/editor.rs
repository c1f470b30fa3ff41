//! A line editor with the usual shell keys.

use std::io;
use std::time::Duration;

use super::device::{Size, Terminal};
use super::key::{Key, Stroke};
use super::layout::Layout;
use super::sequence::Move;
use super::text::Text;

/// Interval between checks for other events.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Used if the terminal does not know its size.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// Bracketed paste, so that pasted line breaks do not submit.
const BRACKETS_ON: &str = "\x1b[?2004h";
const BRACKETS_OFF: &str = "\x1b[?2004l";

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorOutcome {
    /// A text of one or more lines.
    Text(String),
    /// Ctrl-C. The text was discarded; the flag says whether there was one.
    Interrupted(bool),
    /// Ctrl-D, or the terminal was closed.
    End,
    /// Stopped by the caller.
    Stopped,
}

/// An editor with a history.
#[derive(Debug, Default)]
pub struct Editor {
    /// Oldest first.
    earlier: Vec<String>,
    /// The last deleted text, for Ctrl-Y.
    taken: String,
}

/// The state of an edit.
struct Writing<'a> {
    terminal: &'a Terminal,
    prompt: &'a str,
    text: Text,
    /// Index of the shown history entry, from the oldest; the length for the new text.
    place: usize,
    /// The new text, while history entries are shown.
    own: String,
    /// The search text of Ctrl-R.
    sought: Option<String>,
    drawn: Option<Layout>,
    /// Whether the next drawing starts on an empty screen.
    clear: bool,
}

impl Editor {
    /// An editor with this history, oldest first.
    #[must_use]
    pub fn new(earlier: Vec<String>) -> Self {
        Self { earlier, taken: String::new() }
    }

    /// Adds a text to the history.
    pub fn remember(&mut self, text: &str) {
        if self.earlier.last().is_none_or(|last| last != text) {
            self.earlier.push(text.to_owned());
        }
    }

    /// Edits until Return, or until `is_stopped`.
    pub fn read(
        &mut self,
        terminal: &mut Terminal,
        prompt: &str,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<EditorOutcome> {
        let _quiet = terminal.quiet()?;
        terminal.draw(BRACKETS_ON)?;
        let place = self.earlier.len();
        let (text, own) = (Text::default(), String::new());
        let mut writing =
            Writing { terminal, prompt, text, place, own, sought: None, drawn: None, clear: false };
        let written = self.write(&mut writing, is_stopped);
        writing.finish()?;
        written
    }

    /// For dumb terminals and screen readers: draws nothing, the terminal edits lines itself.
    pub fn read_lines(
        &mut self,
        terminal: &mut Terminal,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<EditorOutcome> {
        let mut text = Text::default();
        loop {
            while !terminal.has_line(POLL_INTERVAL)? {
                if is_stopped() {
                    return Ok(EditorOutcome::Interrupted(!text.is_empty()));
                }
            }
            let Some(line) = terminal.read_line()? else { return Ok(EditorOutcome::End) };
            text.insert(&line);
            if !text.continue_line() {
                return Ok(EditorOutcome::Text(text.whole()));
            }
        }
    }

    fn write(
        &mut self,
        writing: &mut Writing<'_>,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<EditorOutcome> {
        writing.draw()?;
        loop {
            let Some(stroke) = writing.terminal.stroke(POLL_INTERVAL)? else {
                if is_stopped() {
                    return Ok(EditorOutcome::Stopped);
                }
                continue;
            };
            let end = match stroke {
                Stroke::Gone => Some(EditorOutcome::End),
                Stroke::Key(Key::Interrupt) => Some(EditorOutcome::Interrupted(!writing.text.is_empty())),
                Stroke::Key(Key::EndOfInput) if writing.text.is_empty() => Some(EditorOutcome::End),
                Stroke::Key(Key::Enter) if !writing.text.continue_line() => {
                    Some(EditorOutcome::Text(writing.text.whole()))
                }
                stroke => {
                    self.take(writing, stroke);
                    None
                }
            };
            writing.draw()?;
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    fn take(&mut self, writing: &mut Writing<'_>, stroke: Stroke) {
        if stroke != Stroke::Key(Key::Control('r')) {
            writing.sought = None;
        }
        match stroke {
            Stroke::Key(key) => self.take_key(writing, key),
            Stroke::Move(key) => self.go(writing, key),
            Stroke::Pasted(pasted) => writing.text.insert(pasted.trim_end_matches(['\r', '\n'])),
            Stroke::Gone => {}
        }
    }

    fn take_key(&mut self, writing: &mut Writing<'_>, key: Key) {
        let text = &mut writing.text;
        match key {
            Key::Char(c) => text.insert(c.encode_utf8(&mut [0; 4])),
            Key::Backspace => text.backspace(),
            Key::EndOfInput => text.delete(),
            Key::Control('a') => text.line_start(),
            Key::Control('e') => text.line_end(),
            Key::Control('b') => text.left(),
            Key::Control('f') => text.right(),
            Key::Control('k') => self.taken = text.take_to_end(),
            Key::Control('u') => self.taken = text.take_to_start(),
            Key::Control('w') => self.taken = text.take_word(),
            Key::Control('y') => text.insert(&self.taken),
            Key::Control('p') => self.go(writing, Move::Up),
            Key::Control('n') => self.go(writing, Move::Down),
            Key::Control('r') => self.seek(writing),
            Key::Control('l') => writing.clear = true,
            Key::Enter | Key::Escape | Key::Interrupt | Key::Control(_) => {}
        }
    }

    fn go(&mut self, writing: &mut Writing<'_>, key: Move) {
        let text = &mut writing.text;
        match key {
            Move::Up => {
                if !text.up() {
                    self.show(writing, writing.place.checked_sub(1));
                }
            }
            Move::Down => {
                if !text.down() {
                    self.show(writing, writing.place.checked_add(1));
                }
            }
            Move::Left => text.left(),
            Move::Right => text.right(),
            Move::WordLeft => text.word_left(),
            Move::WordRight => text.word_right(),
            Move::LineStart => text.line_start(),
            Move::LineEnd => text.line_end(),
            Move::Delete => text.delete(),
            Move::EraseWord => self.taken = text.take_word(),
            Move::NewLine => text.insert("\n"),
        }
    }

    /// Shows a history entry or, after the last one, the new text.
    fn show(&self, writing: &mut Writing<'_>, place: Option<usize>) {
        let Some(place) = place.filter(|place| *place <= self.earlier.len()) else { return };
        if writing.place == self.earlier.len() {
            writing.own = writing.text.whole();
        }
        let own = writing.own.clone();
        writing.text.replace(self.earlier.get(place).unwrap_or(&own));
        writing.place = place;
    }

    /// Shows the next older entry that contains the search text.
    fn seek(&self, writing: &mut Writing<'_>) {
        let sought = writing.sought.take().unwrap_or_else(|| writing.text.whole());
        let mut older = self.earlier.iter().take(writing.place);
        let found = older.rposition(|text| text.contains(&sought));
        self.show(writing, found);
        writing.sought = Some(sought);
    }
}

impl Writing<'_> {
    /// Draws the text in place of the previous drawing.
    fn draw(&mut self) -> io::Result<()> {
        let Size { columns, rows } = self.terminal.size().unwrap_or(USUAL);
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let layout = Layout::new(self.prompt, self.text.before(), self.text.after(), columns).window(rows);
        let mut shown = String::new();
        if std::mem::take(&mut self.clear) {
            shown.push_str("\x1b[H\x1b[2J");
        } else if let Some(drawn) = &self.drawn {
            shown.push_str(&up(drawn.above(columns)));
        }
        shown.push_str("\r\x1b[J");
        let lines: Vec<&str> = layout.rows.iter().map(|row| row.shown.as_str()).collect();
        shown.push_str(&lines.join("\r\n"));
        let (row, column) = layout.cursor;
        shown.push_str(&up(layout.rows.len() - 1 - row));
        shown.push('\r');
        if column > 0 {
            shown.push_str(&format!("\x1b[{column}C"));
        }
        self.drawn = Some(layout);
        self.terminal.draw(&shown)
    }

    /// Leaves the text on the screen and moves below it.
    fn finish(&mut self) -> io::Result<()> {
        let below = self.drawn.as_ref().map_or(0, |drawn| drawn.rows.len() - 1 - drawn.cursor.0);
        self.terminal.draw(&format!("{}\r\n{BRACKETS_OFF}", "\n".repeat(below)))
    }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}
