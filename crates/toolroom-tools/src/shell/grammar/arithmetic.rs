//! Arithmetic: operators, names, numbers and expansions.
//!
//! `((` may also begin two subshells; such a text is an error, and so is a quote.

use super::parser::{ParseResult, Parser};
use super::quoted::QuoteContext;
use super::test_command::push_bare;
use super::tree::Piece;

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b' '
                | b'\t'
                | b'\n'
                | b'+'
                | b'-'
                | b'*'
                | b'/'
                | b'%'
                | b'<'
                | b'>'
                | b'='
                | b'!'
                | b'&'
                | b'|'
                | b'^'
                | b'~'
                | b'?'
                | b':'
                | b','
                | b'['
                | b']'
                | b'#'
                | b'@'
        )
}

impl Parser<'_> {
    /// Parses up to and including `))`.
    pub(super) fn arithmetic_to_double(&mut self) -> ParseResult<Vec<Piece>> {
        let pieces = self.expression()?;
        match self.cursor.eat("))") {
            true => Ok(pieces),
            false => self.cursor.error("arithmetic that is not understood"),
        }
    }

    /// Parses up to and including `;`.
    pub(super) fn arithmetic_to_semicolon(&mut self) -> ParseResult<Vec<Piece>> {
        let pieces = self.expression()?;
        match self.cursor.eat(";") {
            true => Ok(pieces),
            false => self.cursor.error("a loop that does not count"),
        }
    }

    fn expression(&mut self) -> ParseResult<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut open = 0_usize;
        loop {
            let run = self.cursor.take_while(is_plain);
            if !run.is_empty() {
                push_bare(&mut pieces, run);
            }
            match self.cursor.peek() {
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b'$') if matches!(self.cursor.nth(1), Some(b'\'' | b'"')) => {
                    return self.cursor.error("a quote in arithmetic");
                }
                Some(b'$') => {
                    self.nested(|parser| parser.dollar(&mut pieces, true))?;
                    continue;
                }
                Some(b'`') => {
                    let script = self.backquoted(QuoteContext::Double)?;
                    pieces.push(Piece::Substitution(script));
                    continue;
                }
                Some(b'\\') if self.cursor.is_continued() => {
                    self.cursor.at += 2;
                    continue;
                }
                Some(b')' | b';') if open == 0 => return Ok(pieces),
                _ => return self.cursor.error("arithmetic that is not understood"),
            }
            let bracket = self.cursor.character().map(String::from).unwrap_or_default();
            push_bare(&mut pieces, &bracket);
        }
    }
}
