//! Ends of calls with large files: hashed beside the writer, and written one at a time, behind what is small.

use std::collections::VecDeque;
use std::future::pending;

use super::unit::{Unit, Work};
use crate::artifact::Hashes;

/// What waits until nobody else does, in the order it came. Nothing that comes later is about the same calls: whoever
/// ended them waits for the answer.
#[derive(Debug, Default)]
pub(super) struct Large(VecDeque<Unit>);

impl Large {
    /// Takes a unit over whose files are being hashed, and gives any other back.
    pub(super) fn put(&mut self, unit: Unit) -> Option<Unit> {
        match unit.work {
            Work::Close(_, Hashes::Coming(_)) => {
                self.0.push_back(unit);
                None
            }
            _ => Some(unit),
        }
    }

    /// Waits until the first one is hashed; for ever, if there is none.
    pub(super) async fn hashed(&mut self) {
        match self.0.front_mut() {
            Some(Unit { work: Work::Close(_, hashes), .. }) => hashes.settle().await,
            Some(_) => {}
            None => pending().await,
        }
    }

    /// Whether the first one is hashed.
    pub(super) fn is_hashed(&self) -> bool {
        match self.0.front().map(|unit| &unit.work) {
            Some(Work::Close(_, hashes)) => hashes.are_there(),
            Some(_) => true,
            None => false,
        }
    }

    /// The first one.
    pub(super) fn take(&mut self) -> Option<Unit> {
        self.0.pop_front()
    }
}
