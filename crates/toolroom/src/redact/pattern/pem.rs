//! Private keys between their `-----BEGIN` and `-----END` lines: whole, cut off, with escaped line breaks, or with
//! something before each line.

use std::cmp::Ordering;

use super::super::text::Text;
use super::class::Class;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::{Extent, Reach};
use super::kind::Kind;

pub(super) const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// What every label of a private key says; `RSA`, `OPENSSH`, `ENCRYPTED`, `PGP` and others stand before it.
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY";

const MAX_LABEL: usize = 40;

/// How far the next line of a key may be from the last one: headers, quotes, prefixes of log lines.
const GAP: usize = 200;

/// Right below the frame nothing else is as long.
const MIN_FIRST_LINE: usize = 16;

/// Shorter runs, and those without small letters, capital letters and digits, are no lines of a key.
const MIN_LINE: usize = 24;

/// Shorter pieces from frame to frame, footer included, hold no key.
const MIN_FOOTED: usize = END.len() + PRIVATE_KEY.len() + DASHES.len() + 12;

/// As many bytes tell whether a run is a line of a key.
const DECIDED: usize = 64;

// A short line is never judged before all of it has arrived.
const _: () = assert!("\r\n".len() + DECIDED < GAP);

pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.literal(BEGIN)?;
    label(&mut cursor)?;
    // Without a line the key is only mentioned.
    match first_line(cursor) {
        Ok(cursor) => return Ok(cursor.hide(Kind::PrivateKey, at, Extent::PrivateKey(Lines::Wide))),
        Err(Miss::Other) => {}
        Err(undecided) => return Err(undecided),
    }
    match next_piece(text, cursor.at, cursor.at + GAP) {
        Piece::Line(end) => cursor.at = end,
        Piece::Footer(end) if end - cursor.at >= MIN_FOOTED => {
            cursor.at = end;
            return Ok(cursor.hide_to_here(Kind::PrivateKey, at));
        }
        Piece::Footer(_) | Piece::None(_) => return Err(Miss::Other),
        Piece::Undecided => return Err(Miss::Undecided(at)),
    }
    Ok(cursor.hide(Kind::PrivateKey, at, Extent::PrivateKey(Lines::Wide)))
}

/// A line right below the frame, which need not be long; or several that are all as short as each other.
fn first_line<'a, 't>(mut cursor: Cursor<'a, 't>) -> Result<Cursor<'a, 't>, Miss> {
    line_break(&mut cursor)?;
    match cursor.beginning(Class::Base64, MIN_FIRST_LINE, MIN_FIRST_LINE) {
        Ok(_) => return Ok(cursor),
        Err(Miss::Other) => {}
        Err(undecided) => return Err(undecided),
    }
    let mut below = cursor;
    let width = below.run(Class::Base64, 1..=MIN_FIRST_LINE)?.len();
    let mut seen = width;
    while seen < MIN_FIRST_LINE {
        line_break(&mut below)?;
        seen += below.run(Class::Base64, width..=width)?.len();
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

/// The rest of a frame line, from behind `BEGIN` or `END`.
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

/// What the last line of a key was, as far as it matters for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::redact) enum Lines {
    /// Wide enough to be known as a line by itself.
    Wide,
    /// One or several short ones below each other, all of this width.
    Narrow { width: usize, are_several: bool },
    /// A shorter one below several short ones: no short one follows.
    Last,
}

impl Lines {
    /// What they are with a line of this width below them; `None` when that is no more of the key.
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

/// How far the key goes of which a line ends, or a wide one goes on, at `from`. Each step is taken when all the text
/// is there that it may depend on, so that a key ends at the same place however its text arrives.
pub(super) fn reach(text: &Text<'_>, from: usize, lines: Lines) -> Reach {
    let (mut end, mut lines) = (text.run(Class::Base64, from), lines);
    let mut looked = end;
    loop {
        match next_piece(text, looked, end + GAP) {
            Piece::Line(next) => (end, lines, looked) = (next, Lines::Wide, next),
            Piece::Footer(next) => return Reach { end: next, goes_on: None },
            Piece::Undecided => return Reach { end, goes_on: Some(Extent::PrivateKey(lines)) },
            Piece::None(to) => {
                // A key in narrow lines, or the last line of one that was cut off.
                let below =
                    short_line(text, end).and_then(|(start, next)| Some((next, lines.with(next - start)?)));
                let Some((next, with)) = below else { return Reach { end, goes_on: None } };
                (end, lines, looked) = (next, with, to);
            }
        }
    }
}

enum Piece {
    /// A line of the key, up to here.
    Line(usize),
    /// The last line of the frame, up to here.
    Footer(usize),
    /// Neither, up to here.
    None(usize),
    Undecided,
}

/// What begins between `from`, which is not inside a run, and `limit`.
fn next_piece(text: &Text<'_>, from: usize, limit: usize) -> Piece {
    let mut at = from;
    while at < limit {
        let Some(byte) = text.byte(at) else {
            return if text.is_cut(at) { Piece::Undecided } else { Piece::None(at) };
        };
        if byte == b'-' {
            let mut cursor = Cursor::new(text, at);
            match cursor.literal(END).and_then(|()| label(&mut cursor)) {
                Ok(()) => return Piece::Footer(cursor.at),
                Err(Miss::Undecided(_)) => return Piece::Undecided,
                Err(Miss::Other) => at += 1,
            }
        } else if Class::Base64.has(byte) {
            let end = text.run(Class::Base64, at);
            if is_line(text.slice(at, end.min(at + DECIDED))) {
                return Piece::Line(end);
            }
            if text.is_cut(end) && end < at + DECIDED {
                return Piece::Undecided;
            }
            at = end;
        } else {
            at += 1;
        }
    }
    Piece::None(at)
}

fn is_line(run: &[u8]) -> bool {
    let some = |is: fn(&u8) -> bool| run.iter().any(is);
    run.len() >= MIN_LINE
        && some(u8::is_ascii_lowercase)
        && some(u8::is_ascii_uppercase)
        && some(u8::is_ascii_digit)
}

/// A short line right below another one, from here to there.
fn short_line(text: &Text<'_>, end: usize) -> Option<(usize, usize)> {
    let start = match (text.byte(end)?, text.byte(end + 1)) {
        (b'\r', Some(b'\n')) | (b'\\', Some(b'n')) => end + 2,
        (b'\n', _) => end + 1,
        _ => return None,
    };
    let end = text.run(Class::Base64, start);
    (start < end && end - start <= DECIDED).then_some((start, end))
}
