//! The reader: its limits, and what lies between commands.

use std::sync::{Arc, OnceLock};

use super::cursor::{Cursor, ends_word};
use super::error::NotUnderstood;
use super::hidden;
use super::tree::{Piece, Script};

/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;

/// How deep commands, substitutions and quotes may nest.
pub const MAX_DEPTH: usize = 100;

/// How many simple commands a text may hold.
pub const MAX_COMMANDS: usize = 5_000;

/// How many words, and pieces in them, a text may hold. A program could not be given many more words.
pub const MAX_PIECES: usize = 65_536;

/// Bytes that may be read a second time: backquotes and here-documents are read as texts of their own.
const MAX_READ_AGAIN: usize = 4 * MAX_TEXT;

pub(super) type Read<T> = Result<T, NotUnderstood>;

/// Reads a script.
///
/// # Errors
/// The text is too long, nests too deeply, holds too many commands or hidden characters, or is not understood.
pub fn parse(text: &str) -> Result<Script, NotUnderstood> {
    let refused = |at, why| Err(NotUnderstood { at, why });
    if text.len() > MAX_TEXT {
        return refused(MAX_TEXT, "more than a mebibyte of text");
    }
    if let Some((at, why)) = hidden::find(text) {
        return refused(at, why);
    }
    let budget = Budget { depth: 0, commands: MAX_COMMANDS, pieces: MAX_PIECES, again: MAX_READ_AGAIN };
    Parser::new(text, 0, budget).whole()
}

/// What is left of the limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    depth: usize,
    commands: usize,
    pieces: usize,
    again: usize,
}

/// A here-document whose lines are still to come.
pub(super) struct Awaited {
    pub(super) delimiter: String,
    pub(super) strips_tabs: bool,
    pub(super) expands: bool,
    pub(super) body: Arc<OnceLock<Vec<Piece>>>,
}

pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    /// Where the text begins in the one it is part of.
    origin: usize,
    /// A text of its own has no places inside the one it came from.
    is_part: bool,
    pub(super) budget: Budget,
    pub(super) awaited: Vec<Awaited>,
    /// Lines of an outer command are awaited, so no line may end in here.
    pub(super) outer_awaits: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, origin: usize, budget: Budget) -> Self {
        let cursor = Cursor { text, at: 0 };
        Self { cursor, origin, is_part: false, budget, awaited: Vec::new(), outer_awaits: false }
    }

    /// A reader of a text that was part of this one and had to be unquoted first. It has to be joined again.
    pub(super) fn part<'p>(&mut self, text: &'p str) -> Read<Parser<'p>> {
        let origin = self.place();
        let Some(again) = self.budget.again.checked_sub(text.len()) else {
            return Err(NotUnderstood { at: origin, why: "too much text in backquotes and here-documents" });
        };
        let mut part = Parser::new(text, origin, Budget { again, ..self.budget });
        part.is_part = true;
        Ok(part)
    }

    /// Takes over what a part has left of the limits, and what it read.
    pub(super) fn join<T>(&mut self, part: &Parser<'_>, read: Read<T>) -> Read<T> {
        self.budget.commands = part.budget.commands;
        self.budget.pieces = part.budget.pieces;
        self.budget.again = part.budget.again;
        read.map_err(|error| NotUnderstood { at: part.origin, ..error })
    }

    /// Where this is in the text that was given.
    pub(super) fn place(&self) -> usize {
        if self.is_part { self.origin } else { self.cursor.at }
    }

    /// The whole text as a script.
    pub(super) fn whole(&mut self) -> Read<Script> {
        let script = self.list()?;
        if self.cursor.peek().is_some() {
            return self.cursor.error("something that does not belong here");
        }
        if !self.awaited.is_empty() {
            return self.cursor.error("a here-document without its lines");
        }
        Ok(script)
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.budget.depth >= MAX_DEPTH {
            return self.cursor.error("nested too deeply");
        }
        self.budget.depth += 1;
        let read = read(self);
        self.budget.depth -= 1;
        read
    }

    /// Reads a script up to its `)`, with here-documents of its own.
    pub(super) fn enclosed(&mut self) -> Read<Script> {
        let outer = std::mem::take(&mut self.awaited);
        let outer_awaits = self.outer_awaits;
        self.outer_awaits |= !outer.is_empty();
        let script = self.nested(Self::list)?;
        if !self.cursor.eat(")") {
            return self.cursor.error("a `(` without its `)`");
        }
        if !self.awaited.is_empty() {
            return self.cursor.error("a here-document whose lines are outside of its `)`");
        }
        self.awaited = outer;
        self.outer_awaits = outer_awaits;
        Ok(script)
    }

    pub(super) fn count_command(&mut self) -> Read<()> {
        match self.budget.commands.checked_sub(1) {
            Some(left) => {
                self.budget.commands = left;
                Ok(())
            }
            None => self.cursor.error("too many commands"),
        }
    }

    pub(super) fn count_piece(&mut self) -> Read<()> {
        match self.budget.pieces.checked_sub(1) {
            Some(left) => {
                self.budget.pieces = left;
                Ok(())
            }
            None => self.cursor.error("too many words"),
        }
    }

    /// Steps over spaces, continued lines and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.cursor.peek() {
                Some(b' ' | b'\t') => self.cursor.at += 1,
                Some(b'\\') if self.cursor.is_continued() => self.cursor.at += 2,
                Some(b'#') => {
                    self.cursor.take_while(|byte| byte != b'\n');
                    return;
                }
                _ => return,
            }
        }
    }

    /// Steps over blanks and ends of lines, and reads the here-documents that follow them.
    pub(super) fn lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.cursor.peek() != Some(b'\n') {
                return Ok(());
            }
            self.end_line()?;
        }
    }

    /// Steps over the end of a line.
    pub(super) fn end_line(&mut self) -> Read<()> {
        if self.outer_awaits {
            return self.cursor.error("a line that ends in a substitution while a here-document is awaited");
        }
        self.cursor.at += 1;
        for awaited in std::mem::take(&mut self.awaited) {
            self.here_document(&awaited)?;
        }
        Ok(())
    }

    /// Whether this unquoted word comes next.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.cursor.starts_with(word) && self.cursor.nth(word.len()).is_none_or(ends_word)
    }

    /// Steps over a reserved word if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.cursor.at += word.len();
        }
        there
    }

    pub(super) fn expect_word(&mut self, word: &str, otherwise: &'static str) -> Read<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => self.cursor.error(otherwise),
        }
    }

    /// Steps over an operator. One that is continued on the next line might be a longer one there.
    pub(super) fn eat_operator(&mut self, operator: &str) -> Read<bool> {
        if !self.cursor.eat(operator) {
            return Ok(false);
        }
        let mut ahead = self.cursor;
        while ahead.is_continued() {
            ahead.at += 2;
        }
        let grows = matches!(ahead.peek(), Some(b'&' | b'|' | b'<' | b'>' | b';' | b'(' | b')' | b'-'));
        if ahead.at > self.cursor.at && grows {
            return self.cursor.error("an operator that goes on in the next line");
        }
        Ok(true)
    }
}
