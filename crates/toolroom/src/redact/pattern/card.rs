//! Payment card numbers, with or without groups, that pass the Luhn check.

use super::super::matches::{MatchKind, Matches};
use super::super::text::{Text, TextEnd};
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::format::SecretFormat;

/// Digits of an ungrouped number. Longer card numbers exist, but that many digits without a space are usually another
/// number.
const MIN_DIGITS: usize = 14;
const MAX_DIGITS: usize = 16;

/// How numbers are grouped, longer ones first.
const GROUPS: &[&[usize]] = &[&[4, 4, 4, 4, 3], &[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4]];

/// The longest number with its separators.
const MAX_LENGTH: usize = 19 + 4;

/// Every card number fills two neighbouring words of this length.
const WORD: usize = 4;

/// Minimum digits in these eight bytes; the others are separators.
const MIN_FILLED: u32 = 6;

/// Set in bytes that are no digits, spaces or dashes. Some others pass.
const OTHER: u64 = 0xe0e0_e0e0_e0e0_e0e0;
const NONE_OTHER: u64 = 0x2020_2020_2020_2020;

/// Of the bytes that pass, this is set in digits and not in spaces and dashes.
const DIGIT: u64 = 0x1010_1010_1010_1010;

pub(super) fn find(text: &Text<'_>, found: &mut Matches) {
    let bytes = text.bytes();
    let (mut last, mut searched) = (0, 0);
    for (index, word) in bytes.as_chunks::<WORD>().0.iter().enumerate() {
        last = last << 32 | u64::from(u32::from_le_bytes(*word));
        if last & OTHER == NONE_OTHER && (last & DIGIT).count_ones() >= MIN_FILLED {
            let at = index * WORD;
            if at >= searched {
                searched = find_around(text, at, found);
            }
        }
    }
    if text.end() == TextEnd::Open {
        let tail =
            bytes.iter().rev().take(MAX_LENGTH).take_while(|byte| ByteClass::Grouped.has(**byte)).count();
        find_within(text, bytes.len() - tail, bytes.len(), found);
    }
}

/// Searches all digits, spaces and dashes around `at` and returns their end.
#[cold]
fn find_around(text: &Text<'_>, at: usize, found: &mut Matches) -> usize {
    let before = text.bytes().get(..at).unwrap_or_default().iter().rev();
    let start = at - before.take_while(|byte| ByteClass::Grouped.has(**byte)).count();
    let end = text.run(ByteClass::Grouped, at);
    if end - start >= MIN_DIGITS {
        find_within(text, start, end, found);
    }
    end
}

/// Tries every group of digits as the beginning of a number.
fn find_within(text: &Text<'_>, start: usize, end: usize, found: &mut Matches) {
    let mut at = start;
    while at < end {
        if !text.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
            at += 1;
            continue;
        }
        match check(text, at) {
            Ok(hit) => {
                at = hit.end;
                found.hide(hit.start..hit.end, MatchKind::Format(hit.format));
                continue;
            }
            Err(Miss::Undecided(from)) => found.wait(from),
            Err(Miss::Other) => {}
        }
        at = text.run(ByteClass::Digit, at);
    }
}

fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let fraction =
        text.before(at) == Some(b'.') && at.checked_sub(2).is_some_and(|at| is_digit(text.byte(at)));
    if fraction
        || text.before(at).is_some_and(|byte| ByteClass::Word.has(byte))
        || !may_begin(text.slice(at, at + 2))
    {
        return Err(Miss::Other);
    }
    let ways = [&[][..]].into_iter().chain(GROUPS.iter().copied());
    let read = ways.map(|groups| read(text, at, groups));
    read.into_iter().find(|result| !matches!(result, Err(Miss::Other))).unwrap_or(Err(Miss::Other))
}

/// Reads a number in these groups; ungrouped if there are none.
fn read(text: &Text<'_>, at: usize, groups: &[usize]) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    if groups.is_empty() {
        cursor.run(ByteClass::Digit, MIN_DIGITS..=MAX_DIGITS)?;
    }
    let mut separator = None;
    for (index, length) in groups.iter().enumerate() {
        if index > 0 {
            let next = cursor.any_of(b" -")?.ok_or(Miss::Other)?;
            if *separator.get_or_insert(next) != next {
                return Err(Miss::Other);
            }
        }
        cursor.run(ByteClass::Digit, *length..=*length)?;
    }
    let after = cursor;
    let fraction = cursor.any_of(b".")?.is_some() && is_digit(cursor.peek()?);
    let in_word = after.peek()?.is_some_and(|byte| ByteClass::Word.has(byte));
    let digits =
        || text.slice(at, after.at).iter().filter(|byte| byte.is_ascii_digit()).map(|digit| digit - b'0');
    if fraction || in_word || !is_issued(digits()) || !passes_check(digits()) {
        return Err(Miss::Other);
    }
    Ok(after.hide_to_here(SecretFormat::PaymentCard, at))
}

fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

/// Whether a card number may begin with these one or two digits.
fn may_begin(digits: &[u8]) -> bool {
    let [first, second] = digits else { return matches!(digits, [b'2'..=b'6']) };
    match first {
        b'2' => (b'2'..=b'7').contains(second),
        b'3' => matches!(second, b'0' | b'4'..=b'8'),
        b'4' => true,
        b'5' => (b'1'..=b'5').contains(second),
        b'6' => matches!(second, b'0' | b'2' | b'4' | b'5'),
        _ => false,
    }
}

/// Whether an issuer has numbers of this prefix and length.
fn is_issued(digits: impl Iterator<Item = u8> + Clone) -> bool {
    let head = digits.clone().take(4).fold(0, |number, digit| number * 10 + u32::from(digit));
    let length = digits.count();
    match head {
        4000..=4999 => matches!(length, 16 | 19),
        5100..=5599 | 2221..=2720 => length == 16,
        3400..=3499 | 3700..=3799 => length == 15,
        3000..=3059 | 3600..=3699 | 3800..=3899 => length == 14,
        3528..=3589 | 6011 | 6200..=6299 | 6440..=6599 => length >= 16,
        _ => false,
    }
}

/// The Luhn check.
fn passes_check(digits: impl DoubleEndedIterator<Item = u8>) -> bool {
    let sum: u32 = digits
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit) << (place % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}
