//! One state change: committed whole or not at all.

use std::time::Duration;

use tokio::sync::oneshot;
use toolroom::conversation::{BeginRunError, ConversationId, Run, RunId, StepError, TakeRunError};
use toolroom::ledger::{
    BeginCall, CallId, CallRecord, CallStatus, CloseCall, DecideError, Decision, EditCall, ParkCall,
    ParkedQuestion, RateLimit,
};
use toolroom::memory::{Memory, Promotion};
use toolroom::provenance::TrackChange;

use super::promises::Promise;
use crate::StoreError;
use crate::artifact::Hashes;
use crate::background::ProgramChange;
use crate::conversation::{Hold, RunChange};
use crate::known_keys::KeyNames;
use crate::memory::MemoryChange;
use crate::prune::{CHUNK_BYTES, Chunk, Forgotten};
use crate::row::CallRow;
use crate::setting::Setting;

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Work {
    Begin(Box<BeginCall>),
    /// With the keys the process knows; none where nothing is sealed.
    Park(Box<ParkCall>, KeyNames),
    Decide(Box<Decision>),
    Edit(Box<EditCall>, KeyNames),
    /// With the hashes of its artifacts.
    Close(Box<CloseCall>, Hashes),
    Run(Box<RunChange>),
    Hold(Hold),
    Memory(Box<MemoryChange>),
    Track(Box<TrackChange>),
    Program(ProgramChange),
    Set(Setting),
    Prune(Chunk),
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Written,
    /// A setting, with the number of rows it changed.
    Changed(u64),
    Pruned(Forgotten),
    Taken(Box<Run>),
    Memory(Option<Memory>),
    /// A program, with its number.
    Numbered(u64),
    Promotion(Option<Box<Promotion>>),
}

/// Why nothing was written.
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

/// The answer to a piece of work.
pub(crate) type Answer = Result<Outcome, Refusal>;

/// Work and whoever waits for it.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) work: Work,
    pub(crate) haste: Haste,
    /// None once it is answered.
    pub(crate) answer: Option<oneshot::Sender<Answer>>,
}

/// Whether somebody waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    /// Somebody waits for the answer.
    Now,
    /// Nobody does: what comes after it says all there is to say.
    Soon,
    /// Nobody does: its row was promised.
    Promised(Promise),
}

/// How hard a commit has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Durability {
    /// Survives the death of the process.
    #[default]
    Process,
    /// Survives the loss of power.
    Power,
}

impl Durability {
    /// What SQLite calls it.
    pub(crate) const fn synchronous(self) -> &'static str {
        match self {
            Self::Process => "NORMAL",
            Self::Power => "FULL",
        }
    }
}

impl Work {
    /// What this work needs: everything that accounts for an effect, promises one, or lets one happen.
    pub(crate) fn durability(&self) -> Durability {
        let must_sync = match self {
            Self::Begin(begin) => has_effect(&begin.record) || begin.grant.is_some(),
            Self::Close(close, _) => {
                has_effect(&close.record)
                    || !close.enqueue.is_empty()
                    || close.question != ParkedQuestion::None
            }
            Self::Park(..) | Self::Decide(_) | Self::Edit(..) | Self::Memory(_) | Self::Set(_) => true,
            Self::Run(_) | Self::Hold(_) | Self::Track(_) | Self::Program(_) | Self::Prune(_) => false,
        };
        if must_sync { Durability::Power } else { Durability::Process }
    }

    /// Whether somebody has to wait until it is written. Nobody has to for a call that begins without a limit and changes
    /// nothing: its end says it all.
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

    /// The row of a call that is over and changed nothing, if that is all.
    pub(crate) fn promisable(&self) -> Option<CallRow<'_>> {
        let Self::Close(close, _) = self else { return None };
        let record = &close.record;
        let is_all = close.artifacts.is_empty() && record.offers.is_empty() && record.run.is_none();
        let can_be = is_all && self.durability() == Durability::Process;
        can_be.then_some(CallRow { record, instance: None })
    }

    /// Whether it may change what calls go by: switches, standing answers, projects, keys and secrets.
    pub(crate) fn changes_standing(&self) -> bool {
        match self {
            Self::Decide(decision) => decision.standing.is_some(),
            Self::Set(setting) => setting.is_standing(),
            Self::Begin(_)
            | Self::Park(..)
            | Self::Edit(..)
            | Self::Close(..)
            | Self::Run(_)
            | Self::Hold(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Prune(_) => false,
        }
    }

    /// The calls whose rows it changes; first the one whose row it makes or ends.
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
            | Self::Hold(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The row of a call it makes or ends.
    pub(crate) fn record(&self) -> Option<&CallRecord> {
        match self {
            Self::Begin(begin) => Some(&begin.record),
            Self::Park(park, _) => Some(&park.record),
            Self::Edit(edit, _) => Some(&edit.park.record),
            Self::Close(close, _) => Some(&close.record),
            Self::Decide(_)
            | Self::Run(_)
            | Self::Hold(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => None,
        }
    }

    /// The run, and the conversation, that it changes.
    pub(crate) fn thread(&self) -> (Option<&RunId>, Option<&ConversationId>) {
        match self {
            Self::Run(change) => (Some(&change.run.id), Some(&change.run.conversation)),
            Self::Hold(Hold::Take(_, run) | Hold::LetGo(run)) => (Some(run), None),
            Self::Hold(Hold::Delete(_, conversation)) => (None, Some(conversation)),
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

    /// What it takes in memory, or on the disk, while it is written, where that can be much.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Run(change) => change.bytes(),
            Self::Close(close, _) => close.artifacts.iter().map(|artifact| artifact.bytes.len()).sum(),
            Self::Prune(_) => usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX),
            _ => 0,
        }
    }

    /// The running call it ends. What is void or has expired never ran: if the call runs all the same, somebody
    /// has begun it meanwhile and goes on.
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
            | Self::Hold(_)
            | Self::Memory(_)
            | Self::Track(_)
            | Self::Program(_)
            | Self::Set(_)
            | Self::Prune(_) => None,
        }
    }

    /// Refuses a row whose status does not belong to the change.
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
            | Self::Hold(_)
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
