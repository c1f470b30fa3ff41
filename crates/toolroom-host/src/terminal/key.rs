//! What a key sends, and what it means.

use std::io;

use super::sequence::{ESCAPE, Sequence, continuations, eight_bit, escaped, skip_paste};

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
pub(super) enum KeyTimeout {
    /// A person may press a key.
    Person,
    /// The rest of what one key sends comes at once.
    Machine,
    /// The rest of a paste may come in pieces.
    Paste,
}

/// What becomes of pasted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paste {
    /// It is as good as typed.
    Taken,
    /// It was meant for something else than a question.
    Swallowed,
}

/// Bytes as they come.
pub(super) trait Bytes {
    fn next(&mut self, patience: KeyTimeout) -> io::Result<Byte>;

    /// Gives back the last byte, which belongs to what comes next.
    fn put_back(&mut self, byte: u8);
}

/// Bytes from a function, and the one that was put back.
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
    fn next(&mut self, patience: KeyTimeout) -> io::Result<Byte> {
        self.again.take().map_or_else(|| (self.read)(patience), |byte| Ok(Byte::Got(byte)))
    }

    fn put_back(&mut self, byte: u8) {
        self.again = Some(byte);
    }
}

/// The next key; `None` when the person's time is up.
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

/// What one press of a key amounts to.
pub(super) enum Typed {
    Key(Key),
    Sequence(Sequence),
    /// Nothing, in the time there was.
    Nothing,
    /// The terminal went away.
    Gone,
}

/// What comes next. Only what is no key puts a byte back, so none is left here when there is one.
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
            // The same controls as above, in UTF-8.
            Some(control @ '\u{80}'..'\u{a0}') => Typed::Sequence(match u8::try_from(control) {
                Ok(control) => eight_bit(control, bytes)?,
                Err(_) => Sequence::Other,
            }),
            Some(character) => Typed::Key(Key::Char(character)),
            None => Typed::Sequence(Sequence::Other),
        },
    })
}

/// The character that begins with this byte; nothing if it is none.
fn character(first: u8, bytes: &mut impl Bytes) -> io::Result<Option<char>> {
    let mut text = vec![first];
    for _ in 0..continuations(first) {
        match bytes.next(KeyTimeout::Machine)? {
            // A broken character must not take with it what begins a sequence.
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
