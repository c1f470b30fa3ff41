//! Sets of bytes that secrets are made of, and runs of them.

use std::cell::Cell;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Class {
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
    /// What a path of secret parts is made of.
    Path,
    /// What an unquoted value may hold: it ends where a list, a call or a text around it would go on.
    Value,
    /// The same in a URL's query, where `&` begins the next value.
    Query,
    /// What may stand between `//` and the path of a URL, host included.
    Authority,
    /// Digits and what separates groups of them.
    Grouped,
}

/// How many classes there are.
const CLASSES: usize = 13;

impl Class {
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
        classes |= Class::Alnum.bit() | Class::Word.bit() | Class::Token.bit() | Class::Dotted.bit();
        classes |= Class::Base64.bit() | Class::Path.bit();
    }
    if byte.is_ascii_uppercase() || byte.is_ascii_digit() {
        classes |= Class::Capital.bit();
    }
    if byte.is_ascii_digit() {
        classes |= Class::Digit.bit() | Class::Grouped.bit();
    }
    if matches!(byte, b'0'..=b'9' | b'a'..=b'f') {
        classes |= Class::Hex.bit();
    }
    classes |= match byte {
        b'_' => Class::Word.bit() | Class::Token.bit() | Class::Dotted.bit() | Class::Path.bit(),
        b'-' => Class::Token.bit() | Class::Dotted.bit() | Class::Path.bit() | Class::Grouped.bit(),
        b'.' => Class::Dotted.bit(),
        b'+' | b'/' => Class::Base64.bit() | Class::Path.bit(),
        b'=' => Class::Base64.bit(),
        b' ' => Class::Grouped.bit(),
        _ => 0,
    };
    let shown = byte.is_ascii_graphic() || !byte.is_ascii();
    if shown && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>') {
        if !matches!(byte, b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}') {
            classes |= Class::Value.bit();
            classes |= if byte == b'&' { 0 } else { Class::Query.bit() };
        }
        if !matches!(byte, b'/' | b'?' | b'#') {
            classes |= Class::Authority.bit();
        }
    }
    classes
}

/// The last run of each class that was measured, so that formats which begin within one run do not all walk it.
#[derive(Default)]
pub(in crate::redact) struct Runs {
    last: [Cell<(usize, usize)>; CLASSES],
}

impl Runs {
    /// Where the run of `class` that holds `from` ends; `from` when there is none. Tells how far it had to walk.
    pub(in crate::redact) fn end(
        &self,
        bytes: &[u8],
        class: Class,
        from: usize,
        walked: impl FnOnce(usize),
    ) -> usize {
        let last = self.last.get(class as usize);
        if let Some((start, end)) = last.map(Cell::get)
            && (start..end).contains(&from)
        {
            return end;
        }
        let run = bytes.iter().skip(from).take_while(|byte| class.has(**byte)).count();
        walked(run);
        if let Some(last) = last {
            last.set((from, from + run));
        }
        from + run
    }
}
