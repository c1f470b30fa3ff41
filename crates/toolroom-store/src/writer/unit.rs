//! One state change: committed whole or not at all.

use std::time::Duration;

use tokio::sync::oneshot;
use toolroom::ledger::{
    BeginCall, CallId, CallRecord, CallStatus, CloseCall, Decision, ParkCall, RateLimit, SwitchState,
};
use toolroom::scope::ProjectId;

use crate::StoreError;
use crate::prune::{Chunk, PruneReport};
use crate::switchboard::SwitchKind;

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Work {
    Begin(Box<BeginCall>),
    Park(Box<ParkCall>),
    Decide(Decision),
    Close(Box<CloseCall>),
    Switch(SwitchChange),
    Prune(Chunk),
}

/// A switch and what it becomes; `None` removes it.
#[derive(Debug, Clone)]
pub(crate) struct SwitchChange {
    pub(crate) project: ProjectId,
    pub(crate) kind: SwitchKind,
    pub(crate) name: String,
    pub(crate) state: Option<SwitchState>,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Written,
    Pruned(PruneReport),
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
    #[error("somebody else has to answer")]
    NotYours,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for StoreError {
    /// For work that has no refusals of its own.
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Store(error) => error,
            Refusal::RateLimited { .. } | Refusal::GrantSpent | Refusal::NotWaiting | Refusal::NotYours => {
                Self::Closed
            }
        }
    }
}

/// The answer to a piece of work.
pub(crate) type Answer = Result<Outcome, Refusal>;

/// Work and whoever waits for it.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) work: Work,
    pub(crate) answer: oneshot::Sender<Answer>,
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

impl Work {
    /// What this work needs: everything that accounts for an effect, promises one, or lets one happen.
    pub(crate) fn durability(&self) -> Durability {
        let must_sync = match self {
            Self::Begin(begin) => has_effect(&begin.record) || begin.grant.is_some(),
            Self::Close(close) => has_effect(&close.record) || !close.enqueue.is_empty(),
            Self::Park(_) | Self::Decide(_) | Self::Switch(_) => true,
            Self::Prune(_) => false,
        };
        if must_sync { Durability::Power } else { Durability::Process }
    }

    /// The calls whose rows it changes.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &CallId> {
        let (first, second) = match self {
            Self::Begin(begin) => (
                Some(&begin.record.id),
                begin.grant.as_ref().map(|grant| &grant.call).filter(|call| **call != begin.record.id),
            ),
            Self::Park(park) => (Some(&park.record.id), None),
            Self::Decide(decision) => (Some(&decision.call), None),
            Self::Close(close) => (Some(&close.record.id), None),
            Self::Switch(_) | Self::Prune(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Refuses a row whose status does not belong to the change.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let (change, status, fits) = match self {
            Self::Begin(begin) => ("begin", begin.record.status, begin.record.status == CallStatus::Begun),
            Self::Park(park) => ("park", park.record.status, park.record.status == CallStatus::Pending),
            Self::Close(close) => {
                let status = close.record.status;
                ("close", status, !matches!(status, CallStatus::Begun | CallStatus::Pending))
            }
            Self::Decide(_) | Self::Switch(_) | Self::Prune(_) => return Ok(()),
        };
        if fits { Ok(()) } else { Err(StoreError::WrongStatus { change, status }) }
    }
}

fn has_effect(record: &CallRecord) -> bool {
    record.effect.is_some_and(toolroom::tool::Effect::writes)
}
