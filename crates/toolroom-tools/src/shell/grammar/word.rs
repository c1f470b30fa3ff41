//! Unquoted words.

use super::cursor::ends_word;
use super::parser::{ParseResult, Parser};
use super::quoted::QuoteContext;
use super::test_command::push_bare;
use super::tree::{Piece, Position, Word};

/// Bytes without special meaning in an unquoted word.
const fn is_ordinary(byte: u8) -> bool {
    !ends_word(byte) && !matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')
}

impl Parser<'_> {
    /// Parses the word that begins here, if any.
    pub(super) fn word(&mut self) -> ParseResult<Option<Word>> {
        let position = Position(self.position());
        let mut pieces = Vec::with_capacity(1);
        self.count_piece()?;
        self.word_pieces(&mut pieces)?;
        Ok((!pieces.is_empty()).then_some(Word { position, pieces }))
    }

    /// Adds the pieces up to the end of the word.
    pub(super) fn word_pieces(&mut self, pieces: &mut Vec<Piece>) -> ParseResult<()> {
        let start = self.cursor.at;
        loop {
            let run = self.cursor.take_while(is_ordinary);
            if !run.is_empty() {
                push_bare(pieces, run);
            }
            match self.cursor.peek() {
                Some(b'\\') if self.cursor.is_continued() => {
                    self.cursor.at += 2;
                    let digits = self.cursor.text.get(start..self.cursor.at - 2).unwrap_or_default();
                    let number = digits.bytes().all(|byte| byte.is_ascii_digit());
                    if number && matches!(self.cursor.peek(), Some(b'<' | b'>')) {
                        return self.cursor.error("a redirection that goes on in the next line");
                    }
                }
                Some(b'<' | b'>') if self.cursor.nth(1) == Some(b'(') => {
                    let output = self.cursor.peek() == Some(b'>');
                    self.cursor.at += 2;
                    let script = self.enclosed()?;
                    pieces.push(Piece::Process { output, script });
                }
                Some(byte) if !ends_word(byte) => self.unquoted_piece(pieces)?,
                _ => return Ok(()),
            }
        }
    }

    /// Adds the piece that begins with a quote, a backslash or a `$`.
    pub(super) fn unquoted_piece(&mut self, pieces: &mut Vec<Piece>) -> ParseResult<()> {
        self.count_piece()?;
        match self.cursor.peek() {
            Some(b'\'') => {
                self.cursor.at += 1;
                let text = self.cursor.take_while(|byte| byte != b'\'');
                if !self.cursor.eat("'") {
                    return self.cursor.error("a quote without its end");
                }
                pieces.push(Piece::Single(text.to_owned()));
                Ok(())
            }
            Some(b'"') => {
                self.cursor.at += 1;
                let inner = self.nested(|parser| parser.quoted_pieces(Some(b'"')))?;
                self.cursor.at += 1;
                pieces.push(Piece::Double(inner));
                Ok(())
            }
            Some(b'\\') => {
                self.cursor.at += 1;
                match self.cursor.character() {
                    Some('\n') => Ok(()),
                    Some(character) => {
                        pieces.push(Piece::Escaped(character));
                        Ok(())
                    }
                    None => self.cursor.error("a backslash at the end"),
                }
            }
            Some(b'$') if self.cursor.nth(1) == Some(b'\'') => {
                self.cursor.at += 2;
                self.ansi_pieces(pieces)
            }
            // Without a translation catalog, `$"…"` is the text itself.
            Some(b'$') if self.cursor.nth(1) == Some(b'"') => {
                self.cursor.at += 1;
                self.unquoted_piece(pieces)
            }
            Some(b'`') => {
                let script = self.backquoted(QuoteContext::Nothing)?;
                pieces.push(Piece::Substitution(script));
                Ok(())
            }
            _ => self.dollar(pieces, false),
        }
    }
}
