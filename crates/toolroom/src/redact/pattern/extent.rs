//! How far something goes that has to be hidden, also beyond the text that has arrived.

use super::super::text::Text;
use super::class::Class;
use super::pem;

/// What belongs to a secret once it is known to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Extent {
    /// As long as bytes are of a class.
    Run(Class),
    /// Up to white space or the quote that this byte is.
    Quoted(u8),
    /// To the end of a private key.
    PrivateKey,
}

/// The end of what has to be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) struct Reach {
    pub(in crate::redact) end: usize,
    /// Whether text that has not arrived yet may belong to it.
    pub(in crate::redact) goes_on: bool,
}

impl Extent {
    /// Measures from `from`, which is inside.
    pub(in crate::redact) fn reach(self, text: &Text<'_>, from: usize) -> Reach {
        match self {
            Self::Run(class) => {
                let end = text.run(class, from);
                Reach { end, goes_on: text.is_cut(end) }
            }
            Self::Quoted(quote) => quoted(text, quote, from),
            Self::PrivateKey => pem::reach(text, from),
        }
    }
}

fn quoted(text: &Text<'_>, quote: u8, from: usize) -> Reach {
    let mut end = from;
    while let Some(byte) = text.byte(end) {
        if byte == quote || byte.is_ascii_whitespace() {
            return Reach { end, goes_on: false };
        }
        // An escaped quote is no end.
        match (byte, text.byte(end + 1)) {
            (b'\\', Some(b'"' | b'\'' | b'`' | b'\\')) => end += 2,
            (b'\\', None) if text.is_cut(end + 1) => return Reach { end, goes_on: true },
            _ => end += 1,
        }
    }
    Reach { end, goes_on: text.is_cut(end) }
}
