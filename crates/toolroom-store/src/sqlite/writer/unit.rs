//! The unit of work: one state change, committed whole or not at all.

use std::time::Duration;

use tokio::sync::oneshot;
use toolroom::conversation::{BeginRunError, ConversationId, Run, RunId, StepError, TakeRunError};
use toolroom::ledger::{
    BeginCall, CallId, CallRecord, CallStatus, CloseCall, DecideError, Decision, EditCall, ParkCall,
    ParkedQuestion, RateLimit,
};
use toolroom::memory::{Memory, Promotion};
use toolroom::provenance::TrackChange;

use super::write_ahead::Slot;
use crate::StoreError;
use crate::sqlite::artifacts::Hashes;
use crate::sqlite::call_row::CallRow;
use crate::sqlite::conversation::{LeaseChange, RunChange};
use crate::sqlite::memories::MemoryChange;
use crate::sqlite::programs::ProgramChange;
use crate::sqlite::prune::{CHUNK_BYTES, Chunk, PrunedChunk};
use crate::sqlite::secrets::KeyNames;
use crate::sqlite::settings::Setting;

#[derive(Debug)]
pub(crate) enum Work {
    Begin(Box<BeginCall>),
    /// With the sealing keys of this process; none if nothing is sealed.
    Park(Box<ParkCall>, KeyNames),
    Decide(Box<Decision>),
    Edit(Box<EditCall>, KeyNames),
    /// With the hashes of its artifacts.
    Close(Box<CloseCall>, Hashes),
    Run(Box<RunChange>),
    Lease(LeaseChange),
    Memory(Box<MemoryChange>),
    Track(Box<TrackChange>),
    Program(ProgramChange),
    Set(Setting),
    Prune(Chunk),
}

/// The result of work that was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Written,
    /// The number of changed rows.
    Changed(u64),
    Pruned(PrunedChunk),
    Taken(Box<Run>),
    Memory(Option<Memory>),
    /// The number of a program.
    Numbered(u64),
    Promotion(Option<Box<Promotion>>),
}

/// Why work was not written.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("a rate limit is used up")]
    RateLimited { limit: RateLimit, retry_after: Duration },
    #[error("the approval is used up or has expired")]
    GrantSpent,
    #[error("nothing waits for an answer")]
    NotWaiting,
    #[error(transparent)]
    NotYours(DecideError),
    #[error(transparent)]
    NotBegun(BeginRunError),
    #[error(transparent)]
    NotStepped(StepError),
    #[error(transparent)]
    NotTaken(TakeRunError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for StoreError {
    /// For work that has no refusals of its own.
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Store(error) => error,
            Refusal::RateLimited { .. }
            | Refusal::GrantSpent
            | Refusal::NotWaiting
            | Refusal::NotYours(_)
            | Refusal::NotBegun(_)
            | Refusal::NotStepped(_)
            | Refusal::NotTaken(_) => Self::Closed,
        }
    }
}

pub(crate) type WorkResult = Result<Outcome, Refusal>;

/// Queued work.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) work: Work,
    pub(crate) urgency: Urgency,
    /// `None` for a write-ahead row.
    pub(crate) reply: Option<oneshot::Sender<WorkResult>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// The caller waits for the result.
    Awaited,
    /// The caller goes on: a later unit of the same call will be awaited.
    Deferred,
    /// The row is in the write-ahead file.
    WriteAhead(Slot),
}

/// What a commit has to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Durability {
    /// `kill -9`.
    #[default]
    Process,
    /// A power failure.
    Power,
}

impl Durability {
    /// SQLite's name for it.
    pub(crate) const fn synchronous(self) -> &'static str {
        match self {
            Self::Process => "NORMAL",
            Self::Power => "FULL",
        }
    }
}

impl Work {
    /// The durability it needs. What records, enqueues or permits an effect survives a power failure.
    pub(crate) fn durability(&self) -> Durability {
        let must_sync = match self {
            Self::Begin(begin) => has_effect(&begin.record) || begin.grant.is_some(),
            Self::Close(close, _) => {
                has_effect(&close.record)
                    || !close.enqueue.is_empty()
                    || close.question != ParkedQuestion::None
            }
            Self::Park(..) | Self::Decide(_) | Self::Edit(..) | Self::Memory(_) | Self::Set(_) => true,
            Self::Run(_) | Self::Lease(_) | Self::Track(_) | Self::Program(_) | Self::Prune(_) => false,
        };
        if must_sync { Durability::Power } else { Durability::Process }
    }

    /// Whether the caller has to wait until it is written. Not for the begin of a call without side effects and without a
    /// limit: its close contains everything.
    pub(crate) fn must_be_awaited(&self) -> bool {
        match self {
            Self::Begin(begin) => {
                self.durability() != Durability::Process
                    || !begin.rates.is_empty()
                    || begin.record.run.is_some()
            }
            _ => true,
        }
    }

    /// The row for the write-ahead file, if the work is no more than the close of a call without side effects.
    pub(crate) fn write_ahead_row(&self) -> Option<CallRow<'_>> {
        let Self::Close(close, _) = self else { return None };
        let record = &close.record;
        let is_only_row = close.artifacts.is_empty() && record.offers.is_empty() && record.run.is_none();
        let is_eligible = is_only_row && self.durability() == Durability::Process;
        is_eligible.then_some(CallRow { record, instance: None })
    }

    /// Whether cached settings may become stale: switches, standing answers, projects, keys and secrets.
    pub(crate) fn changes_standing(&self) -> bool {
        match self {
            Self::Decide(decision) => decision.standing.is_some(),
            Self::Set(setting) => setting.is_standing(),
            Self::Begin(_)
            | Self::Park(..)
            | Self::Edit(..)
            | Self::Close(..)
            | Self::Run(_)
            | Self::Lease(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Prune(_) => false,
        }
    }

    /// The calls whose rows it changes; first the one whose row it inserts or closes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &CallId> {
        let (first, second) = match self {
            Self::Begin(begin) => (
                Some(&begin.record.id),
                begin.grant.as_ref().map(|grant| &grant.call).filter(|call| **call != begin.record.id),
            ),
            Self::Park(park, _) => (Some(&park.record.id), None),
            Self::Decide(decision) => (Some(&decision.call), None),
            Self::Edit(edit, _) => (Some(&edit.park.record.id), Some(&edit.of)),
            Self::Close(close, _) => (Some(&close.record.id), None),
            Self::Run(_)
            | Self::Lease(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The row of a call that it inserts or closes.
    pub(crate) fn record(&self) -> Option<&CallRecord> {
        match self {
            Self::Begin(begin) => Some(&begin.record),
            Self::Park(park, _) => Some(&park.record),
            Self::Edit(edit, _) => Some(&edit.park.record),
            Self::Close(close, _) => Some(&close.record),
            Self::Decide(_)
            | Self::Run(_)
            | Self::Lease(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => None,
        }
    }

    /// The run and the conversation that it changes.
    pub(crate) fn thread(&self) -> (Option<&RunId>, Option<&ConversationId>) {
        match self {
            Self::Run(change) => (Some(&change.run.id), Some(&change.run.conversation)),
            Self::Lease(LeaseChange::Take(_, run) | LeaseChange::Release(run)) => (Some(run), None),
            Self::Lease(LeaseChange::DeleteConversation(_, conversation)) => (None, Some(conversation)),
            Self::Begin(_)
            | Self::Park(..)
            | Self::Decide(_)
            | Self::Edit(..)
            | Self::Close(..)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => (None, None),
        }
    }

    /// The memory or disk space it needs while it is written, if that can be much.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Run(change) => change.bytes(),
            Self::Close(close, _) => close.artifacts.iter().map(|artifact| artifact.bytes.len()).sum(),
            Self::Prune(_) => usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX),
            _ => 0,
        }
    }

    /// The running call that it ends. A void or expired call never ran: if it runs now, it was begun meanwhile and goes on.
    pub(crate) fn ends(&self) -> Option<&CallId> {
        match self {
            Self::Close(close, _) => match close.question {
                ParkedQuestion::None | ParkedQuestion::Settled => Some(&close.record.id),
                ParkedQuestion::Void | ParkedQuestion::Expired => None,
            },
            Self::Begin(_)
            | Self::Park(..)
            | Self::Decide(_)
            | Self::Edit(..)
            | Self::Run(_)
            | Self::Lease(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => None,
        }
    }

    /// Rejects a row whose status does not belong to the change.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let (change, status, fits) = match self {
            Self::Begin(begin) => ("begin", begin.record.status, begin.record.status == CallStatus::Begun),
            Self::Park(park, _) => ("park", park.record.status, park.record.status == CallStatus::Pending),
            Self::Close(close, _) => {
                let status = close.record.status;
                ("close", status, !matches!(status, CallStatus::Begun | CallStatus::Pending))
            }
            Self::Edit(edit, _) => {
                let status = edit.park.record.status;
                ("park", status, status == CallStatus::Pending)
            }
            Self::Decide(_)
            | Self::Run(_)
            | Self::Lease(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => return Ok(()),
        };
        if fits { Ok(()) } else { Err(StoreError::WrongStatus { change, status }) }
    }
}

fn has_effect(record: &CallRecord) -> bool {
    record.effect.is_some_and(toolroom::tool::Effect::writes)
}
