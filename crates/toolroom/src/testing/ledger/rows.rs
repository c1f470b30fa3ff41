//! The tables, and how calls begin, close and are dropped.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::calls::Calls;
use super::questions::QuestionRow;
use super::rates::Rates;
use crate::clock::Timestamp;
use crate::ledger::{
    Action, Artifact, ArtifactId, BeginCall, BeginError, CallId, CallStatus, CloseCall, LedgerError,
    ParkedQuestion, QuestionState, Standing,
};
use crate::scope::ProjectId;

/// Calls that are kept. Bounds the memory of embedders without a database. Open calls are never dropped.
const KEPT_CALLS: usize = 1_000;

/// Bytes of artifacts that are kept.
const KEPT_ARTIFACT_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) calls: Calls,
    pub(super) questions: HashMap<CallId, QuestionRow>,
    pub(super) artifacts: HashMap<ArtifactId, Artifact>,
    artifact_bytes: usize,
    pub(super) actions: Vec<(CallId, Action)>,
    pub(super) standing: HashMap<ProjectId, Arc<Standing>>,
    /// When expired questions were last checked.
    pub(super) expired_at: Option<Timestamp>,
    rates: Rates,
}

impl Rows {
    pub(super) fn change(&mut self, project: &ProjectId, change: impl FnOnce(&mut Standing)) {
        let standing = Arc::make_mut(self.standing.entry(project.clone()).or_default());
        change(standing);
        standing.revision += 1;
    }

    pub(super) fn begin(&mut self, begin: BeginCall) -> Result<(), BeginError> {
        self.expire(begin.record.begun_at.unwrap_or(begin.record.asked_at));
        self.rates.check(&begin)?;
        let start = self.rates.start(&begin);
        if let Some(grant) = &begin.grant {
            self.check(grant, &begin.record.scope)?;
        }
        let resumes = begin.grant.as_ref().is_some_and(|grant| grant.call == begin.record.id);
        if resumes {
            self.calls.replace(begin.record);
        } else {
            self.calls.insert(begin.record).map_err(|known| already_recorded(&known))?;
        }
        if let Some(asked) = begin.grant.and_then(|grant| self.questions.get_mut(&grant.call)) {
            asked.state = QuestionState::Used;
        }
        self.rates.note(start);
        self.make_room();
        Ok(())
    }

    pub(super) fn close(&mut self, close: CloseCall) -> Result<(), LedgerError> {
        let call = close.record.id.clone();
        // A call that closes as expired must expire its question first.
        if close.question != ParkedQuestion::Expired {
            self.expire(close.record.ended_at.unwrap_or(close.record.asked_at));
        }
        self.settle(&close)?;
        self.calls.replace(close.record);
        for artifact in close.artifacts {
            self.artifact_bytes += artifact.bytes.len();
            let bytes = Bytes::copy_from_slice(&artifact.bytes);
            self.artifacts.insert(artifact.id.clone(), Artifact { bytes, ..artifact });
        }
        self.actions.extend(close.enqueue.into_iter().map(|action| (call.clone(), action)));
        self.make_room();
        Ok(())
    }

    pub(super) fn make_room(&mut self) {
        while self.calls.len() > KEPT_CALLS || self.artifact_bytes > KEPT_ARTIFACT_BYTES {
            let oldest = self
                .calls
                .oldest_first()
                .find(|call| !matches!(call.status, CallStatus::Begun | CallStatus::Pending))
                .map(|call| call.id.clone());
            match oldest {
                Some(id) => self.remove(&id),
                None => break,
            }
        }
    }

    /// Drops a call with everything that belongs to it.
    fn remove(&mut self, id: &CallId) {
        self.calls.remove(id);
        self.artifacts.retain(|_, artifact| artifact.call != *id);
        self.artifact_bytes = self.artifacts.values().map(|artifact| artifact.bytes.len()).sum();
        self.questions.remove(id);
        self.actions.retain(|(call, _)| call != id);
    }
}

pub(super) fn already_recorded(id: &CallId) -> LedgerError {
    LedgerError::new("change a call", format!("`{id}` has already been recorded"))
}
