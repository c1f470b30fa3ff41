//! Start times of calls of rate-limited tools.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::ledger::{BeginCall, BeginError, CallRecord, RateKey, RateLimit};
use crate::scope::Scope;

/// Separate from the calls, so that a dropped call still counts.
#[derive(Debug, Default)]
pub(super) struct Rates {
    starts: Vec<Start>,
}

/// A call that began.
#[derive(Debug)]
pub(super) struct Start {
    tool: Arc<str>,
    scope: Scope,
    at: Timestamp,
}

impl Rates {
    /// Whether all limits of a call leave room for it.
    pub(super) fn check(&self, begin: &BeginCall) -> Result<(), BeginError> {
        begin.rates.iter().try_for_each(|limit| self.hold(limit, &begin.record))
    }

    fn hold(&self, limit: &RateLimit, record: &CallRecord) -> Result<(), BeginError> {
        let now = record.begun_at.unwrap_or(record.asked_at);
        let window = limit.window(now);
        let counts = |start: &&Start| {
            start.tool == record.tool
                && start.scope.project == record.scope.project
                && (limit.key == RateKey::Project || start.scope.user == record.scope.user)
                && window.holds(start.at)
        };
        let begun: Vec<Timestamp> = self.starts.iter().filter(counts).map(|start| start.at).collect();
        let full = begun.len() >= usize::try_from(limit.max).unwrap_or(usize::MAX);
        match begun.iter().min() {
            Some(oldest) if full => Err(BeginError::RateLimited {
                limit: *limit,
                retry_after: oldest.after(limit.per).since(now).min(limit.per),
            }),
            None if full => Err(BeginError::RateLimited { limit: *limit, retry_after: limit.per }),
            _ => Ok(()),
        }
    }

    /// The start that has to be noted once the call has begun, if its tool has a rate. Forgets what no longer counts.
    pub(super) fn start(&mut self, begin: &BeginCall) -> Option<Start> {
        let longest = begin.rates.iter().map(|limit| limit.per).max()?;
        let record = &begin.record;
        let at = record.begun_at.unwrap_or(record.asked_at);
        self.starts.retain(|start| start.tool != record.tool || start.at > at.before(longest));
        Some(Start { tool: Arc::clone(&record.tool), scope: record.scope.clone(), at })
    }

    pub(super) fn note(&mut self, start: Option<Start>) {
        self.starts.extend(start);
    }
}
