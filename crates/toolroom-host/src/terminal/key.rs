//! Keys and their bytes.

use std::io;

use super::sequence::{ESCAPE, Move, Sequence, continuations, eight_bit, escaped, read_paste, skip_paste};
use super::text::MAX_BYTES;

/// A pressed key. Keys that send sequences, such as arrows, are skipped: read as letters, they would answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character, including space and tab.
    Char(char),
    /// Return.
    Enter,
    /// Backspace.
    Backspace,
    /// Escape, alone.
    Escape,
    /// Ctrl-C, or Ctrl-\.
    Interrupt,
    /// Ctrl-D, or the terminal was closed.
    EndOfInput,
    /// Another letter with Ctrl.
    Control(char),
}

/// A result of reading a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    Got(u8),
    /// Timeout.
    Nothing,
    /// The end of input.
    End,
}

/// How long to wait for a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyTimeout {
    /// As long as the caller waits for a key.
    Person,
    /// The rest of a key's sequence, which follows at once.
    Machine,
    /// The rest of a paste, which may come in chunks.
    Paste,
}

/// How pasted text is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paste {
    /// Like typed text.
    Taken,
    /// Ignored: it was not meant for a question.
    Swallowed,
}

/// A source of bytes.
pub(super) trait Bytes {
    fn next(&mut self, time_limit: KeyTimeout) -> io::Result<Byte>;

    /// Puts back the last byte, which belongs to the next key.
    fn put_back(&mut self, byte: u8);
}

/// Bytes from a function, with one put back.
pub(super) struct ByteSource<F> {
    read: F,
    again: Option<u8>,
}

impl<F> ByteSource<F> {
    pub(super) fn new(read: F) -> Self {
        Self { read, again: None }
    }
}

impl<F: FnMut(KeyTimeout) -> io::Result<Byte>> Bytes for ByteSource<F> {
    fn next(&mut self, time_limit: KeyTimeout) -> io::Result<Byte> {
        self.again.take().map_or_else(|| (self.read)(time_limit), |byte| Ok(Byte::Got(byte)))
    }

    fn put_back(&mut self, byte: u8) {
        self.again = Some(byte);
    }
}

/// The next key; `None` on timeout.
pub(super) fn next_key(
    paste: Paste,
    read: impl FnMut(KeyTimeout) -> io::Result<Byte>,
) -> io::Result<Option<Key>> {
    let mut bytes = ByteSource::new(read);
    loop {
        match (next_typed(&mut bytes)?, paste) {
            (Typed::Nothing, _) => return Ok(None),
            (Typed::Gone, _) => return Ok(Some(Key::EndOfInput)),
            (Typed::Key(key), _) => return Ok(Some(key)),
            (Typed::Sequence(Sequence::Escape), _) => return Ok(Some(Key::Escape)),
            (Typed::Sequence(Sequence::Paste), Paste::Swallowed) => skip_paste(&mut bytes)?,
            (Typed::Sequence(_), _) => {}
        }
    }
}

/// The result of one key press.
pub(super) enum Typed {
    Key(Key),
    Sequence(Sequence),
    /// Timeout.
    Nothing,
    /// The terminal was closed.
    Gone,
}

/// The next key press. A byte is put back only without a key, so none is left when there is one.
pub(super) fn next_typed(bytes: &mut impl Bytes) -> io::Result<Typed> {
    let first = match bytes.next(KeyTimeout::Person)? {
        Byte::Got(first) => first,
        Byte::Nothing => return Ok(Typed::Nothing),
        Byte::End => return Ok(Typed::Gone),
    };
    Ok(match first {
        b'\r' | b'\n' => Typed::Key(Key::Enter),
        b'\t' => Typed::Key(Key::Char('\t')),
        0x08 | 0x7f => Typed::Key(Key::Backspace),
        0x03 | 0x1c => Typed::Key(Key::Interrupt),
        0x04 => Typed::Key(Key::EndOfInput),
        ESCAPE => Typed::Sequence(escaped(bytes)?),
        0x00..0x20 => Typed::Key(Key::Control(char::from(first | 0x60))),
        0x20..0x7f => Typed::Key(Key::Char(char::from(first))),
        0x80..0xa0 => Typed::Sequence(eight_bit(first, bytes)?),
        0xa0.. => match character(first, bytes)? {
            // C1 controls in UTF-8.
            Some(control @ '\u{80}'..'\u{a0}') => Typed::Sequence(match u8::try_from(control) {
                Ok(control) => eight_bit(control, bytes)?,
                Err(_) => Sequence::Other,
            }),
            Some(character) => Typed::Key(Key::Char(character)),
            None => Typed::Sequence(Sequence::Other),
        },
    })
}

/// The character that begins with this byte; `None` if invalid.
fn character(first: u8, bytes: &mut impl Bytes) -> io::Result<Option<char>> {
    let mut text = vec![first];
    for _ in 0..continuations(first) {
        match bytes.next(KeyTimeout::Machine)? {
            // A broken character must not consume the start of a sequence.
            Byte::Got(control @ ..0x20) => {
                bytes.put_back(control);
                return Ok(None);
            }
            Byte::Got(next) => text.push(next),
            Byte::Nothing | Byte::End => return Ok(None),
        }
    }
    Ok(str::from_utf8(&text).ok().and_then(|text| text.chars().next()))
}

/// Input of the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stroke {
    Key(Key),
    Move(Move),
    Pasted(String),
    /// The terminal was closed.
    Gone,
}

/// The next stroke; `None` on timeout.
pub(super) fn next_stroke(read: impl FnMut(KeyTimeout) -> io::Result<Byte>) -> io::Result<Option<Stroke>> {
    let mut bytes = ByteSource::new(read);
    loop {
        return Ok(Some(match next_typed(&mut bytes)? {
            Typed::Nothing => return Ok(None),
            Typed::Gone => Stroke::Gone,
            Typed::Key(key) => Stroke::Key(key),
            Typed::Sequence(Sequence::Escape) => Stroke::Key(Key::Escape),
            Typed::Sequence(Sequence::Move(key)) => Stroke::Move(key),
            Typed::Sequence(Sequence::Paste) => {
                let pasted = read_paste(&mut bytes, MAX_BYTES)?;
                Stroke::Pasted(String::from_utf8_lossy(&pasted).into_owned())
            }
            Typed::Sequence(Sequence::Other) => continue,
        }));
    }
}
