//! What was found in a text, and how it is written without it.

use std::cmp::Reverse;
use std::ops::Range;

use super::pattern::{Extent, Kind};

/// What stands in a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// A stored value, by its index.
    Secret(usize),
    /// Something of a known format.
    Kind(Kind),
}

/// A place to hide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Find {
    pub(super) range: Range<usize>,
    pub(super) what: What,
    /// How it goes on in text that has not arrived yet.
    pub(super) extent: Option<Extent>,
}

/// What a look at a text brought.
pub(super) struct Found {
    pub(super) finds: Vec<Find>,
    /// From here on only more text can tell what has to be hidden.
    pub(super) undecided: usize,
    /// Whatever begins before is known already.
    floor: usize,
}

impl Found {
    pub(super) fn new(floor: usize) -> Self {
        Self { finds: Vec::new(), undecided: usize::MAX, floor }
    }

    pub(super) fn hide(&mut self, range: Range<usize>, what: What) {
        self.add(Find { range, what, extent: None });
    }

    pub(super) fn add(&mut self, find: Find) {
        if find.range.start >= self.floor {
            self.finds.push(find);
        }
    }

    /// Something may begin at `at`.
    pub(super) fn wait(&mut self, at: usize) {
        if at >= self.floor {
            self.undecided = self.undecided.min(at);
        }
    }

    /// The places in order, with those that overlap made one, which is called what begins first. Of stored values
    /// that begin together the longest gives its name, and a stored value before a known format.
    pub(super) fn merged(&self) -> Vec<(Range<usize>, What)> {
        let mut order: Vec<&Find> = self.finds.iter().collect();
        order.sort_by_key(|find| {
            let rank = match find.what {
                What::Secret(owner) => (None, Reverse(find.range.end), owner),
                What::Kind(kind) => (Some(kind), Reverse(0), 0),
            };
            (find.range.start, rank)
        });
        let mut places: Vec<(Range<usize>, What)> = Vec::with_capacity(order.len());
        for find in order {
            match places.last_mut() {
                Some((place, _)) if find.range.start < place.end => place.end = place.end.max(find.range.end),
                _ => places.push((find.range.clone(), find.what)),
            }
        }
        places
    }
}
