//! The text that is searched: complete, or as much as has arrived.

#[cfg(test)]
use std::cell::Cell;

use super::pattern::{ByteClass, Runs};

/// Whether a text is complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEnd {
    /// Nothing follows.
    Final,
    /// More may follow.
    Open,
}

/// A text with a cache of its runs.
pub(super) struct Text<'t> {
    bytes: &'t [u8],
    end: TextEnd,
    runs: Runs,
    /// Bytes read, to test that the work is linear.
    #[cfg(test)]
    pub(super) work: Cell<usize>,
}

impl<'t> Text<'t> {
    pub(super) fn new(bytes: &'t [u8], end: TextEnd) -> Self {
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

    pub(super) fn end(&self) -> TextEnd {
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
        self.end == TextEnd::Open && at >= self.bytes.len()
    }

    /// The end of the run of `class` that contains `from`; `from` if there is none.
    pub(super) fn run(&self, class: ByteClass, from: usize) -> usize {
        self.runs.end(self.bytes, class, from, |scanned| self.count(scanned))
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
