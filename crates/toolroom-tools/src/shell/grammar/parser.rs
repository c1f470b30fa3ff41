//! The parser: limits, blanks and line ends.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::cursor::{Cursor, ends_word};
use super::hidden;
use super::tree::{Piece, Script};

/// Maximum length of a text, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;

/// Maximum nesting of commands, substitutions and quotes.
pub const MAX_DEPTH: usize = 100;

/// Maximum number of simple commands.
pub const MAX_COMMANDS: usize = 5_000;

/// Maximum number of words and pieces. A program accepts far fewer arguments.
pub const MAX_PIECES: usize = 65_536;

/// Maximum bytes parsed a second time: backquotes and here-documents are parsed as separate texts.
const MAX_READ_AGAIN: usize = 4 * MAX_TEXT;

/// Why a text could not be parsed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset of the error.
    pub at: usize,
    /// The cause.
    pub why: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at byte {})", self.why, self.at)
    }
}

impl Error for ParseError {}

pub(super) type ParseResult<T> = Result<T, ParseError>;

/// Parses a script.
///
/// # Errors
/// If the text is too long, nests too deeply, has too many commands or hidden characters, or uses unsupported syntax.
pub fn parse(text: &str) -> Result<Script, ParseError> {
    let refused = |at, why| Err(ParseError { at, why });
    if text.len() > MAX_TEXT {
        return refused(MAX_TEXT, "more than a mebibyte of text");
    }
    if let Some((at, why)) = hidden::find(text) {
        return refused(at, why);
    }
    let budget = Budget { depth: 0, commands: MAX_COMMANDS, pieces: MAX_PIECES, again: MAX_READ_AGAIN };
    Parser::new(text, 0, budget).whole()
}

/// The remaining limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    depth: usize,
    commands: usize,
    pieces: usize,
    again: usize,
}

/// A here-document whose lines come later.
pub(super) struct PendingHereDocument {
    pub(super) delimiter: String,
    pub(super) strips_tabs: bool,
    pub(super) expands: bool,
    pub(super) body: Arc<OnceLock<Vec<Piece>>>,
}

pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    /// Offset of this text in the outer one.
    origin: usize,
    /// A separate text has no positions in the one it came from.
    is_part: bool,
    pub(super) budget: Budget,
    pub(super) pending: Vec<PendingHereDocument>,
    /// Here-documents of an outer command are pending, so no line may end here.
    pub(super) outer_awaits: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, origin: usize, budget: Budget) -> Self {
        let cursor = Cursor { text, at: 0 };
        Self { cursor, origin, is_part: false, budget, pending: Vec::new(), outer_awaits: false }
    }

    /// A parser for an unquoted part of this text. Has to be joined again.
    pub(super) fn part<'p>(&mut self, text: &'p str) -> ParseResult<Parser<'p>> {
        let origin = self.position();
        let Some(again) = self.budget.again.checked_sub(text.len()) else {
            return Err(ParseError { at: origin, why: "too much text in backquotes and here-documents" });
        };
        let mut part = Parser::new(text, origin, Budget { again, ..self.budget });
        part.is_part = true;
        Ok(part)
    }

    /// Takes over the remaining limits and the result of a part.
    pub(super) fn join<T>(&mut self, part: &Parser<'_>, read: ParseResult<T>) -> ParseResult<T> {
        self.budget.commands = part.budget.commands;
        self.budget.pieces = part.budget.pieces;
        self.budget.again = part.budget.again;
        read.map_err(|error| ParseError { at: part.origin, ..error })
    }

    /// The byte offset in the original text.
    pub(super) fn position(&self) -> usize {
        if self.is_part { self.origin } else { self.cursor.at }
    }

    /// Parses the whole text as a script.
    pub(super) fn whole(&mut self) -> ParseResult<Script> {
        let script = self.list()?;
        if self.cursor.peek().is_some() {
            return self.cursor.error("something that does not belong here");
        }
        if !self.pending.is_empty() {
            return self.cursor.error("a here-document without its lines");
        }
        Ok(script)
    }

    /// Parses one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.budget.depth >= MAX_DEPTH {
            return self.cursor.error("nested too deeply");
        }
        self.budget.depth += 1;
        let read = read(self);
        self.budget.depth -= 1;
        read
    }

    /// Parses a script up to its `)`, with here-documents of its own.
    pub(super) fn enclosed(&mut self) -> ParseResult<Script> {
        let outer = std::mem::take(&mut self.pending);
        let outer_awaits = self.outer_awaits;
        self.outer_awaits |= !outer.is_empty();
        let script = self.nested(Self::list)?;
        if !self.cursor.eat(")") {
            return self.cursor.error("a `(` without its `)`");
        }
        if !self.pending.is_empty() {
            return self.cursor.error("a here-document whose lines are outside of its `)`");
        }
        self.pending = outer;
        self.outer_awaits = outer_awaits;
        Ok(script)
    }

    pub(super) fn count_command(&mut self) -> ParseResult<()> {
        match self.budget.commands.checked_sub(1) {
            Some(left) => {
                self.budget.commands = left;
                Ok(())
            }
            None => self.cursor.error("too many commands"),
        }
    }

    pub(super) fn count_piece(&mut self) -> ParseResult<()> {
        match self.budget.pieces.checked_sub(1) {
            Some(left) => {
                self.budget.pieces = left;
                Ok(())
            }
            None => self.cursor.error("too many words"),
        }
    }

    /// Skips spaces, continued lines and a comment.
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

    /// Skips blanks and line ends, and reads the here-documents that follow.
    pub(super) fn lines(&mut self) -> ParseResult<()> {
        loop {
            self.blanks();
            if self.cursor.peek() != Some(b'\n') {
                return Ok(());
            }
            self.end_line()?;
        }
    }

    /// Skips a line end.
    pub(super) fn end_line(&mut self) -> ParseResult<()> {
        if self.outer_awaits {
            return self.cursor.error("a line that ends in a substitution while a here-document is awaited");
        }
        self.cursor.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.here_document(&pending)?;
        }
        Ok(())
    }

    /// Whether this unquoted word comes next.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.cursor.starts_with(word) && self.cursor.nth(word.len()).is_none_or(ends_word)
    }

    /// Skips a reserved word if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.cursor.at += word.len();
        }
        there
    }

    pub(super) fn expect_word(&mut self, word: &str, otherwise: &'static str) -> ParseResult<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => self.cursor.error(otherwise),
        }
    }

    /// Skips an operator. A line continuation behind it is an error: it might be part of a longer operator.
    pub(super) fn eat_operator(&mut self, operator: &str) -> ParseResult<bool> {
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
