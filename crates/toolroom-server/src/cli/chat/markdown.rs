//! A model's Markdown as it arrives, for people at a terminal.
//!
//! Every character is shown as soon as it is clear what it is, so nothing is held back but marks. The only sequences
//! that come out are the styles put in here: what a terminal would obey in the text itself is spelled out.

use anstyle::{AnsiColor, Style};
use toolroom::characters::is_terminal_control;

use super::line_start::{Beginning, Fence, MAX_MARK, beginning, closes, could_close, is_fence, is_rule};
use crate::cli::console::output::{BOLD, DIM};

const CODE: Style = AnsiColor::Cyan.on_default();
const HEADING: Style = Style::new().bold();
const TITLE: Style = Style::new().bold().underline();
const QUOTED: Style = Style::new().italic();

const RULE: &str = "────────────────────";

/// Turns pieces of Markdown into pieces of styled text.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    shown: String,
    /// The style that is on.
    applied: Style,
    place: Place,
    /// What the whole line is.
    block: Style,
    bold: bool,
    italic: bool,
    /// The length of the mark a code span began with.
    code: Option<usize>,
    fence: Option<Fence>,
    /// Marks of one kind that may mean something.
    held: String,
    escaped: bool,
    last: Option<char>,
}

#[derive(Debug)]
enum Place {
    /// At the beginning of a line, of which this was read.
    Start(String),
    Within,
    /// Behind the mark of a fence, where its language stands.
    Language(String),
}

impl Default for Place {
    fn default() -> Self {
        Self::Start(String::new())
    }
}

impl Markdown {
    /// Takes the next piece and gives what can be shown.
    pub(super) fn push(&mut self, text: &str) -> String {
        for c in text.chars() {
            self.take(c);
        }
        std::mem::take(&mut self.shown)
    }

    /// Gives what was held back; what follows begins anew.
    pub(super) fn end(&mut self) -> String {
        match std::mem::take(&mut self.place) {
            Place::Start(begun) if !begun.is_empty() => self.line_of(&begun),
            Place::Start(_) | Place::Language(_) => {}
            Place::Within => self.settle_marks(None),
        }
        self.style(Style::new());
        let shown = std::mem::take(&mut self.shown);
        *self = Self::default();
        shown
    }

    fn take(&mut self, c: char) {
        match &mut self.place {
            Place::Start(begun) if c != '\n' => {
                begun.push(c);
                let begun = begun.clone();
                self.begin(&begun);
            }
            Place::Start(begun) => {
                let begun = std::mem::take(begun);
                let was_code = self.fence.is_some();
                self.line_of(&begun);
                // A fence is a mark, and no line of the text.
                if was_code == self.fence.is_some() {
                    self.end_line();
                }
            }
            Place::Language(language) if c == '\n' => {
                let language = std::mem::take(language);
                if !language.trim().is_empty() {
                    self.style(DIM);
                    self.write(language.trim());
                    self.end_line();
                }
                self.place = Place::default();
            }
            Place::Language(language) => {
                if language.len() < MAX_MARK {
                    language.push(c);
                }
            }
            Place::Within if c == '\n' => {
                self.settle_marks(None);
                self.end_line();
            }
            Place::Within => self.inline(c),
        }
    }

    /// Decides what a line is, once that can be told.
    fn begin(&mut self, begun: &str) {
        if let Some(fence) = self.fence {
            if !could_close(begun, fence) {
                self.place = Place::Within;
                self.inline_all(begun);
            }
            return;
        }
        let beginning = beginning(begun);
        if matches!(beginning, Beginning::Unclear) {
            return;
        }
        self.place = Place::Within;
        if !matches!(beginning, Beginning::Plain) {
            self.forget_marks();
        }
        let last = begun.chars().next_back().map(String::from).unwrap_or_default();
        match beginning {
            Beginning::Unclear => {}
            Beginning::Plain => self.inline_all(begun),
            Beginning::Heading { level } => {
                self.block = if level == 1 { TITLE } else { HEADING };
                self.inline_all(&last);
            }
            Beginning::Item { indent } => {
                self.write(&" ".repeat(indent));
                self.write("• ");
                self.inline_all(&last);
            }
            Beginning::Quote => {
                self.style(DIM);
                self.write("│ ");
                self.block = QUOTED;
                if last != " " {
                    self.inline_all(&last);
                }
            }
            Beginning::Fence(fence) => {
                self.fence = Some(fence);
                self.place = Place::Language(last);
            }
        }
    }

    /// A line that ended before it was clear what it is.
    fn line_of(&mut self, begun: &str) {
        let line = begun.trim();
        if self.fence.is_some_and(|fence| closes(line, fence)) {
            self.fence = None;
        } else if self.fence.is_none() && is_fence(line).is_some() {
            self.fence = is_fence(line);
        } else if self.fence.is_none() && is_rule(line) {
            self.style(DIM);
            self.write(RULE);
        } else {
            if line.is_empty() {
                self.forget_marks();
            }
            self.inline_all(begun);
            self.settle_marks(None);
        }
    }

    fn end_line(&mut self) {
        self.style(Style::new());
        self.shown.push('\n');
        self.place = Place::default();
        self.block = Style::new();
        self.last = None;
    }

    fn inline_all(&mut self, text: &str) {
        for c in text.chars() {
            self.inline(c);
        }
    }

    fn inline(&mut self, c: char) {
        if self.fence.is_some() {
            return self.emit(c);
        }
        if std::mem::take(&mut self.escaped) {
            if !c.is_ascii_punctuation() {
                self.emit('\\');
            }
            return self.emit(c);
        }
        if self.held.starts_with(c) && self.held.len() < MAX_MARK {
            self.held.push(c);
            return;
        }
        self.settle_marks(Some(c));
        match c {
            '`' => self.held.push(c),
            '*' | '_' if self.code.is_none() => self.held.push(c),
            '\\' if self.code.is_none() => self.escaped = true,
            c => self.emit(c),
        }
    }

    /// Finds out what the held marks mean, now that it is known what follows.
    fn settle_marks(&mut self, next: Option<char>) {
        if std::mem::take(&mut self.escaped) {
            self.emit('\\');
        }
        let marks = std::mem::take(&mut self.held);
        let length = marks.len();
        match (marks.chars().next(), self.code) {
            (None, _) => {}
            (Some('`'), None) if length < MAX_MARK => self.code = Some(length),
            (Some('`'), Some(opened)) if opened == length => self.code = None,
            (Some(mark), None) if length <= 3 && self.may_mark(mark, length, next) => {
                self.italic ^= length != 2;
                self.bold ^= length >= 2;
            }
            (Some(_), _) => self.emit_all(&marks),
        }
    }

    /// Whether marks of emphasis can open or close here. `2 * 3` and `snake_case` are neither.
    fn may_mark(&self, mark: char, length: usize, next: Option<char>) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_open = if length == 2 { self.bold } else { self.italic };
        let inside = mark == '_' && is_word(self.last) && is_word(next);
        !inside && if is_open { !is_space(self.last) } else { !is_space(next) }
    }

    fn forget_marks(&mut self) {
        (self.bold, self.italic, self.code) = (false, false, None);
    }

    fn emit_all(&mut self, text: &str) {
        for c in text.chars() {
            self.emit(c);
        }
    }

    fn emit(&mut self, c: char) {
        let mut style = self.block;
        if self.fence.is_some() || self.code.is_some() {
            style = CODE;
        }
        if self.bold {
            style |= BOLD.get_effects();
        }
        if self.italic {
            style = style.italic();
        }
        self.style(style);
        self.last = Some(c);
        self.write(c.encode_utf8(&mut [0; 4]));
    }

    fn style(&mut self, style: Style) {
        if self.applied != style {
            self.shown.push_str(&format!("{:#}{style}", self.applied));
            self.applied = style;
        }
    }

    fn write(&mut self, text: &str) {
        for c in text.chars() {
            match is_terminal_control(c) {
                true => self.shown.extend(c.escape_unicode()),
                false => self.shown.push(c),
            }
        }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
