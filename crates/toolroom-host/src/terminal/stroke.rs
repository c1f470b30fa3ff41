//! Input of the editor.

use std::io;

use super::key::{Byte, ByteSource, Key, KeyTimeout, Typed, next_typed};
use super::sequence::{Move, Sequence, read_paste};
use super::text::MAX_BYTES;

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
