//! Reads a format, byte by byte, in a text that may not be complete.

use std::ops::RangeInclusive;

use super::super::text::Text;
use super::class::Class;
use super::extent::Extent;
use super::kind::Kind;

/// Why nothing is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Miss {
    /// It is something else.
    Other,
    /// The text that would tell has not arrived. What may have to be hidden begins here.
    Undecided(usize),
}

/// A place to hide.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
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

    /// Goes on if the next byte is one of `bytes`.
    pub(super) fn any_of(&mut self, bytes: &[u8]) -> Result<Option<u8>, Miss> {
        let next = self.peek()?.filter(|byte| bytes.contains(byte));
        self.at += usize::from(next.is_some());
        Ok(next)
    }

    pub(super) fn literal(&mut self, literal: &str) -> Result<(), Miss> {
        self.matches(literal, |found, wanted| found == wanted)
    }

    /// `literal` in small or capital letters.
    pub(super) fn word(&mut self, literal: &str) -> Result<(), Miss> {
        self.matches(literal, |found, wanted| found.eq_ignore_ascii_case(&wanted))
    }

    fn matches(&mut self, literal: &str, same: impl Fn(u8, u8) -> bool) -> Result<(), Miss> {
        for wanted in literal.bytes() {
            if !self.peek()?.is_some_and(|found| same(found, wanted)) {
                return Err(Miss::Other);
            }
            self.at += 1;
        }
        Ok(())
    }

    /// One of several words, of which none begins with another.
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
    pub(super) fn run(&mut self, class: Class, lengths: RangeInclusive<usize>) -> Result<&'t [u8], Miss> {
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

    /// The beginning of a run of a class: `least` bytes, or up to `most` of them as far as there are as many.
    pub(super) fn beginning(&self, class: Class, least: usize, most: usize) -> Result<&'t [u8], Miss> {
        let end = self.text.run(class, self.at);
        if end - self.at < most && self.text.is_cut(end) {
            return Err(Miss::Undecided(self.origin));
        }
        if end - self.at < least {
            return Err(Miss::Other);
        }
        Ok(self.text.slice(self.at, end.min(self.at + most)))
    }

    /// Hides from `start` to the end of `extent`, which has begun here.
    pub(super) fn hide(self, kind: Kind, start: usize, extent: Extent) -> Hit {
        let reach = extent.reach(self.text, self.at);
        Hit { start, end: reach.end, kind, extent: reach.goes_on }
    }

    /// Hides from `start` up to here.
    pub(super) fn hide_to_here(self, kind: Kind, start: usize) -> Hit {
        Hit { start, end: self.at, kind, extent: None }
    }
}
