//! Reads a format byte by byte in a text that may be incomplete.

use std::ops::RangeInclusive;

use super::super::text::Text;
use super::byte_class::ByteClass;
use super::extent::Extent;
use super::format::SecretFormat;

/// Why a format does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Miss {
    /// The text does not have the format.
    Other,
    /// More text is needed. The possible secret begins here.
    Undecided(usize),
}

/// A secret of a known format.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) format: SecretFormat,
    pub(super) extent: Option<Extent>,
}

/// A position in a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a, 't> {
    pub(super) text: &'a Text<'t>,
    /// Where the format began.
    origin: usize,
    pub(super) at: usize,
}

impl<'a, 't> Cursor<'a, 't> {
    pub(super) fn new(text: &'a Text<'t>, origin: usize) -> Self {
        Self { text, origin, at: origin }
    }

    /// The next byte; `None` at the end of the text.
    pub(super) fn peek(&self) -> Result<Option<u8>, Miss> {
        match self.text.byte(self.at) {
            None if self.text.is_cut(self.at) => Err(Miss::Undecided(self.origin)),
            next => Ok(next),
        }
    }

    /// Advances if the next byte is one of `bytes`.
    pub(super) fn any_of(&mut self, bytes: &[u8]) -> Result<Option<u8>, Miss> {
        let next = self.peek()?.filter(|byte| bytes.contains(byte));
        self.at += usize::from(next.is_some());
        Ok(next)
    }

    pub(super) fn literal(&mut self, literal: &str) -> Result<(), Miss> {
        self.matches(literal, |actual, expected| actual == expected)
    }

    /// `literal`, ignoring case.
    pub(super) fn word(&mut self, literal: &str) -> Result<(), Miss> {
        self.matches(literal, |actual, expected| actual.eq_ignore_ascii_case(&expected))
    }

    fn matches(&mut self, literal: &str, same: impl Fn(u8, u8) -> bool) -> Result<(), Miss> {
        for expected in literal.bytes() {
            if !self.peek()?.is_some_and(|actual| same(actual, expected)) {
                return Err(Miss::Other);
            }
            self.at += 1;
        }
        Ok(())
    }

    /// One of several words, none of which is a prefix of another.
    pub(super) fn one_of<T: Copy>(&mut self, words: &[(&str, T)]) -> Result<T, Miss> {
        let mut miss = Miss::Other;
        for (word, meaning) in words {
            let mut cursor = *self;
            match cursor.word(word) {
                Ok(()) => {
                    *self = cursor;
                    return Ok(*meaning);
                }
                Err(Miss::Other) => {}
                Err(undecided) => miss = undecided,
            }
        }
        Err(miss)
    }

    /// A whole run of a class, of a length within `lengths`.
    pub(super) fn run(&mut self, class: ByteClass, lengths: RangeInclusive<usize>) -> Result<&'t [u8], Miss> {
        let (start, end) = (self.at, self.text.run(class, self.at));
        if end - start > *lengths.end() {
            return Err(Miss::Other);
        }
        if self.text.is_cut(end) {
            return Err(Miss::Undecided(self.origin));
        }
        if end - start < *lengths.start() {
            return Err(Miss::Other);
        }
        self.at = end;
        Ok(self.text.slice(start, end))
    }

    /// The beginning of a run of a class: at least `least` and at most `most` bytes.
    pub(super) fn beginning(&self, class: ByteClass, least: usize, most: usize) -> Result<&'t [u8], Miss> {
        let end = self.text.run(class, self.at);
        if end - self.at < most && self.text.is_cut(end) {
            return Err(Miss::Undecided(self.origin));
        }
        if end - self.at < least {
            return Err(Miss::Other);
        }
        Ok(self.text.slice(self.at, end.min(self.at + most)))
    }

    /// A secret from `start` to the end of `extent`, which begins here.
    pub(super) fn hide(self, format: SecretFormat, start: usize, extent: Extent) -> Hit {
        let secret = extent.measure(self.text, self.at);
        Hit { start, end: secret.end, format, extent: secret.continues }
    }

    /// A secret from `start` up to here.
    pub(super) fn hide_to_here(self, format: SecretFormat, start: usize) -> Hit {
        Hit { start, end: self.at, format, extent: None }
    }
}
