//! Stores what the user and other processes need to know of a server: its tools, failures and log.

use std::time::Duration;

use toolroom::foreign::{Failure, ServerCondition, Transport};
use toolroom::ledger::LedgerError;

use super::failures::{is_too_often, recent};
use super::{ServerConnection, Shared};
use crate::mcp::catalog::definition::{Definition, UnusableTool};
use crate::mcp::catalog::lock;
use crate::mcp::catalog::tool::{check_schema, spec};
use crate::mcp::client::{Client, Listing};
use crate::mcp::protocol::error::McpError;

/// Stored characters of standard error.
const LOG_CHARS: usize = 16 * 1024;

/// Unusable tools whose names are stored.
const MAX_LEFT_OUT: usize = 100;

/// How often storing definitions is retried after a concurrent change.
const MAX_ATTEMPTS: usize = 3;

impl ServerConnection {
    /// Moves tools that cannot be registered, or that contain one of our secrets, to `left_out`.
    pub(super) async fn usable(&self, listing: Listing) -> Listing {
        let mut usable = Listing { left_out: listing.left_out, tools: Vec::new() };
        for tool in listing.tools {
            match spec(self.name(), self.timeout(), &tool).and_then(|_| check_schema(&tool)) {
                Ok(_) => usable.tools.push(tool),
                Err(unusable) => usable.left_out.push(unusable),
            }
        }
        let texts = |tools: &[Definition]| tools.iter().flat_map(Definition::texts).collect::<Vec<_>>();
        if self.contains_secret(texts(&usable.tools)).await {
            for tool in std::mem::take(&mut usable.tools) {
                match self.contains_secret(tool.texts()).await {
                    true => usable.left_out.push(UnusableTool {
                        name: tool.name,
                        why: "its definition contains a stored secret".to_owned(),
                    }),
                    false => usable.tools.push(tool),
                }
            }
        }
        usable
    }

    async fn contains_secret(&self, texts: Vec<String>) -> bool {
        let text = texts.join("\n");
        self.redact(text.clone()).await != text
    }

    pub(super) async fn redact(&self, text: String) -> String {
        self.shared.launcher.secrets.redact(&self.shared.project, text).await
    }

    /// Stores the offered definitions and the condition of the server.
    pub(super) async fn store_listing(&self, client: &Client, listing: &Listing) -> Result<(), McpError> {
        self.store_definitions(listing).await?;
        let (title, version) = client.server_name();
        let title = self.redact(format!("{title} {version}").trim().to_owned()).await;
        let left_out = listing.left_out.iter().map(UnusableTool::to_string).take(MAX_LEFT_OUT);
        let left_out = self.redact(left_out.collect::<Vec<_>>().join("\n")).await;
        let era = client.era().to_string();
        let is_stored = self.update_condition(|seen| {
            seen.era = Some(era);
            seen.title = Some(title);
            seen.left_out = left_out.lines().map(str::to_owned).collect();
            seen.failure = None;
            seen.is_given_up = false;
            seen.has_listed = true;
        });
        match is_stored.await.map_err(storage_error)? {
            true => Ok(()),
            false => Err(McpError::EntryChanged),
        }
    }

    /// Fails if definitions cannot be stored: a later change would go unnoticed.
    async fn store_definitions(&self, listing: &Listing) -> Result<(), McpError> {
        let Shared { project, store, .. } = &*self.shared;
        for _ in 0..MAX_ATTEMPTS {
            let known = store.definitions(project, self.name()).await.map_err(storage_error)?;
            let has_listed = store.condition(project, self.name()).await.map_err(storage_error)?.has_listed;
            let is_first = known.is_empty() && !has_listed;
            let changes = lock::changes(&known, &lock::compared(&known, &listing.tools, is_first));
            if changes.is_empty() {
                return Ok(());
            }
            let changed =
                store.change_definitions(project, &self.record, &changes).await.map_err(storage_error)?;
            // Fewer changes: the user accepted a definition concurrently, or the entry has changed.
            if changed == changes.len() as u64 {
                return Ok(());
            }
        }
        Err(McpError::EntryChanged)
    }

    /// Updates the condition and the log. Returns whether the server's entry is unchanged.
    async fn update_condition(&self, change: impl FnOnce(&mut ServerCondition)) -> Result<bool, LedgerError> {
        let Shared { project, store, clock, .. } = &*self.shared;
        let mut seen = store.condition(project, self.name()).await?;
        if let Some(stderr) = self.notifications.read_stderr(LOG_CHARS) {
            let log = self.redact(stderr).await;
            let skipped = log.chars().count().saturating_sub(LOG_CHARS);
            seen.log = log.chars().skip(skipped).collect();
        }
        seen.failures = recent(&seen.failures, clock.now());
        seen.seen_at = Some(clock.now());
        change(&mut seen);
        store.set_condition(project, &self.record, &seen).await
    }

    /// Stores a failure and the log. `waited` is how long the server was waited for.
    pub(super) async fn note_failure(&self, error: &McpError, waited: Duration) {
        let failure = self.redact(error.to_string()).await;
        let now = self.shared.clock.now();
        let waited = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        // Remote servers may recover by themselves and are never given up.
        let is_program = matches!(self.record.transport, Transport::Stdio(_));
        let stored = self.update_condition(|seen| {
            seen.failures.push(Failure { at: now, waited });
            seen.failures = recent(&seen.failures, now);
            seen.failure = Some(failure);
            seen.is_given_up = is_program && is_too_often(&seen.failures);
        });
        if let Err(error) = stored.await {
            tracing::warn!(%error, "cannot store the failure of an MCP server");
        }
    }

    /// Stores what the program has printed to standard error since the last time.
    pub(super) async fn store_log(&self) {
        if !self.notifications.has_unread_stderr() {
            return;
        }
        if let Err(error) = self.update_condition(|_| {}).await {
            tracing::debug!(%error, "cannot store the log of an MCP server yet");
        }
    }
}

pub(super) fn storage_error(error: LedgerError) -> McpError {
    McpError::Storage(error.into())
}
