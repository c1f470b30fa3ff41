//! Measures how far a secret extends, also beyond the text that has arrived.

use super::super::text::Text;
use super::byte_class::ByteClass;
use super::pem::{self, Lines};

/// What belongs to a recognised secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Extent {
    /// A run of bytes of a class.
    Run(ByteClass),
    /// Up to white space or the quote that this byte is.
    Quoted(u8),
    /// To the end of a private key, after lines like these.
    PrivateKey(Lines),
}

/// The end of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) struct SecretEnd {
    pub(in crate::redact) end: usize,
    /// How it may continue in text that has not arrived yet.
    pub(in crate::redact) continues: Option<Extent>,
}

impl Extent {
    /// The end of the secret that contains `from`.
    pub(in crate::redact) fn measure(self, text: &Text<'_>, from: usize) -> SecretEnd {
        match self {
            Self::Run(class) => {
                let end = text.run(class, from);
                SecretEnd { end, continues: text.is_cut(end).then_some(self) }
            }
            Self::Quoted(quote) => {
                let (end, continues) = quoted(text, quote, from);
                SecretEnd { end, continues: continues.then_some(self) }
            }
            Self::PrivateKey(lines) => pem::measure(text, from, lines),
        }
    }
}

/// The end of a quoted text, and whether it may continue.
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
