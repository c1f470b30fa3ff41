//! Sets of bytes that secrets are made of, and runs of them.

use std::cell::Cell;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum ByteClass {
    /// Letters and digits.
    Alnum,
    /// Those and `_`.
    Word,
    /// Those and `-`: the URL-safe base64 alphabet.
    Token,
    /// Those and `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`: the standard base64 alphabet.
    Base64,
    /// Capital letters and digits.
    Capital,
    /// Digits and small letters up to f.
    Hex,
    /// Digits.
    Digit,
    /// A path of secret parts.
    Path,
    /// An unquoted value, up to a separator or bracket.
    Value,
    /// A value in a URL's query, up to `&`.
    Query,
    /// The authority of a URL.
    Authority,
    /// Digits and separators of digit groups.
    Grouped,
}

/// How many classes there are.
const CLASSES: usize = 13;

impl ByteClass {
    const fn bit(self) -> u16 {
        1 << self as u16
    }

    pub(super) const fn has(self, byte: u8) -> bool {
        #[expect(clippy::indexing_slicing, reason = "there is an entry for every byte")]
        let classes = MEMBERSHIP[byte as usize];
        classes & self.bit() != 0
    }
}

/// For each byte the classes it belongs to.
const MEMBERSHIP: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, which would refuse a wrong index"
        )]
        {
            table[byte as usize] = membership(byte);
        }
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

const fn membership(byte: u8) -> u16 {
    let mut classes = 0;
    if byte.is_ascii_alphanumeric() {
        classes |=
            ByteClass::Alnum.bit() | ByteClass::Word.bit() | ByteClass::Token.bit() | ByteClass::Dotted.bit();
        classes |= ByteClass::Base64.bit() | ByteClass::Path.bit();
    }
    if byte.is_ascii_uppercase() || byte.is_ascii_digit() {
        classes |= ByteClass::Capital.bit();
    }
    if byte.is_ascii_digit() {
        classes |= ByteClass::Digit.bit() | ByteClass::Grouped.bit();
    }
    if matches!(byte, b'0'..=b'9' | b'a'..=b'f') {
        classes |= ByteClass::Hex.bit();
    }
    classes |= match byte {
        b'_' => {
            ByteClass::Word.bit() | ByteClass::Token.bit() | ByteClass::Dotted.bit() | ByteClass::Path.bit()
        }
        b'-' => {
            ByteClass::Token.bit()
                | ByteClass::Dotted.bit()
                | ByteClass::Path.bit()
                | ByteClass::Grouped.bit()
        }
        b'.' => ByteClass::Dotted.bit(),
        b'+' | b'/' => ByteClass::Base64.bit() | ByteClass::Path.bit(),
        b'=' => ByteClass::Base64.bit(),
        b' ' => ByteClass::Grouped.bit(),
        _ => 0,
    };
    let shown = byte.is_ascii_graphic() || !byte.is_ascii();
    if shown && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>') {
        if !matches!(byte, b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}') {
            classes |= ByteClass::Value.bit();
            classes |= if byte == b'&' { 0 } else { ByteClass::Query.bit() };
        }
        if !matches!(byte, b'/' | b'?' | b'#') {
            classes |= ByteClass::Authority.bit();
        }
    }
    classes
}

/// Caches the last run of each class, so that formats that begin within one run do not all scan it.
#[derive(Default)]
pub(in crate::redact) struct Runs {
    last: [Cell<(usize, usize)>; CLASSES],
}

impl Runs {
    /// The end of the run of `class` that contains `from`; `from` if there is none. Reports the bytes it had to scan.
    pub(in crate::redact) fn end(
        &self,
        bytes: &[u8],
        class: ByteClass,
        from: usize,
        scanned: impl FnOnce(usize),
    ) -> usize {
        let last = self.last.get(class as usize);
        if let Some((start, end)) = last.map(Cell::get)
            && (start..end).contains(&from)
        {
            return end;
        }
        let run = bytes.iter().skip(from).take_while(|byte| class.has(**byte)).count();
        scanned(run);
        if let Some(last) = last {
            last.set((from, from + run));
        }
        from + run
    }
}
