//! Scans a text for the first three bytes of every format.
//!
//! Three times as fast as an automaton over all prefixes, because the table look-ups do not depend on each other.

use super::super::matches::{Match, MatchKind, Matches};
use super::super::text::Text;
use super::cursor::{Hit, Miss};
use super::prefixed_key::{PREFIXED_KEYS, SENDGRID};
use super::{assignment, authorization, jwt, pem, prefixed_key, telegram, userinfo};

type Check = fn(&Text<'_>, usize) -> Result<Hit, Miss>;

/// Formats with a check of their own, and their possible first, second and third bytes.
const CHECKED_FORMATS: &[([&[u8]; 3], Check)] = &[
    (letters(pem::BEGIN), pem::check),
    (letters(jwt::OBJECT), jwt::check),
    (letters(userinfo::SLASHES), userinfo::check),
    (letters(SENDGRID), prefixed_key::sendgrid),
    ([DIGITS, b":", TOKEN], telegram::check),
    ([b"aA", b"uU", b"tT"], authorization::header),
    ([b"bB", b"eE", b"aA"], authorization::bearer),
    ([b"pP", b"aA", b"sS"], assignment::check),
    ([b"tT", b"oO", b"kK"], assignment::check),
    ([b"sS", b"eE", b"cC"], assignment::check),
    ([b"aA", b"pP", b"iI"], assignment::check),
    ([b"aA", b"cC", b"cC"], assignment::check),
];

/// The index of [`pem::check`].
const PRIVATE_KEY: usize = 0;

const DIGITS: &[u8] = b"0123456789";
const TOKEN: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// A bit set of formats.
type FormatSet = u64;

/// For each of the three positions and each byte, the formats with this byte there.
static FORMATS_BY_BYTE: [[FormatSet; 256]; 3] = [table(0), table(1), table(2)];

const fn letters(text: &'static str) -> [&'static [u8]; 3] {
    let (first, rest) = text.as_bytes().split_at(1);
    let (second, rest) = rest.split_at(1);
    [first, second, rest.split_at(1).0]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which would refuse a wrong index")]
const fn table(position: usize) -> [FormatSet; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut format = 0;
        while format < CHECKED_FORMATS.len() {
            if contains(CHECKED_FORMATS[format].0[position], byte) {
                table[byte as usize] |= 1 << format;
            }
            format += 1;
        }
        while format < CHECKED_FORMATS.len() + PREFIXED_KEYS.len() {
            if PREFIXED_KEYS[format - CHECKED_FORMATS.len()].begins(position, byte) {
                table[byte as usize] |= 1 << format;
            }
            format += 1;
        }
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which would refuse a wrong index")]
const fn contains(bytes: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

fn formats(position: usize, byte: u8) -> FormatSet {
    FORMATS_BY_BYTE.get(position).and_then(|table| table.get(usize::from(byte))).copied().unwrap_or(0)
}

/// Reads every format wherever it may begin.
pub(super) fn find(text: &Text<'_>, known_key: usize, found: &mut Matches) {
    let mut known_key = known_key;
    for (at, [first, second, third]) in text.bytes().array_windows().enumerate() {
        let formats = formats(0, *first) & formats(1, *second) & formats(2, *third);
        if formats != 0 {
            read(text, at, formats, &mut known_key, found);
        }
    }
}

#[cold]
fn read(text: &Text<'_>, at: usize, mut formats: FormatSet, known_key: &mut usize, found: &mut Matches) {
    while formats != 0 {
        let format = formats.trailing_zeros() as usize;
        formats &= formats - 1;
        // A key inside another one has the same end.
        if format == PRIVATE_KEY && at + pem::BEGIN.len() <= *known_key {
            continue;
        }
        let result = match (
            CHECKED_FORMATS.get(format),
            PREFIXED_KEYS.get(format.saturating_sub(CHECKED_FORMATS.len())),
        ) {
            (Some((_, check)), _) => check(text, at),
            (None, Some(key)) => key.check(text, at),
            (None, None) => Err(Miss::Other),
        };
        match result {
            Ok(hit) => {
                if format == PRIVATE_KEY {
                    *known_key = hit.end;
                }
                if hit.extent.is_some() {
                    found.wait(hit.end);
                }
                found.add(Match {
                    range: hit.start..hit.end,
                    kind: MatchKind::Format(hit.format),
                    extent: hit.extent,
                });
            }
            Err(Miss::Undecided(from)) => found.wait(from),
            Err(Miss::Other) => {}
        }
    }
}

/// Marks the last two bytes if a format may begin there.
pub(super) fn wait(text: &Text<'_>, found: &mut Matches) {
    let length = text.bytes().len();
    match text.bytes() {
        [.., first, second] if formats(0, *first) & formats(1, *second) != 0 => found.wait(length - 2),
        [.., first] if formats(0, *first) != 0 => found.wait(length - 1),
        _ => {}
    }
}
