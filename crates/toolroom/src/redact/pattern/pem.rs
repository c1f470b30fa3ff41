//! Private keys between their `-----BEGIN` and `-----END` lines: whole, cut off, with escaped line breaks, or with
//! something before each line.

use std::cmp::Ordering;

use super::super::text::Text;
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::{Extent, SecretEnd};
use super::format::SecretFormat;

pub(super) const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Part of every label of a private key, after `RSA`, `OPENSSH`, `ENCRYPTED`, `PGP` and the like.
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY";

const MAX_LABEL: usize = 40;

/// The largest gap between two lines of a key: headers, quotes, prefixes of log lines.
const GAP: usize = 200;

/// A run of this length right below the frame is a line of a key.
const MIN_FIRST_LINE: usize = 16;

/// Minimum length of a run elsewhere that counts as a line of a key. It also needs lower case, upper case and digits.
const MIN_LINE: usize = 24;

/// Minimum length from frame to frame, footer included, of a key.
const MIN_FOOTED: usize = END.len() + PRIVATE_KEY.len() + DASHES.len() + 12;

/// Bytes of a run that decide whether it is a line of a key.
const DECIDED: usize = 64;

// A short line is judged only when it has arrived completely.
const _: () = assert!("\r\n".len() + DECIDED < GAP);

pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.literal(BEGIN)?;
    label(&mut cursor)?;
    // A frame without a line only mentions a key.
    match first_line(cursor) {
        Ok(cursor) => return Ok(cursor.hide(SecretFormat::PrivateKey, at, Extent::PrivateKey(Lines::Wide))),
        Err(Miss::Other) => {}
        Err(undecided) => return Err(undecided),
    }
    match next_part(text, cursor.at, cursor.at + GAP) {
        KeyPart::Line(end) => cursor.at = end,
        KeyPart::Footer(end) if end - cursor.at >= MIN_FOOTED => {
            cursor.at = end;
            return Ok(cursor.hide_to_here(SecretFormat::PrivateKey, at));
        }
        KeyPart::Footer(_) | KeyPart::None(_) => return Err(Miss::Other),
        KeyPart::Undecided => return Err(Miss::Undecided(at)),
    }
    Ok(cursor.hide(SecretFormat::PrivateKey, at, Extent::PrivateKey(Lines::Wide)))
}

/// A line right below the frame, or several short ones of equal width.
fn first_line<'a, 't>(mut cursor: Cursor<'a, 't>) -> Result<Cursor<'a, 't>, Miss> {
    line_break(&mut cursor)?;
    match cursor.beginning(ByteClass::Base64, MIN_FIRST_LINE, MIN_FIRST_LINE) {
        Ok(_) => return Ok(cursor),
        Err(Miss::Other) => {}
        Err(undecided) => return Err(undecided),
    }
    let mut below = cursor;
    let width = below.run(ByteClass::Base64, 1..=MIN_FIRST_LINE)?.len();
    let mut seen = width;
    while seen < MIN_FIRST_LINE {
        line_break(&mut below)?;
        seen += below.run(ByteClass::Base64, width..=width)?.len();
    }
    Ok(cursor)
}

fn line_break(cursor: &mut Cursor<'_, '_>) -> Result<(), Miss> {
    match cursor.any_of(b"\r\n\\")? {
        Some(b'\r') => cursor.literal("\n"),
        Some(b'\n') => Ok(()),
        Some(_) => cursor.literal("n"),
        None => Err(Miss::Other),
    }
}

/// The rest of a frame line, after `BEGIN` or `END`.
fn label(cursor: &mut Cursor<'_, '_>) -> Result<(), Miss> {
    let start = cursor.at;
    while let Some(byte) = cursor.peek()?
        && (byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ')
    {
        cursor.at += 1;
        if cursor.at - start > MAX_LABEL {
            return Err(Miss::Other);
        }
    }
    let label = cursor.text.slice(start, cursor.at);
    if !label.windows(PRIVATE_KEY.len()).any(|part| part == PRIVATE_KEY) {
        return Err(Miss::Other);
    }
    cursor.literal(DASHES)
}

/// The last lines of a key, as far as they matter for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Lines {
    /// Wide enough to be recognised as a line by itself.
    Wide,
    /// One or several short lines below each other, all of this width.
    Narrow { width: usize, are_several: bool },
    /// A shorter line below several short ones, which ends the key.
    Last,
}

impl Lines {
    /// The state after a line of width `below`; `None` if that line does not belong to the key.
    fn with(self, below: usize) -> Option<Self> {
        match self {
            Self::Wide => Some(Self::Narrow { width: below, are_several: false }),
            Self::Narrow { width, are_several } => match below.cmp(&width) {
                Ordering::Equal => Some(Self::Narrow { width, are_several: true }),
                Ordering::Less if are_several => Some(Self::Last),
                Ordering::Less | Ordering::Greater => None,
            },
            Self::Last => None,
        }
    }
}

/// Measures a key from a line that ends, or a wide line that continues, at `from`. Advances only when all text a step
/// depends on has arrived, so that a key ends at the same byte however the text is split.
pub(super) fn measure(text: &Text<'_>, from: usize, lines: Lines) -> SecretEnd {
    let (mut end, mut lines) = (text.run(ByteClass::Base64, from), lines);
    let mut looked = end;
    loop {
        match next_part(text, looked, end + GAP) {
            KeyPart::Line(next) => (end, lines, looked) = (next, Lines::Wide, next),
            KeyPart::Footer(next) => return SecretEnd { end: next, continues: None },
            KeyPart::Undecided => return SecretEnd { end, continues: Some(Extent::PrivateKey(lines)) },
            KeyPart::None(to) => {
                let below =
                    short_line(text, end).and_then(|(start, next)| Some((next, lines.with(next - start)?)));
                let Some((next, with)) = below else { return SecretEnd { end, continues: None } };
                (end, lines, looked) = (next, with, to);
            }
        }
    }
}

enum KeyPart {
    /// A line of the key, up to here.
    Line(usize),
    /// The last line of the frame, up to here.
    Footer(usize),
    /// Neither, up to here.
    None(usize),
    Undecided,
}

/// The next part of the key between `from`, which is not inside a run, and `limit`.
fn next_part(text: &Text<'_>, from: usize, limit: usize) -> KeyPart {
    let mut at = from;
    while at < limit {
        let Some(byte) = text.byte(at) else {
            return if text.is_cut(at) { KeyPart::Undecided } else { KeyPart::None(at) };
        };
        if byte == b'-' {
            let mut cursor = Cursor::new(text, at);
            match cursor.literal(END).and_then(|()| label(&mut cursor)) {
                Ok(()) => return KeyPart::Footer(cursor.at),
                Err(Miss::Undecided(_)) => return KeyPart::Undecided,
                Err(Miss::Other) => at += 1,
            }
        } else if ByteClass::Base64.has(byte) {
            let end = text.run(ByteClass::Base64, at);
            if is_line(text.slice(at, end.min(at + DECIDED))) {
                return KeyPart::Line(end);
            }
            if text.is_cut(end) && end < at + DECIDED {
                return KeyPart::Undecided;
            }
            at = end;
        } else {
            at += 1;
        }
    }
    KeyPart::None(at)
}

fn is_line(run: &[u8]) -> bool {
    let some = |is: fn(&u8) -> bool| run.iter().any(is);
    run.len() >= MIN_LINE
        && some(u8::is_ascii_lowercase)
        && some(u8::is_ascii_uppercase)
        && some(u8::is_ascii_digit)
}

/// Start and end of a short line right below the one that ends at `end`.
fn short_line(text: &Text<'_>, end: usize) -> Option<(usize, usize)> {
    let start = match (text.byte(end)?, text.byte(end + 1)) {
        (b'\r', Some(b'\n')) | (b'\\', Some(b'n')) => end + 2,
        (b'\n', _) => end + 1,
        _ => return None,
    };
    let end = text.run(ByteClass::Base64, start);
    (start < end && end - start <= DECIDED).then_some((start, end))
}
