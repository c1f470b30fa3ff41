//! Opening a connection: one attempt at a time, which continues when its first caller leaves.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use toolroom::foreign::ServerCondition;

use super::failures::{FAILURE_WINDOW, MAX_FAILURES, backoff, recent};
use super::record::storage_error;
use super::{LiveConnection, ServerConnection, Shared};
use crate::mcp::launch::StartedServer;
use crate::mcp::protocol::Era;
use crate::mcp::protocol::error::McpError;

/// A running attempt to connect, or to list the tools again.
pub(super) struct ConnectAttempt {
    pub(super) done: watch::Receiver<Option<Result<Arc<LiveConnection>, McpError>>>,
    pub(super) task: AbortHandle,
    /// When the server was first waited for. `None` during the back-off.
    pub(super) begun: Option<Instant>,
}

impl ServerConnection {
    /// The live connection with current tools; opened if there is none. Concurrent callers share one attempt, which runs to its
    /// end and is counted even if all of them leave.
    pub(crate) async fn open(self: &Arc<Self>) -> Result<Arc<LiveConnection>, McpError> {
        let mut done = {
            let mut state = self.state();
            if state.attempt.as_ref().is_none_or(|attempt| attempt.task.is_finished()) {
                let has_changed = self.notifications.have_tools_changed();
                if let Some(live) = state.live.as_ref().filter(|live| live.is_alive() && !has_changed) {
                    live.touch();
                    return Ok(Arc::clone(live));
                }
                let (sender, done) = watch::channel(None);
                let connection = Arc::clone(self);
                let task = tokio::spawn(async move {
                    let opened = connection.connect().await;
                    let mut state = connection.state();
                    state.live = opened.as_ref().ok().cloned();
                    state.attempt = None;
                    sender.send_replace(Some(opened));
                });
                state.attempt = Some(ConnectAttempt { done, task: task.abort_handle(), begun: None });
            }
            let Some(attempt) = &state.attempt else { return Err(McpError::StartAborted) };
            attempt.done.clone()
        };
        let opened = done.wait_for(Option::is_some).await;
        opened.ok().and_then(|opened| opened.clone()).unwrap_or(Err(McpError::StartAborted))
    }

    async fn connect(&self) -> Result<Arc<LiveConnection>, McpError> {
        let before = self.state().live.clone();
        if let Some(live) = before {
            let began = self.begin();
            let listed = match live.is_alive() {
                true => self.with_start_limit(self.list_tools(Arc::clone(&live.server))).await,
                false => Err(McpError::Exited { how: "it ended by itself".to_owned() }),
            };
            match listed {
                Ok(live) => return Ok(Arc::new(live)),
                Err(McpError::EntryChanged) => return Err(McpError::EntryChanged),
                Err(error) => self.note_failure(&error, began.elapsed()).await,
            }
            let mut state = self.state();
            state.live = None;
            // This failure is counted already.
            state.attempt.iter_mut().for_each(|attempt| attempt.begun = None);
        }
        let Shared { project, store, .. } = &*self.shared;
        let condition = store.condition(project, self.name()).await.map_err(storage_error)?;
        self.wait_for_backoff(&condition).await?;
        let era = condition.era.as_deref().and_then(Era::from_name);
        let began = self.begin();
        match self.with_start_limit(self.start(era)).await {
            Ok(live) => Ok(Arc::new(live)),
            Err(error) => {
                self.note_failure(&error, began.elapsed()).await;
                Err(error)
            }
        }
    }

    /// Notes the time at which waiting for the server begins.
    fn begin(&self) -> Instant {
        let now = Instant::now();
        self.state().attempt.iter_mut().for_each(|attempt| attempt.begun = Some(now));
        now
    }

    /// Handshake and list share one time limit.
    async fn with_start_limit(
        &self,
        work: impl Future<Output = Result<LiveConnection, McpError>>,
    ) -> Result<LiveConnection, McpError> {
        let after = self.shared.start_limit;
        timeout(after, work).await.unwrap_or(Err(McpError::StartTimeout { after }))
    }

    async fn start(&self, era: Option<Era>) -> Result<LiveConnection, McpError> {
        let Shared { project, launcher, .. } = &*self.shared;
        let handler = Arc::clone(&self.notifications) as _;
        let server = launcher.start(project, &self.record, era, handler).await?;
        self.list_tools(Arc::new(server)).await
    }

    /// Lists the tools of a running server and stores their definitions.
    async fn list_tools(&self, server: Arc<StartedServer>) -> Result<LiveConnection, McpError> {
        self.notifications.clear_tools_changed();
        let listing = self.usable(server.client.tools().await?).await;
        self.store_listing(&server.client, &listing).await?;
        let hashes = listing.tools.iter().map(|tool| (tool.name.clone(), tool.hash())).collect();
        Ok(LiveConnection::new(server, hashes))
    }

    /// Waits after failures, which all processes count together. Skipped if the user inspects the server.
    async fn wait_for_backoff(&self, condition: &ServerCondition) -> Result<(), McpError> {
        if self.skips_backoff {
            return Ok(());
        }
        if condition.is_given_up {
            let last = condition.failure.clone().unwrap_or_default();
            return Err(McpError::TooManyFailures { times: MAX_FAILURES, within: FAILURE_WINDOW, last });
        }
        let now = self.shared.clock.now();
        let wait: Duration = backoff(&recent(&condition.failures, now), now);
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
