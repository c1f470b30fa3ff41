//! Calls in insertion order.

use std::collections::btree_map::Entry as Slot;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::ledger::{CallId, CallRecord};

/// Rows in insertion order. Ids sort by time, which may go backwards.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Boxed to keep map nodes small.
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

    /// Adds a row. Fails with the id if it exists.
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

    /// Replaces the row with its id, or adds it.
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

    /// Calls inserted before `before`, or all, newest first.
    pub(super) fn newest_first(&self, before: Option<&CallId>) -> impl Iterator<Item = &CallRecord> {
        let end = match before {
            None => self.next,
            Some(before) => self.numbers.get(before).copied().unwrap_or(0),
        };
        self.rows.range(..end).rev().map(|(_, row)| row.as_ref())
    }
}
