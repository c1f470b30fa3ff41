//! Quotes: double quotes, `$'…'`, backquotes.

use super::parser::{ParseResult, Parser};
use super::test_command::push_bare;
use super::tree::{Piece, Script};

/// The context of backquotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteContext {
    Nothing,
    Double,
    Lines,
}

impl QuoteContext {
    const fn from_end(end: Option<u8>) -> Self {
        match end {
            Some(_) => Self::Double,
            None => Self::Lines,
        }
    }
}

impl Parser<'_> {
    /// Parses double quotes or a here-document, up to but not including `end`.
    pub(super) fn quoted_pieces(&mut self, end: Option<u8>) -> ParseResult<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            let run =
                self.cursor.take_while(|byte| !matches!(byte, b'\\' | b'$' | b'`') && Some(byte) != end);
            if !run.is_empty() {
                push_bare(&mut pieces, run);
            }
            match self.cursor.peek() {
                None if end.is_none() => return Ok(pieces),
                None => return self.cursor.error("a quote without its end"),
                Some(byte) if Some(byte) == end => return Ok(pieces),
                Some(b'\\') => match self.cursor.nth(1) {
                    Some(b'\n') => self.cursor.at += 2,
                    Some(next) if matches!(next, b'$' | b'`' | b'\\') || Some(next) == end => {
                        self.cursor.at += 2;
                        self.count_piece()?;
                        pieces.push(Piece::Escaped(char::from(next)));
                    }
                    _ => {
                        self.cursor.at += 1;
                        push_bare(&mut pieces, "\\");
                    }
                },
                Some(b'`') => {
                    let script = self.backquoted(QuoteContext::from_end(end))?;
                    pieces.push(Piece::Substitution(script));
                }
                Some(_) => self.dollar(&mut pieces, true)?,
            }
        }
    }

    /// Parses backquotes, whose content is a separate text after unescaping.
    pub(super) fn backquoted(&mut self, around: QuoteContext) -> ParseResult<Script> {
        self.cursor.at += 1;
        let mut text = String::new();
        loop {
            text.push_str(self.cursor.take_while(|byte| !matches!(byte, b'\\' | b'`' | b'\n')));
            match self.cursor.peek() {
                None => return self.cursor.error("a backquote without its end"),
                Some(b'`') => break,
                Some(b'\n') if self.outer_awaits || !self.pending.is_empty() => {
                    return self
                        .cursor
                        .error("a line that ends in backquotes while a here-document is awaited");
                }
                Some(b'\n') => {
                    self.cursor.at += 1;
                    text.push('\n');
                }
                Some(_) => {
                    self.cursor.at += 1;
                    match self.cursor.peek() {
                        Some(b'$' | b'`' | b'\\') => {}
                        Some(b'"') if around == QuoteContext::Double => {}
                        Some(b'"') if around == QuoteContext::Lines => {
                            return self.cursor.error("a quoted quote in backquotes in a here-document");
                        }
                        _ => text.push('\\'),
                    }
                    text.extend(self.cursor.character());
                }
            }
        }
        let script = self.nested(|parser| {
            let mut part = parser.part(&text)?;
            let read = part.whole();
            parser.join(&part, read)
        })?;
        self.cursor.at += 1;
        Ok(script)
    }

    /// `$'…'`, after its first quote. A quote inside becomes a piece of its own, so that every shell reads it alike.
    pub(super) fn ansi_pieces(&mut self, pieces: &mut Vec<Piece>) -> ParseResult<()> {
        let mut text = String::new();
        let before = pieces.len();
        loop {
            text.push_str(self.cursor.take_while(|byte| !matches!(byte, b'\\' | b'\'')));
            match self.cursor.peek() {
                None => return self.cursor.error("a quote without its end"),
                Some(b'\'') => break,
                Some(_) => {}
            }
            self.cursor.at += 1;
            match self.ansi_escape(&mut text)? {
                Some('\'') => {
                    self.count_piece()?;
                    if !text.is_empty() {
                        self.count_piece()?;
                        pieces.push(Piece::Single(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Escaped('\''));
                }
                Some(character) => text.push(character),
                None => {}
            }
        }
        self.cursor.at += 1;
        if !text.is_empty() || pieces.len() == before {
            pieces.push(Piece::Single(text));
        }
        Ok(())
    }

    /// An escape in `$'…'`; unknown escapes stay unchanged.
    fn ansi_escape(&mut self, text: &mut String) -> ParseResult<Option<char>> {
        let Some(escape) = self.cursor.character() else {
            return self.cursor.error("a quote without its end");
        };
        let code = match escape {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => return Ok(Some(escape)),
            '0'..='7' => {
                self.cursor.at -= 1;
                self.digits(8, 3)?
            }
            'x' if self.cursor.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) => self.digits(16, 2)?,
            'u' if self.cursor.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) => {
                return self.unicode(4);
            }
            'U' if self.cursor.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) => {
                return self.unicode(8);
            }
            'c' | 'x' => return self.cursor.error("an escape in `$'…'` that is not read alike everywhere"),
            other => {
                text.push('\\');
                return Ok(Some(other));
            }
        };
        match u8::try_from(code) {
            Ok(code @ 1..=0x7f) => Ok(Some(char::from(code))),
            _ => self.cursor.error("a byte in `$'…'` that is no character"),
        }
    }

    fn unicode(&mut self, most: usize) -> ParseResult<Option<char>> {
        match char::from_u32(self.digits(16, most)?) {
            Some('\0') | None => self.cursor.error("a code in `$'…'` that is no character"),
            some => Ok(some),
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> ParseResult<u32> {
        let rest = self.cursor.rest();
        let count = rest.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
        self.cursor.at += count;
        match rest.get(..count).and_then(|digits| u32::from_str_radix(digits, radix).ok()) {
            Some(code) => Ok(code),
            None => self.cursor.error("an escape in `$'…'` without its digits"),
        }
    }
}
