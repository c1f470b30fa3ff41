//! Escape sequences of arrows, mouse, pastes and the terminal itself. They are read to their end. Questions ignore them;
//! the editor uses some.
//!
//! The grammar is that of ECMA-48 and xterm. If the end is ambiguous, everything until a pause belongs to the sequence:
//! skipped input can be typed again, a wrong answer cannot be taken back.

use std::io;

use super::key::{Byte, Bytes, KeyTimeout};

pub(super) const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;

/// The offset between the letter after Escape and the single C1 byte.
const EIGHT_BIT: u8 = 0x40;

const PASTE_BEGINS: &[u8] = b"200";
const PASTE_ENDS: [u8; 6] = *b"\x1b[201~";

/// What an Escape begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Nothing: the key was pressed alone.
    Escape,
    /// A paste, up to [`skip_paste`] or [`read_paste`].
    Paste,
    /// An editing key.
    Move(Move),
    /// Anything else, already consumed.
    Other,
}

/// Editing keys without a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Up,
    Down,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    /// Deletes the character under the cursor.
    Delete,
    /// Deletes the word before the cursor.
    EraseWord,
    /// Alt-Return.
    NewLine,
}

/// The end of a part of a sequence.
enum SequenceEnd {
    Whole,
    Move(Move),
    Paste,
    /// An Escape, which begins another sequence.
    Escape,
}

/// Reads the bytes after an Escape.
pub(super) fn escaped(bytes: &mut impl Bytes) -> io::Result<Sequence> {
    loop {
        let end = match bytes.next(KeyTimeout::Machine)? {
            // Some terminals send another one for Alt.
            Byte::Got(ESCAPE) => SequenceEnd::Escape,
            Byte::Got(first) => behind(first, bytes)?,
            Byte::Nothing | Byte::End => return Ok(Sequence::Escape),
        };
        match end {
            SequenceEnd::Whole => return Ok(Sequence::Other),
            SequenceEnd::Move(key) => return Ok(Sequence::Move(key)),
            SequenceEnd::Paste => return Ok(Sequence::Paste),
            SequenceEnd::Escape => {}
        }
    }
}

/// Reads the bytes after a C1 control character (0x80 to 0x9f).
pub(super) fn eight_bit(control: u8, bytes: &mut impl Bytes) -> io::Result<Sequence> {
    match behind(control.saturating_sub(EIGHT_BIT), bytes)? {
        SequenceEnd::Whole => Ok(Sequence::Other),
        SequenceEnd::Move(key) => Ok(Sequence::Move(key)),
        SequenceEnd::Paste => Ok(Sequence::Paste),
        SequenceEnd::Escape => escaped(bytes),
    }
}

/// Skips a paste to its end mark or a pause.
pub(super) fn skip_paste(bytes: &mut impl Bytes) -> io::Result<()> {
    let mut last = [0; PASTE_ENDS.len()];
    while last != PASTE_ENDS {
        let Byte::Got(byte) = bytes.next(KeyTimeout::Paste)? else { return Ok(()) };
        let [_, b, c, d, e, f] = last;
        last = [b, c, d, e, f, byte];
    }
    Ok(())
}

/// Reads a paste to its end, up to `most` bytes; the rest is discarded.
pub(super) fn read_paste(bytes: &mut impl Bytes, most: usize) -> io::Result<Vec<u8>> {
    let mut pasted = Vec::new();
    while let Byte::Got(byte) = bytes.next(KeyTimeout::Paste)? {
        if pasted.len() == most + PASTE_ENDS.len() {
            pasted.truncate(most);
            skip_paste(bytes)?;
            return Ok(pasted);
        }
        pasted.push(byte);
        if pasted.ends_with(&PASTE_ENDS) {
            pasted.truncate(pasted.len() - PASTE_ENDS.len());
            break;
        }
    }
    pasted.truncate(most);
    Ok(pasted)
}

/// Reads the sequence of this type.
fn behind(kind: u8, bytes: &mut impl Bytes) -> io::Result<SequenceEnd> {
    match kind {
        b'[' => control(bytes),
        // Keypad keys, some with a number for Shift and Ctrl before the letter.
        b'N' | b'O' => keypad(bytes),
        // Replies of the terminal to queries; they end with a bell, or Escape and a backslash.
        b'P' | b'X' | b']' | b'^' | b'_' => skip_until(bytes, |byte| byte == BELL),
        0x20..0x30 => skip_until(bytes, |byte| (0x30..0x7f).contains(&byte)),
        // A character with Alt.
        0x80.. => skip_characters(1, Some(kind), bytes),
        b'\r' | b'\n' => Ok(SequenceEnd::Move(Move::NewLine)),
        0x08 | 0x7f => Ok(SequenceEnd::Move(Move::EraseWord)),
        b'b' => Ok(SequenceEnd::Move(Move::WordLeft)),
        b'f' => Ok(SequenceEnd::Move(Move::WordRight)),
        _ => Ok(SequenceEnd::Whole),
    }
}

fn keypad(bytes: &mut impl Bytes) -> io::Result<SequenceEnd> {
    loop {
        return match bytes.next(KeyTimeout::Machine)? {
            Byte::Got(ESCAPE) => Ok(SequenceEnd::Escape),
            Byte::Got(0x30..0x40) => continue,
            Byte::Got(letter) => Ok(key(letter, &[])),
            Byte::Nothing | Byte::End => Ok(SequenceEnd::Whole),
        };
    }
}

/// The meaning of a key, from the last byte of its sequence and its parameters.
fn key(last: u8, parameters: &[u8]) -> SequenceEnd {
    // After a semicolon: one plus the modifiers Alt (2) or Ctrl (4).
    let is_far = matches!(parameters, [.., b';', b'3' | b'5' | b'7']);
    let number = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
    SequenceEnd::Move(match (last, number) {
        (b'A', _) => Move::Up,
        (b'B', _) => Move::Down,
        (b'C', _) if is_far => Move::WordRight,
        (b'C', _) => Move::Right,
        (b'D', _) if is_far => Move::WordLeft,
        (b'D', _) => Move::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Move::LineStart,
        (b'F', _) | (b'~', b"4" | b"8") => Move::LineEnd,
        (b'~', b"3") => Move::Delete,
        _ => return SequenceEnd::Whole,
    })
}

fn control(bytes: &mut impl Bytes) -> io::Result<SequenceEnd> {
    let mut parameters = Vec::new();
    loop {
        return match (bytes.next(KeyTimeout::Machine)?, parameters.as_slice()) {
            (Byte::Got(ESCAPE), _) => Ok(SequenceEnd::Escape),
            (Byte::Got(CANCEL | SUBSTITUTE), _) => Ok(SequenceEnd::Whole),
            // The Linux console doubles the bracket of function keys.
            (Byte::Got(b'['), []) => skip_characters(1, None, bytes),
            // Mouse reports in the oldest formats: a fixed number of arbitrary characters.
            (Byte::Got(b't'), []) => skip_characters(2, None, bytes),
            (Byte::Got(b'M'), []) => skip_characters(3, None, bytes),
            (Byte::Got(b'T'), []) => skip_characters(6, None, bytes),
            (Byte::Got(b'~'), PASTE_BEGINS) => Ok(SequenceEnd::Paste),
            (Byte::Got(last @ 0x40..0x7f), parameters) => Ok(key(last, parameters)),
            (Byte::Nothing | Byte::End, _) => Ok(SequenceEnd::Whole),
            (Byte::Got(byte), _) => {
                // One more than is compared.
                if parameters.len() <= PASTE_BEGINS.len() {
                    parameters.push(byte);
                }
                continue;
            }
        };
    }
}

/// Reads up to and including the last byte.
fn skip_until(bytes: &mut impl Bytes, is_last: impl Fn(u8) -> bool) -> io::Result<SequenceEnd> {
    loop {
        match bytes.next(KeyTimeout::Machine)? {
            Byte::Got(ESCAPE) => return Ok(SequenceEnd::Escape),
            Byte::Got(CANCEL | SUBSTITUTE) | Byte::Nothing | Byte::End => return Ok(SequenceEnd::Whole),
            Byte::Got(byte) if is_last(byte) => return Ok(SequenceEnd::Whole),
            Byte::Got(_) => {}
        }
    }
}

/// Skips characters, either bytes or UTF-8: terminals differ. `first` was already read.
fn skip_characters(count: usize, mut first: Option<u8>, bytes: &mut impl Bytes) -> io::Result<SequenceEnd> {
    let (mut left, mut more) = (count, 0);
    while left > 0 || more > 0 {
        let byte = match first.take() {
            Some(byte) => Byte::Got(byte),
            None => bytes.next(KeyTimeout::Machine)?,
        };
        match byte {
            Byte::Got(0x80..0xc0) if more > 0 => more -= 1,
            Byte::Got(byte @ 0x20..) if left > 0 => {
                left -= 1;
                more = continuations(byte);
            }
            Byte::Got(ESCAPE) => return Ok(SequenceEnd::Escape),
            Byte::Got(byte) => {
                bytes.put_back(byte);
                return Ok(SequenceEnd::Whole);
            }
            Byte::Nothing | Byte::End => return Ok(SequenceEnd::Whole),
        }
    }
    Ok(SequenceEnd::Whole)
}

/// Number of continuation bytes after this first byte.
pub(super) const fn continuations(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf4 => 3,
        _ => 0,
    }
}
