//! Redirections.

use std::sync::{Arc, OnceLock};

use super::cursor::{in_name, is_name};
use super::parser::{ParseResult, Parser, PendingHereDocument};
use super::tree::{HereDocument, Piece, Redirection, Target};

/// Longer operators come before their prefixes.
const OPERATORS: [&str; 12] = ["<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">", "&>>", "&>"];

impl Parser<'_> {
    /// Parses the redirection that begins here, if any.
    pub(super) fn redirection(&mut self) -> ParseResult<Option<Redirection>> {
        self.blanks();
        let descriptor = self.descriptor().to_owned();
        let mut ahead = self.cursor;
        ahead.at += descriptor.len();
        let Some(operator) = OPERATORS.into_iter().find(|operator| ahead.starts_with(operator)) else {
            return Ok(None);
        };
        let is_process = matches!(operator, "<" | ">") && ahead.nth(1) == Some(b'(');
        if is_process || (operator.starts_with('&') && !descriptor.is_empty()) {
            return Ok(None);
        }
        self.cursor = ahead;
        self.eat_operator(operator)?;
        self.blanks();
        if operator == "<<" || operator == "<<-" {
            let here = self.awaits(operator == "<<-")?;
            return Ok(Some(Redirection { descriptor, operator: "<<", target: Target::Here(here) }));
        }
        let target = Target::Word(self.expect_any_word()?);
        Ok(Some(Redirection { descriptor, operator, target }))
    }

    /// The number or `{name}` directly before a redirection.
    fn descriptor(&self) -> &str {
        let rest = self.cursor.rest();
        let length = match rest.bytes().next() {
            Some(b'0'..=b'9') => rest.bytes().take_while(u8::is_ascii_digit).count(),
            Some(b'{') => {
                let name = 1 + rest.bytes().skip(1).take_while(|byte| in_name(*byte)).count();
                let is_closed = rest.as_bytes().get(name) == Some(&b'}');
                if is_closed && rest.get(1..name).is_some_and(is_name) { name + 1 } else { 0 }
            }
            _ => 0,
        };
        match self.cursor.nth(length) {
            Some(b'<' | b'>') => rest.get(..length).unwrap_or_default(),
            _ => "",
        }
    }

    /// The delimiter of a here-document whose lines come later.
    fn awaits(&mut self, strips_tabs: bool) -> ParseResult<HereDocument> {
        if self.outer_awaits {
            return self.cursor.error("a here-document in a substitution while another one is awaited");
        }
        let word = self.expect_any_word()?;
        let mut delimiter = String::new();
        let mut expands = true;
        for piece in &word.pieces {
            match piece {
                Piece::Bare(text) => delimiter.push_str(text),
                Piece::Single(text) => {
                    delimiter.push_str(text);
                    expands = false;
                }
                Piece::Escaped(character) => {
                    delimiter.push(*character);
                    expands = false;
                }
                Piece::Double(inner) => match inner.as_slice() {
                    [] => expands = false,
                    [Piece::Bare(text)] => {
                        delimiter.push_str(text);
                        expands = false;
                    }
                    _ => return self.cursor.error("a delimiter that is not plain text"),
                },
                _ => return self.cursor.error("a delimiter that is not plain text"),
            }
        }
        if delimiter.is_empty() || delimiter.contains(['\n', '$', '`']) {
            return self.cursor.error("a delimiter that is not plain text");
        }
        let body = Arc::new(OnceLock::new());
        self.pending.push(PendingHereDocument { delimiter, strips_tabs, expands, body: Arc::clone(&body) });
        Ok(HereDocument { expands, body })
    }
}
