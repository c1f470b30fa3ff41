//! Renders streamed Markdown for a terminal.
//!
//! Every character is printed as soon as its meaning is known; only marks are pending back. The only escape sequences in
//! the output are the styles added here: control characters in the text are escaped.

use anstyle::{AnsiColor, Style};
use toolroom::characters::is_terminal_control;

use super::line_start::{Fence, LineStart, MAX_MARK, closes, could_close, is_fence, is_rule, line_start};
use crate::cli::console::output::{BOLD, DIM};

const CODE: Style = AnsiColor::Cyan.on_default();
const HEADING: Style = Style::new().bold();
const TITLE: Style = Style::new().bold().underline();
const QUOTED: Style = Style::new().italic();

const RULE: &str = "────────────────────";

/// Turns chunks of Markdown into chunks of styled text.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    shown: String,
    /// The active style.
    applied: Style,
    state: LineState,
    /// Style of the current line.
    block: Style,
    bold: bool,
    italic: bool,
    /// Length of the mark that opened the code span.
    code: Option<usize>,
    fence: Option<Fence>,
    /// A run of marks whose meaning is not known yet.
    pending: String,
    escaped: bool,
    last: Option<char>,
}

#[derive(Debug)]
enum LineState {
    /// The start of a line, not classified yet.
    Start(String),
    Within,
    /// After the mark of a fence: its language.
    Language(String),
}

impl Default for LineState {
    fn default() -> Self {
        Self::Start(String::new())
    }
}

impl Markdown {
    /// Takes the next chunk and returns what can be printed.
    pub(super) fn push(&mut self, text: &str) -> String {
        for c in text.chars() {
            self.take(c);
        }
        std::mem::take(&mut self.shown)
    }

    /// Returns the rest and starts over.
    pub(super) fn end(&mut self) -> String {
        match std::mem::take(&mut self.state) {
            LineState::Start(start) if !start.is_empty() => self.short_line(&start),
            LineState::Start(_) | LineState::Language(_) => {}
            LineState::Within => self.settle_marks(None),
        }
        self.style(Style::new());
        let shown = std::mem::take(&mut self.shown);
        *self = Self::default();
        shown
    }

    fn take(&mut self, c: char) {
        match &mut self.state {
            LineState::Start(start) if c != '\n' => {
                start.push(c);
                let start = start.clone();
                self.start_line(&start);
            }
            LineState::Start(start) => {
                let start = std::mem::take(start);
                let was_code = self.fence.is_some();
                self.short_line(&start);
                // The line of a fence is not printed.
                if was_code == self.fence.is_some() {
                    self.end_line();
                }
            }
            LineState::Language(language) if c == '\n' => {
                let language = std::mem::take(language);
                if !language.trim().is_empty() {
                    self.style(DIM);
                    self.write(language.trim());
                    self.end_line();
                }
                self.state = LineState::default();
            }
            LineState::Language(language) => {
                if language.len() < MAX_MARK {
                    language.push(c);
                }
            }
            LineState::Within if c == '\n' => {
                self.settle_marks(None);
                self.end_line();
            }
            LineState::Within => self.inline(c),
        }
    }

    /// Classifies the line once its start is complete.
    fn start_line(&mut self, start: &str) {
        if let Some(fence) = self.fence {
            if !could_close(start, fence) {
                self.state = LineState::Within;
                self.inline_all(start);
            }
            return;
        }
        let line_start = line_start(start);
        if matches!(line_start, LineStart::Incomplete) {
            return;
        }
        self.state = LineState::Within;
        if !matches!(line_start, LineStart::Plain) {
            self.reset_marks();
        }
        let last = start.chars().next_back().map(String::from).unwrap_or_default();
        match line_start {
            LineStart::Incomplete => {}
            LineStart::Plain => self.inline_all(start),
            LineStart::Heading { level } => {
                self.block = if level == 1 { TITLE } else { HEADING };
                self.inline_all(&last);
            }
            LineStart::Item { indent } => {
                self.write(&" ".repeat(indent));
                self.write("• ");
                self.inline_all(&last);
            }
            LineStart::Quote => {
                self.style(DIM);
                self.write("│ ");
                self.block = QUOTED;
                if last != " " {
                    self.inline_all(&last);
                }
            }
            LineStart::Fence(fence) => {
                self.fence = Some(fence);
                self.state = LineState::Language(last);
            }
        }
    }

    /// Handles a line that ended before it was classified.
    fn short_line(&mut self, start: &str) {
        let line = start.trim();
        if self.fence.is_some_and(|fence| closes(line, fence)) {
            self.fence = None;
        } else if self.fence.is_none() && is_fence(line).is_some() {
            self.fence = is_fence(line);
        } else if self.fence.is_none() && is_rule(line) {
            self.style(DIM);
            self.write(RULE);
        } else {
            if line.is_empty() {
                self.reset_marks();
            }
            self.inline_all(start);
            self.settle_marks(None);
        }
    }

    fn end_line(&mut self) {
        self.style(Style::new());
        self.shown.push('\n');
        self.state = LineState::default();
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
        if self.pending.starts_with(c) && self.pending.len() < MAX_MARK {
            self.pending.push(c);
            return;
        }
        self.settle_marks(Some(c));
        match c {
            '`' => self.pending.push(c),
            '*' | '_' if self.code.is_none() => self.pending.push(c),
            '\\' if self.code.is_none() => self.escaped = true,
            c => self.emit(c),
        }
    }

    /// Interprets the pending marks, given the next character.
    fn settle_marks(&mut self, next: Option<char>) {
        if std::mem::take(&mut self.escaped) {
            self.emit('\\');
        }
        let marks = std::mem::take(&mut self.pending);
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

    /// Whether emphasis can open or close here: not in `2 * 3` or `snake_case`.
    fn may_mark(&self, mark: char, length: usize, next: Option<char>) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_open = if length == 2 { self.bold } else { self.italic };
        let inside = mark == '_' && is_word(self.last) && is_word(next);
        !inside && if is_open { !is_space(self.last) } else { !is_space(next) }
    }

    fn reset_marks(&mut self) {
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
