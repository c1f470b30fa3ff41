//! What is kept of a server for people and other processes: its tools, how it failed, what it printed.

use std::time::Duration;

use toolroom::foreign::{Failure, ServerCondition, Transport};
use toolroom::ledger::LedgerError;

use super::failures::{is_too_often, lately};
use super::{Berth, Harbour};
use crate::mcp::catalog::definition::{Definition, Unusable};
use crate::mcp::catalog::lock;
use crate::mcp::catalog::tool::{check_schema, spec};
use crate::mcp::client::{Client, Listing};
use crate::mcp::protocol::error::McpError;

/// What is kept of the errors it printed.
const LOG_CHARS: usize = 16 * 1024;

/// Tools of a server that are named although they cannot be used.
const MAX_LEFT_OUT: usize = 100;

/// How often what a server offers is compared anew because somebody accepted something meanwhile.
const TRIES: usize = 3;

impl Berth {
    /// Leaves out what could not be a tool here, and what holds a secret of ours.
    pub(super) async fn usable(&self, listing: Listing) -> Listing {
        let mut usable = Listing { left_out: listing.left_out, tools: Vec::new() };
        for tool in listing.tools {
            match spec(self.name(), self.timeout(), &tool).and_then(|_| check_schema(&tool)) {
                Ok(_) => usable.tools.push(tool),
                Err(unusable) => usable.left_out.push(unusable),
            }
        }
        let texts = |tools: &[Definition]| tools.iter().flat_map(Definition::texts).collect::<Vec<_>>();
        if self.holds_secret(texts(&usable.tools)).await {
            for tool in std::mem::take(&mut usable.tools) {
                match self.holds_secret(tool.texts()).await {
                    true => usable.left_out.push(Unusable {
                        name: tool.name,
                        why: "its definition holds a secret, which nobody may see".to_owned(),
                    }),
                    false => usable.tools.push(tool),
                }
            }
        }
        usable
    }

    async fn holds_secret(&self, texts: Vec<String>) -> bool {
        let text = texts.join("\n");
        self.without_secrets(text.clone()).await != text
    }

    pub(super) async fn without_secrets(&self, text: String) -> String {
        self.harbour.launcher.safe.without_secrets(&self.harbour.project, text).await
    }

    /// Keeps what the server offers beside what was accepted, and how it was seen.
    pub(super) async fn keep(&self, client: &Client, listing: &Listing) -> Result<(), McpError> {
        self.keep_definitions(listing).await?;
        let (title, version) = client.server_name();
        let title = self.without_secrets(format!("{title} {version}").trim().to_owned()).await;
        let left_out = listing.left_out.iter().map(Unusable::to_string).take(MAX_LEFT_OUT);
        let left_out = self.without_secrets(left_out.collect::<Vec<_>>().join("\n")).await;
        let era = client.era().to_string();
        let is_kept = self.record(|seen| {
            seen.era = Some(era);
            seen.title = Some(title);
            seen.left_out = left_out.lines().map(str::to_owned).collect();
            seen.failure = None;
            seen.is_given_up = false;
            seen.has_listed = true;
        });
        match is_kept.await.map_err(unkept)? {
            true => Ok(()),
            false => Err(McpError::Replaced),
        }
    }

    /// Without it, a change would not be seen the next time.
    async fn keep_definitions(&self, listing: &Listing) -> Result<(), McpError> {
        let Harbour { project, kept, .. } = &*self.harbour;
        for _ in 0..TRIES {
            let known = kept.definitions(project, self.name()).await.map_err(unkept)?;
            let has_listed = kept.condition(project, self.name()).await.map_err(unkept)?.has_listed;
            let is_first = known.is_empty() && !has_listed;
            let changes = lock::changes(&known, &lock::compared(&known, &listing.tools, is_first));
            if changes.is_empty() {
                return Ok(());
            }
            let changed = kept.change_definitions(project, &self.record, &changes).await.map_err(unkept)?;
            // Otherwise somebody has accepted something meanwhile, or the server is another one by now.
            if changed == changes.len() as u64 {
                return Ok(());
            }
        }
        Err(McpError::Replaced)
    }

    /// Changes what was seen of the server, and keeps what it printed. Says whether it is still this one.
    async fn record(&self, change: impl FnOnce(&mut ServerCondition)) -> Result<bool, LedgerError> {
        let Harbour { project, kept, clock, .. } = &*self.harbour;
        let mut seen = kept.condition(project, self.name()).await?;
        if let Some(printed) = self.ear.printed_last(LOG_CHARS) {
            let log = self.without_secrets(printed).await;
            let skipped = log.chars().count().saturating_sub(LOG_CHARS);
            seen.log = log.chars().skip(skipped).collect();
        }
        seen.failures = lately(&seen.failures, clock.now());
        seen.seen_at = Some(clock.now());
        change(&mut seen);
        kept.set_condition(project, &self.record, &seen).await
    }

    /// Keeps that it failed, and what it printed; `waited` is how long it was waited for.
    pub(super) async fn note_failure(&self, error: &McpError, waited: Duration) {
        let failure = self.without_secrets(error.to_string()).await;
        let now = self.harbour.clock.now();
        let waited = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        // Servers that are somewhere else may come back by themselves.
        let is_program = matches!(self.record.transport, Transport::Stdio(_));
        let kept = self.record(|seen| {
            seen.failures.push(Failure { at: now, waited });
            seen.failures = lately(&seen.failures, now);
            seen.failure = Some(failure);
            seen.is_given_up = is_program && is_too_often(&seen.failures);
        });
        if let Err(error) = kept.await {
            tracing::warn!(%error, "how a server failed is not kept");
        }
    }

    /// Keeps what it has printed since the last time.
    pub(super) async fn note_printed(&self) {
        if !self.ear.has_printed() {
            return;
        }
        if let Err(error) = self.record(|_| {}).await {
            tracing::debug!(%error, "what a server printed is kept later");
        }
    }
}

pub(super) fn unkept(error: LedgerError) -> McpError {
    McpError::Unkept(error.into())
}
