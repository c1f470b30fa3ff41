//! Which units share a transaction.

use std::collections::HashSet;
use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt as _};
use toolroom::conversation::{ConversationId, RunId};
use toolroom::ledger::CallId;

use super::unit::{Durability, Unit, Work};

/// Units per transaction: enough that a commit costs nothing per unit, and few enough that nobody waits long.
const MAX_UNITS: usize = 1000;

/// What is said in conversations, kept beside calls or forgotten per transaction: a unit that is longer is written alone.
const MAX_BYTES: usize = 16 << 20;

/// Units whose changes do not meet, in the order they were asked for.
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
    /// Anything else has to be seen by the next change of the same call.
    Settled,
}

impl Batch {
    /// One for about so many units.
    pub(super) fn with_room(units: usize) -> Self {
        let units = units.min(MAX_UNITS);
        Self { units: Vec::with_capacity(units), touched: HashMap::with_capacity(units), ..Self::default() }
    }

    /// Takes a unit in, or gives it back when it has to wait for the next transaction: one statement cannot
    /// change the same row twice, and checks look at rows as they were when the transaction began.
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
                Some(Touch::Settled) => false,
            });
        if !joins {
            return Some(unit);
        }
        for call in unit.work.calls() {
            match self.touched.entry(call.clone()) {
                Entry::Vacant(entry) => drop(entry.insert(Touch::after(&unit.work))),
                Entry::Occupied(mut entry) => drop(entry.insert(Touch::Settled)),
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
            | Work::Hold(_)
            | Work::Memory(_)
            | Work::Track(_)
            | Work::Program(_)
            | Work::Set(_)
            | Work::Prune(_) => Self::Settled,
        }
    }
}
