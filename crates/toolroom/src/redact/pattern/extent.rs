//! How far something goes that has to be hidden, also beyond the text that has arrived.

use super::super::text::Text;
use super::class::Class;
use super::pem::{self, Lines};

/// What belongs to a secret once it is known to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Extent {
    /// As long as bytes are of a class.
    Run(Class),
    /// Up to white space or the quote that this byte is.
    Quoted(u8),
    /// To the end of a private key, from lines like these on.
    PrivateKey(Lines),
}

/// The end of what has to be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) struct Reach {
    pub(in crate::redact) end: usize,
    /// How text that has not arrived yet may belong to it.
    pub(in crate::redact) goes_on: Option<Extent>,
}

impl Extent {
    /// Measures from `from`, which is inside.
    pub(in crate::redact) fn reach(self, text: &Text<'_>, from: usize) -> Reach {
        match self {
            Self::Run(class) => {
                let end = text.run(class, from);
                Reach { end, goes_on: text.is_cut(end).then_some(self) }
            }
            Self::Quoted(quote) => {
                let (end, goes_on) = quoted(text, quote, from);
                Reach { end, goes_on: goes_on.then_some(self) }
            }
            Self::PrivateKey(lines) => pem::reach(text, from, lines),
        }
    }
}

/// The end of what is quoted, and whether more of it may arrive.
fn quoted(text: &Text<'_>, quote: u8, from: usize) -> (usize, bool) {
    let mut end = from;
    while let Some(byte) = text.byte(end) {
        if byte == quote || byte.is_ascii_whitespace() {
            return (end, false);
        }
        // An escaped quote is no end.
        match (byte, text.byte(end + 1)) {
            (b'\\', Some(b'"' | b'\'' | b'`' | b'\\')) => end += 2,
            (b'\\', None) if text.is_cut(end + 1) => return (end, true),
            _ => end += 1,
        }
    }
    (end, text.is_cut(end))
}
