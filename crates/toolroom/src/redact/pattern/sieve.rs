//! One look at every place of a text: which formats may begin with the three bytes there.
//!
//! An automaton over all prefixes would say the same, but at a third of the speed: each of its steps has to wait for
//! the one before, and the looks here have nothing to do with each other.

use super::super::find::{Find, Found, What};
use super::super::text::Text;
use super::cursor::{Hit, Miss};
use super::issued::{ISSUED, SENDGRID};
use super::{assignment, authorization, issued, jwt, pem, telegram, userinfo};

type Check = fn(&Text<'_>, usize) -> Result<Hit, Miss>;

/// Formats with a check of their own, and the bytes that may come first, second and third.
const OTHERS: &[([&[u8]; 3], Check)] = &[
    (letters(pem::BEGIN), pem::check),
    (letters(jwt::OBJECT), jwt::check),
    (letters(userinfo::SLASHES), userinfo::check),
    (letters(SENDGRID), issued::sendgrid),
    ([DIGITS, b":", TOKEN], telegram::check),
    ([b"aA", b"uU", b"tT"], authorization::header),
    ([b"bB", b"eE", b"aA"], authorization::bearer),
    ([b"pP", b"aA", b"sS"], assignment::check),
    ([b"tT", b"oO", b"kK"], assignment::check),
    ([b"sS", b"eE", b"cC"], assignment::check),
    ([b"aA", b"pP", b"iI"], assignment::check),
    ([b"aA", b"cC", b"cC"], assignment::check),
];

/// The place of [`pem::check`].
const PRIVATE_KEY: usize = 0;

const DIGITS: &[u8] = b"0123456789";
const TOKEN: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// A bit for each format.
type Formats = u64;

/// For each of the three places and each byte the formats that have this byte in this place.
static SIEVE: [[Formats; 256]; 3] = [table(0), table(1), table(2)];

const fn letters(text: &'static str) -> [&'static [u8]; 3] {
    let (first, rest) = text.as_bytes().split_at(1);
    let (second, rest) = rest.split_at(1);
    [first, second, rest.split_at(1).0]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which would refuse a wrong index")]
const fn table(place: usize) -> [Formats; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut format = 0;
        while format < OTHERS.len() {
            if contains(OTHERS[format].0[place], byte) {
                table[byte as usize] |= 1 << format;
            }
            format += 1;
        }
        while format < OTHERS.len() + ISSUED.len() {
            if ISSUED[format - OTHERS.len()].begins(place, byte) {
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

fn formats(place: usize, byte: u8) -> Formats {
    SIEVE.get(place).and_then(|table| table.get(usize::from(byte))).copied().unwrap_or(0)
}

/// Reads every format at every place where it may begin.
pub(super) fn find(text: &Text<'_>, known_key: usize, found: &mut Found) {
    let mut known_key = known_key;
    for (at, [first, second, third]) in text.bytes().array_windows().enumerate() {
        let formats = formats(0, *first) & formats(1, *second) & formats(2, *third);
        if formats != 0 {
            read(text, at, formats, &mut known_key, found);
        }
    }
}

#[cold]
fn read(text: &Text<'_>, at: usize, mut formats: Formats, known_key: &mut usize, found: &mut Found) {
    while formats != 0 {
        let format = formats.trailing_zeros() as usize;
        formats &= formats - 1;
        // A key inside another one would be walked to the same end again.
        if format == PRIVATE_KEY && at + pem::BEGIN.len() <= *known_key {
            continue;
        }
        let result = match (OTHERS.get(format), ISSUED.get(format.saturating_sub(OTHERS.len()))) {
            (Some((_, check)), _) => check(text, at),
            (None, Some(issued)) => issued.check(text, at),
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
                found.add(Find { range: hit.start..hit.end, what: What::Kind(hit.kind), extent: hit.extent });
            }
            Err(Miss::Undecided(from)) => found.wait(from),
            Err(Miss::Other) => {}
        }
    }
}

/// The last two bytes may be the first of a format.
pub(super) fn wait(text: &Text<'_>, found: &mut Found) {
    let length = text.bytes().len();
    match text.bytes() {
        [.., first, second] if formats(0, *first) & formats(1, *second) != 0 => found.wait(length - 2),
        [.., first] if formats(0, *first) != 0 => found.wait(length - 1),
        _ => {}
    }
}
