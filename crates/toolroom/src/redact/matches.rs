//! The matches in a text that have to be hidden.

use std::cmp::Reverse;
use std::ops::Range;

use super::pattern::{Extent, SecretFormat};

/// What a match is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MatchKind {
    /// A stored value, by its index.
    Stored(usize),
    /// A secret of a known format.
    Format(SecretFormat),
}

/// A range to hide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Match {
    pub(super) range: Range<usize>,
    pub(super) kind: MatchKind,
    /// How it may continue in text that has not arrived yet.
    pub(super) extent: Option<Extent>,
}

/// The matches in a text.
pub(super) struct Matches {
    pub(super) all: Vec<Match>,
    /// From here on only more text decides what has to be hidden.
    pub(super) undecided: usize,
    /// Matches that begin before are ignored, because they are already handled.
    floor: usize,
}

impl Matches {
    pub(super) fn new(floor: usize) -> Self {
        Self { all: Vec::new(), undecided: usize::MAX, floor }
    }

    pub(super) fn hide(&mut self, range: Range<usize>, kind: MatchKind) {
        self.add(Match { range, kind, extent: None });
    }

    pub(super) fn add(&mut self, found: Match) {
        if found.range.start >= self.floor {
            self.all.push(found);
        }
    }

    /// Marks that a secret may begin at `at`.
    pub(super) fn wait(&mut self, at: usize) {
        if at >= self.floor {
            self.undecided = self.undecided.min(at);
        }
    }

    /// The ranges in order, with overlapping ones merged. A merged range has the kind of the first match; of those that
    /// begin together, a stored value comes before a format and the longest stored value first.
    pub(super) fn merged(&self) -> Vec<(Range<usize>, MatchKind)> {
        let mut order: Vec<&Match> = self.all.iter().collect();
        order.sort_by_key(|found| {
            let rank = match found.kind {
                MatchKind::Stored(owner) => (None, Reverse(found.range.end), owner),
                MatchKind::Format(format) => (Some(format), Reverse(0), 0),
            };
            (found.range.start, rank)
        });
        let mut merged: Vec<(Range<usize>, MatchKind)> = Vec::with_capacity(order.len());
        for found in order {
            match merged.last_mut() {
                Some((range, _)) if found.range.start < range.end => {
                    range.end = range.end.max(found.range.end);
                }
                _ => merged.push((found.range.clone(), found.kind)),
            }
        }
        merged
    }
}
