//! A position in a text, with lookahead.

use super::parser::ParseError;

/// Bytes that end an unquoted word.
pub(super) const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Whether this is a variable name.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && text.bytes().all(in_name)
}

pub(super) const fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.nth(0)
    }

    pub(super) fn nth(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest().as_bytes().starts_with(text.as_bytes())
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let there = self.starts_with(text);
        if there {
            self.at += text.len();
        }
        there
    }

    /// The bytes up to the first one that does not match.
    pub(super) fn take_while(&mut self, holds: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !holds(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// The next character.
    pub(super) fn character(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// The unquoted word that begins here, if it has only plain bytes.
    pub(super) fn plain_word(&self) -> &'t str {
        let mut ahead = *self;
        ahead.take_while(|byte| !ends_word(byte))
    }

    pub(super) fn is_continued(&self) -> bool {
        self.starts_with("\\\n")
    }

    pub(super) fn error<T>(&self, why: &'static str) -> Result<T, ParseError> {
        Err(ParseError { at: self.at, why })
    }
}
