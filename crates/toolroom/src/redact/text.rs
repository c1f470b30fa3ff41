//! The text under examination: all of it, or as much as has arrived.

#[cfg(test)]
use std::cell::Cell;

use super::pattern::{Class, Runs};

/// Whether a text is complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing follows.
    Final,
    /// More may follow.
    Open,
}

/// A text, and what is known about it already.
pub(super) struct Text<'t> {
    bytes: &'t [u8],
    end: End,
    runs: Runs,
    /// Bytes looked at, to show that no text makes them many.
    #[cfg(test)]
    pub(super) work: Cell<usize>,
}

impl<'t> Text<'t> {
    pub(super) fn new(bytes: &'t [u8], end: End) -> Self {
        Self {
            bytes,
            end,
            runs: Runs::default(),
            #[cfg(test)]
            work: Cell::default(),
        }
    }

    pub(super) fn bytes(&self) -> &'t [u8] {
        self.bytes
    }

    pub(super) fn end(&self) -> End {
        self.end
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.count(1);
        self.bytes.get(at).copied()
    }

    pub(super) fn before(&self, at: usize) -> Option<u8> {
        self.byte(at.checked_sub(1)?)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        let slice = self.bytes.get(start..end).unwrap_or_default();
        self.count(slice.len());
        slice
    }

    /// Whether the byte at `at` has not arrived yet.
    pub(super) fn is_cut(&self, at: usize) -> bool {
        self.end == End::Open && at >= self.bytes.len()
    }

    /// Where the run of `class` that holds `from` ends; `from` when there is none.
    pub(super) fn run(&self, class: Class, from: usize) -> usize {
        self.runs.end(self.bytes, class, from, |walked| self.count(walked))
    }

    /// Whether a word may begin at `at`.
    pub(super) fn is_edge(&self, at: usize) -> bool {
        self.before(at).is_none_or(|byte| !byte.is_ascii_alphanumeric())
    }

    #[cfg(test)]
    fn count(&self, bytes: usize) {
        self.work.update(|work| work + bytes);
    }

    #[cfg(not(test))]
    fn count(&self, _bytes: usize) {}
}
