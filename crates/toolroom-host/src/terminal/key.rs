//! What a key sends, and what it means.

use std::io;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// A sequence that is longer than this is none.
const MAX_SEQUENCE: usize = 1_024;

/// A key that was pressed. Those that send a sequence, such as the arrows, are swallowed: read as letters, they would
/// answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character, among them space and tab.
    Char(char),
    /// Return.
    Enter,
    /// Backspace.
    Backspace,
    /// Escape, alone.
    Escape,
    /// Ctrl-C, or Ctrl-\.
    Interrupt,
    /// Ctrl-D, or the terminal went away.
    EndOfInput,
    /// Another letter together with Ctrl.
    Control(char),
}

/// What came from the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    Got(u8),
    /// Nothing, in the time there was.
    Nothing,
    /// Nothing, for ever.
    End,
}

/// How long to wait for a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// A person may press a key.
    Person,
    /// The rest of what one key sends comes at once.
    Machine,
}

/// The next key; `None` when the person's time is up.
pub(super) fn next_key(mut byte: impl FnMut(Patience) -> io::Result<Byte>) -> io::Result<Option<Key>> {
    loop {
        let first = match byte(Patience::Person)? {
            Byte::Got(first) => first,
            Byte::Nothing => return Ok(None),
            Byte::End => return Ok(Some(Key::EndOfInput)),
        };
        let key = match first {
            b'\r' | b'\n' => Some(Key::Enter),
            b'\t' => Some(Key::Char('\t')),
            0x08 | 0x7f => Some(Key::Backspace),
            0x03 | 0x1c => Some(Key::Interrupt),
            0x04 => Some(Key::EndOfInput),
            ESCAPE => escape(&mut byte)?,
            0x00..0x20 => Some(Key::Control(char::from(first | 0x60))),
            0x20..0x7f => Some(Key::Char(char::from(first))),
            0x80.. => character(first, &mut byte)?,
        };
        if key.is_some() {
            return Ok(key);
        }
    }
}

/// Escape alone, or nothing: then it was the beginning of a sequence, which is read to its end.
fn escape(byte: &mut impl FnMut(Patience) -> io::Result<Byte>) -> io::Result<Option<Key>> {
    loop {
        match byte(Patience::Machine)? {
            // Some terminals put one more before what is pressed together with Alt.
            Byte::Got(ESCAPE) => {}
            Byte::Got(b'[') => {
                // The console of Linux doubles the bracket of its function keys.
                let doubled = skip_until(byte, |next| (0x40..0x7f).contains(&next))? == Some(b'[');
                if doubled {
                    skip_until(byte, |_| true)?;
                }
                return Ok(None);
            }
            Byte::Got(b'O') => {
                skip_until(byte, |_| true)?;
                return Ok(None);
            }
            // Answers of the terminal to questions of a program; they end with a bell, or Escape and a backslash.
            Byte::Got(b']' | b'P' | b'X' | b'^' | b'_') => {
                if skip_until(byte, |next| next == BELL || next == ESCAPE)? == Some(ESCAPE) {
                    skip_until(byte, |_| true)?;
                }
                return Ok(None);
            }
            Byte::Got(_) => return Ok(None),
            Byte::Nothing | Byte::End => return Ok(Some(Key::Escape)),
        }
    }
}

/// Reads up to and including the byte that is the last one, which is returned if it came.
fn skip_until(
    byte: &mut impl FnMut(Patience) -> io::Result<Byte>,
    is_last: impl Fn(u8) -> bool,
) -> io::Result<Option<u8>> {
    for _ in 0..MAX_SEQUENCE {
        match byte(Patience::Machine)? {
            Byte::Got(next) if is_last(next) => return Ok(Some(next)),
            Byte::Got(_) => {}
            Byte::Nothing | Byte::End => return Ok(None),
        }
    }
    Ok(None)
}

/// The character that begins with this byte; nothing if it is none, or one that cannot be seen.
fn character(first: u8, byte: &mut impl FnMut(Patience) -> io::Result<Byte>) -> io::Result<Option<Key>> {
    let more = match first {
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf4 => 3,
        _ => return Ok(None),
    };
    let mut bytes = vec![first];
    for _ in 0..more {
        match byte(Patience::Machine)? {
            Byte::Got(next) => bytes.push(next),
            Byte::Nothing | Byte::End => return Ok(None),
        }
    }
    let character = str::from_utf8(&bytes).ok().and_then(|text| text.chars().next());
    Ok(character.filter(|character| !character.is_control()).map(Key::Char))
}
