//! Which units share a transaction, and which are written alone.

use std::collections::hash_map::Entry;
use std::collections::{HashSet, VecDeque};
use std::future::pending;

use foldhash::{HashMap, HashMapExt as _};
use toolroom::conversation::{ConversationId, RunId};
use toolroom::ledger::CallId;

use super::unit::{Durability, Unit, Work};
use crate::sqlite::artifacts::Hashes;

/// Units per transaction: enough to amortize the commit, few enough to keep the latency low.
const MAX_UNITS: usize = 1000;

/// Bytes of entries, artifacts and deletions per transaction. A larger unit is written alone.
const MAX_BYTES: usize = 16 << 20;

/// Units that do not conflict, in the order in which they were queued.
#[derive(Debug, Default)]
pub(super) struct Batch {
    units: Vec<Unit>,
    touched: HashMap<CallId, Touch>,
    runs: HashSet<RunId>,
    conversations: HashSet<ConversationId>,
    bytes: usize,
    durability: Durability,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touch {
    /// Begun in this batch: its close may join, and both become one row.
    Begun,
    /// The next change of the same call has to see this one.
    Changed,
}

impl Batch {
    pub(super) fn with_capacity(units: usize) -> Self {
        let units = units.min(MAX_UNITS);
        Self { units: Vec::with_capacity(units), touched: HashMap::with_capacity(units), ..Self::default() }
    }

    /// Adds a unit, or returns it if it has to wait for the next transaction: one statement cannot change the same row twice,
    /// and preconditions are those at the begin of the transaction.
    pub(super) fn admit(&mut self, unit: Unit) -> Option<Unit> {
        let (run, conversation) = unit.work.thread();
        let bytes = self.bytes.saturating_add(unit.work.bytes());
        let joins = self.units.len() < MAX_UNITS
            && (bytes <= MAX_BYTES || self.units.is_empty())
            && run.is_none_or(|run| !self.runs.contains(run))
            && conversation.is_none_or(|conversation| !self.conversations.contains(conversation))
            && unit.work.calls().all(|call| match self.touched.get(call) {
                None => true,
                Some(Touch::Begun) => matches!(unit.work, Work::Close(..)),
                Some(Touch::Changed) => false,
            });
        if !joins {
            return Some(unit);
        }
        for call in unit.work.calls() {
            match self.touched.entry(call.clone()) {
                Entry::Vacant(entry) => drop(entry.insert(Touch::after(&unit.work))),
                Entry::Occupied(mut entry) => drop(entry.insert(Touch::Changed)),
            }
        }
        self.runs.extend(run.cloned());
        self.conversations.extend(conversation.cloned());
        self.bytes = bytes;
        self.durability = self.durability.max(unit.work.durability());
        self.units.push(unit);
        None
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub(super) fn durability(&self) -> Durability {
        self.durability
    }

    pub(super) fn into_units(self) -> Vec<Unit> {
        self.units
    }
}

impl Touch {
    fn after(work: &Work) -> Self {
        match work {
            Work::Begin(begin) if begin.grant.is_none() => Self::Begun,
            Work::Begin(_)
            | Work::Park(..)
            | Work::Decide(_)
            | Work::Edit(..)
            | Work::Close(..)
            | Work::Run(_)
            | Work::Lease(_)
            | Work::Memory(_)
            | Work::Track(_)
            | Work::Program(_)
            | Work::Set(_)
            | Work::Prune(_) => Self::Changed,
        }
    }
}

/// Closes of calls whose large artifacts are being hashed, in order. They are written one at a time, after smaller units.
/// Later units are about other calls: the caller of a close waits for its result.
#[derive(Debug, Default)]
pub(super) struct LargeUnits(VecDeque<Unit>);

impl LargeUnits {
    /// Takes over a unit whose artifacts are being hashed; returns any other.
    pub(super) fn put(&mut self, unit: Unit) -> Option<Unit> {
        match unit.work {
            Work::Close(_, Hashes::Pending(_)) => {
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
            Some(Work::Close(_, hashes)) => hashes.is_ready(),
            Some(_) => true,
            None => false,
        }
    }

    pub(super) fn take(&mut self) -> Option<Unit> {
        self.0.pop_front()
    }
}
