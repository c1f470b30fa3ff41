//! Calls in the order in which they were written.

use std::collections::btree_map::Entry as Slot;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::ledger::{CallId, CallRecord};

/// Rows by the order in which they came. Their ids sort by a clock, and clocks are set.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Boxed, so that a map that forgets its oldest moves little.
    rows: BTreeMap<u64, Box<CallRecord>>,
    numbers: HashMap<CallId, u64>,
    next: u64,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, id: &CallId) -> Option<&CallRecord> {
        self.rows.get(self.numbers.get(id)?).map(Box::as_ref)
    }

    pub(super) fn get_mut(&mut self, id: &CallId) -> Option<&mut CallRecord> {
        self.rows.get_mut(self.numbers.get(id)?).map(Box::as_mut)
    }

    /// Adds a row; gives the id of one that is there already.
    pub(super) fn insert(&mut self, row: CallRecord) -> Result<(), CallId> {
        match self.numbers.entry(row.id.clone()) {
            Entry::Occupied(known) => Err(known.key().clone()),
            Entry::Vacant(place) => {
                place.insert(self.next);
                self.rows.insert(self.next, Box::new(row));
                self.next += 1;
                Ok(())
            }
        }
    }

    /// Puts a row in the place of the one with its id, or adds it.
    pub(super) fn replace(&mut self, row: CallRecord) {
        let number = *self.numbers.entry(row.id.clone()).or_insert(self.next);
        self.next = self.next.max(number + 1);
        match self.rows.entry(number) {
            Slot::Occupied(mut known) => **known.get_mut() = row,
            Slot::Vacant(place) => drop(place.insert(Box::new(row))),
        }
    }

    pub(super) fn remove(&mut self, id: &CallId) -> Option<Box<CallRecord>> {
        self.rows.remove(&self.numbers.remove(id)?)
    }

    pub(super) fn oldest_first(&self) -> impl Iterator<Item = &CallRecord> {
        self.rows.values().map(Box::as_ref)
    }

    /// Those that were there before the one of that id; all of them, if no id is given.
    pub(super) fn newest_first(&self, before: Option<&CallId>) -> impl Iterator<Item = &CallRecord> {
        let end = match before {
            None => self.next,
            Some(before) => self.numbers.get(before).copied().unwrap_or(0),
        };
        self.rows.range(..end).rev().map(|(_, row)| row.as_ref())
    }
}
